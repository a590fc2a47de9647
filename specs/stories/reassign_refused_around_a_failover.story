# What is refused at each moment while a reassignment passes to another controller.
# Shows: what a deposed controller cannot do any more, and its requests; each line is refused for
# one reason alone.
system reassignment version 2.3 brokers 3

quietly topic_is_created first=1 second=none third=none
quietly admin_requests_reassignment first=2 second=none third=none
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly controller_begins_move broker=1
quietly controller_writes_union_of_replicas broker=1
quietly session_expires broker=1
refused session_expires broker=1
refused broker_starts broker=1
refused controller_bumps_epoch broker=1
refused controller_loses_response_to_epoch_bump broker=1
quietly broker_reconnects broker=1
quietly broker_becomes_controller broker=3
quietly broker_learns_it_won broker=3
quietly controller_reads_context broker=3
refused update_of_older_controller_is_refused broker=1 controller=1
quietly controller_begins_move broker=3
quietly controller_writes_union_of_replicas broker=3
quietly controller_bumps_epoch broker=3
refused broker_becomes_follower broker=2 epoch=1 controller=2
quietly older_epoch_is_refused broker=1 epoch=0 controller=2
refused older_controller_is_refused broker=1 epoch=0 controller=1
refused stop_of_older_controller_is_refused broker=1 controller=1
quietly broker_becomes_leader broker=1 epoch=1 controller=2
quietly broker_becomes_follower broker=2 epoch=0 controller=2
refused follower_catches_up leader=1 follower=2
refused leader_expands_isr leader=1 replica=2
refused leader_loses_response_to_isr_expand leader=1 replica=2
quietly broker_becomes_follower broker=2 epoch=1 controller=2
quietly leader_appends leader=1
quietly follower_catches_up leader=1 follower=2
quietly leader_expands_isr leader=1 replica=2
quietly controller_sees_targets_in_sync broker=3
quietly controller_sets_target_in_memory broker=3
refused controller_finds_no_target_to_lead broker=3
----
refused session_expires(broker=1)
    the broker is registered — false (zk.registered {2,3})
refused broker_starts(broker=1)
    the process does not run — false (up {1,2,3})
refused controller_bumps_epoch(broker=1)
    it has a ZooKeeper session — false (zk.registered {2,3})
refused controller_loses_response_to_epoch_bump(broker=1)
    it has a ZooKeeper session — false (zk.registered {2,3})
refused update_of_older_controller_is_refused(broker=1, controller=1)
    UpdateMetadata is in flight — false (update[1].to {})
refused broker_becomes_follower(broker=2, epoch=1, controller=2)
    it is the next of its connection — false (request[0][2].to {1,2})
refused older_controller_is_refused(broker=1, epoch=0, controller=1)
    the request is in flight — false (request[0][1].to {})
refused stop_of_older_controller_is_refused(broker=1, controller=1)
    StopReplica is in flight — false (stop[1][1].what none)
refused follower_catches_up(leader=1, follower=2)
    both are in the same epoch — false (replica[1].epoch 1, replica[2].epoch 0)
refused leader_expands_isr(leader=1, replica=2)
    both are in the same epoch — false (replica[1].epoch 1, replica[2].epoch 0)
refused leader_loses_response_to_isr_expand(leader=1, replica=2)
    both are in the same epoch — false (replica[1].epoch 1, replica[2].epoch 0)
refused controller_finds_no_target_to_lead(broker=3)
    no target is alive and in the ISR — false (cache[3].isr {1,2}, cache[3].live {1,2,3}, cache[3][2].target 0)

quietly controller_moves_leader_to_target broker=3 leader=2
refused controller_loses_response_to_epoch_bump broker=3
refused controller_keeps_leader broker=3
refused leader_shrink_is_refused leader=1 replica=2
refused leader_expand_is_refused leader=1 replica=2
quietly controller_node_is_deleted
refused broker_becomes_controller broker=3
quietly broker_becomes_controller broker=2
refused controller_takes_old_replica_offline broker=3 replica=1
refused controller_loses_response_to_isr_removal broker=3 replica=1
quietly broker_learns_it_won broker=2
refused controller_begins_with_targets_in_sync broker=2
quietly controller_write_is_fenced broker=3
quietly controller_reads_context broker=2
refused controller_begins_move broker=2
quietly controller_begins_with_targets_in_sync broker=2
quietly controller_sets_target_in_memory broker=2
refused controller_moves_leader_to_target broker=2 leader=2
refused controller_loses_response_to_leader_change broker=2 leader=2
quietly controller_keeps_leader broker=2
refused request_to_non_replica_is_refused broker=1 epoch=3 controller=3
quietly controller_takes_old_replica_offline broker=2 replica=1
refused broker_stops_replica broker=1 controller=3
quietly controller_deletes_old_replicas broker=2
refused broker_deletes_replica broker=1 controller=3
----
refused controller_loses_response_to_epoch_bump(broker=3)
    it is about to write the partition's state — false (cache[3].task leaving)
refused controller_keeps_leader(broker=3)
    the leader is to be a target — false (cache[3].task leaving)
refused leader_shrink_is_refused(leader=1, replica=2)
    it is not known to be caught up — false (replica[1].caught_up {2})
refused leader_expand_is_refused(leader=1, replica=2)
    the replica is not in the leader's ISR — false (replica[1].isr {1,2})
refused broker_becomes_controller(broker=3)
    it does not believe it is the controller — false (belief[3] 2)
refused controller_takes_old_replica_offline(broker=3, replica=1)
    the epoch that it won is the newest — false (belief[3] 2, zk.epoch 3)
refused controller_loses_response_to_isr_removal(broker=3, replica=1)
    the epoch that it won is the newest — false (belief[3] 2, zk.epoch 3)
refused controller_begins_with_targets_in_sync(broker=2)
    it waits for events, or has just begun — false (cache[2].task none)
refused controller_begins_move(broker=2)
    a target is not in the ISR — false (cache[2].task beginning)
refused controller_moves_leader_to_target(broker=2, leader=2)
    the leader is no target, or dead — false (cache[2].leader 2, cache[2].live {1,2,3}, cache[2][2].target 0)
refused controller_loses_response_to_leader_change(broker=2, leader=2)
    the leader is no target, or dead — false (cache[2].leader 2, cache[2].live {1,2,3}, cache[2][2].target 0)
refused request_to_non_replica_is_refused(broker=1, epoch=3, controller=3)
    it is the next of its connection — false (request[2][3].to {1,2})
refused broker_stops_replica(broker=1, controller=3)
    all earlier requests have arrived — false (request[2][3].to {1,2}, stop[3][1].epoch 4)
refused broker_deletes_replica(broker=1, controller=3)
    all earlier requests have arrived — false (request[2][3].to {1,2}, stop[3][1].epoch 4)
