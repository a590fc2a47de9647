# Two brokers depose each other at each write of a reassignment.
# Shows: each write of a deposed controller is fenced, and the next one begins again with what is there.
system reassignment version 2.3 brokers 2 replicas 1

quietly topic_is_created first=1 second=none third=none
quietly admin_requests_reassignment first=2 second=none third=none
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly controller_begins_move broker=1
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=2
refused controller_writes_union_of_replicas broker=1

# Broker 2 is deposed before it raises the leader epoch, and finds the fence before the conflict.
quietly controller_resigns broker=1
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly controller_begins_move broker=2
quietly controller_writes_union_of_replicas broker=2
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=1
refused controller_bumps_epoch broker=2
refused controller_loses_response_to_epoch_bump broker=2
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly controller_begins_move broker=1
quietly controller_writes_union_of_replicas broker=1
controller_bumps_epoch broker=1
refused controller_write_conflicts broker=2
quietly controller_resigns broker=2

# The target is in the ISR, and was to lead.
quietly older_epoch_is_refused broker=1 epoch=0 controller=3
quietly broker_becomes_leader broker=1 epoch=1 controller=3
quietly broker_becomes_follower broker=2 epoch=0 controller=3
quietly broker_becomes_follower broker=2 epoch=1 controller=3
quietly leader_expands_isr leader=1 replica=2
quietly controller_sees_targets_in_sync broker=1
quietly controller_sets_target_in_memory broker=1
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=2
refused controller_loses_response_to_leader_change broker=1 leader=2
refused controller_moves_leader_to_target broker=1 leader=2
quietly controller_resigns broker=1

# The target is dropped in the gap: nobody is there to lead, until it is back, and then too late.
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly controller_begins_with_targets_in_sync broker=2
quietly controller_sets_target_in_memory broker=2
quietly leader_appends leader=1
quietly leader_shrinks_isr leader=1 replica=2
quietly controller_write_conflicts broker=2
quietly follower_catches_up leader=1 follower=2
quietly leader_expands_isr leader=1 replica=2
refused controller_finds_no_target_to_lead broker=2
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=1
refused controller_finds_no_target_to_lead broker=2
quietly controller_resigns broker=2

# The last write of all.
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly controller_begins_with_targets_in_sync broker=1
quietly controller_sets_target_in_memory broker=1
quietly controller_moves_leader_to_target broker=1 leader=2
quietly controller_takes_old_replica_offline broker=1 replica=1
quietly controller_deletes_old_replicas broker=1
quietly controller_writes_target_replicas broker=1
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=2
refused controller_removes_request_entry broker=1
check deposed_controllers_write_nothing
----
refused controller_writes_union_of_replicas(broker=1)
    the epoch that it won is the newest — false (belief[1] 1, zk.epoch 2)
refused controller_bumps_epoch(broker=2)
    the epoch that it won is the newest — false (belief[2] 2, zk.epoch 3)
refused controller_loses_response_to_epoch_bump(broker=2)
    the epoch that it won is the newest — false (belief[2] 2, zk.epoch 3)
controller_bumps_epoch(broker=1)
    zk.leader_epoch: 0 → 1
    zk.version: 0 → 1
    cache[1].task: bumping → idle
    cache[1].version: 0 → 1
    cache[1].epoch: 0 → 1
    request[1][3].to: {} → {1,2}
    request[1][3].leader: none → 1
    request[1][3].isr: {} → {1}
    request[1][3].version: 0 → 1
    request[1][3].replicas: {} → {1,2}
refused controller_write_conflicts(broker=2)
    the epoch that it won is the newest — false (belief[2] 2, zk.epoch 3)
refused controller_loses_response_to_leader_change(broker=1, leader=2)
    the epoch that it won is the newest — false (belief[1] 3, zk.epoch 4)
refused controller_moves_leader_to_target(broker=1, leader=2)
    the epoch that it won is the newest — false (belief[1] 3, zk.epoch 4)
refused controller_finds_no_target_to_lead(broker=2)
    the leader is to be a target — false (cache[2].task leaving)
refused controller_finds_no_target_to_lead(broker=2)
    the leader is to be a target — false (cache[2].task leaving)
refused controller_removes_request_entry(broker=1)
    the epoch that it won is the newest — false (belief[1] 5, zk.epoch 6)
deposed_controllers_write_nothing: holds of every step
