# The responses to a controller's writes are lost: it takes its own writes for another's.
# Shows: it reads again, and raises the epoch twice, elects the same leader once more, and finds the
# replica gone.
system reassignment version 2.3 brokers 2 replicas 1

quietly topic_is_created first=1 second=none third=none
quietly admin_requests_reassignment first=2 second=none third=none
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly controller_begins_move broker=1
quietly controller_writes_union_of_replicas broker=1
controller_loses_response_to_epoch_bump broker=1
controller_write_conflicts broker=1
controller_bumps_epoch broker=1
quietly older_epoch_is_refused broker=1 epoch=0 controller=1
quietly broker_becomes_leader broker=1 epoch=2 controller=1
quietly broker_becomes_follower broker=2 epoch=2 controller=1
quietly leader_expands_isr leader=1 replica=2
quietly controller_sees_targets_in_sync broker=1
quietly controller_sets_target_in_memory broker=1
controller_loses_response_to_leader_change broker=1 leader=2
controller_write_conflicts broker=1
controller_moves_leader_to_target broker=1 leader=2
controller_loses_response_to_isr_removal broker=1 replica=1
controller_skips_old_replica_outside_isr broker=1 replica=1

# Broker 1 takes itself for the leader still; then both hear of the next controller first.
quietly leader_appends leader=1
leader_shrink_is_refused leader=1 replica=2
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly broker_becomes_follower broker=1 epoch=5 controller=2
quietly broker_becomes_leader broker=2 epoch=5 controller=2
older_controller_is_refused broker=2 epoch=4 controller=1
check one_replica_set_has_all_commits
check leader_in_isr
----
controller_loses_response_to_epoch_bump(broker=1)
    zk.leader_epoch: 0 → 1
    zk.version: 0 → 1
controller_write_conflicts(broker=1)
    cache[1].version: 0 → 1
controller_bumps_epoch(broker=1)
    zk.leader_epoch: 1 → 2
    zk.version: 1 → 2
    cache[1].task: bumping → idle
    cache[1].version: 1 → 2
    cache[1].epoch: 0 → 2
    request[2][1].to: {} → {1,2}
    request[2][1].leader: none → 1
    request[2][1].isr: {} → {1}
    request[2][1].version: 0 → 2
    request[2][1].replicas: {} → {1,2}
controller_loses_response_to_leader_change(broker=1, leader=2)
    zk.leader: 1 → 2
    zk.leader_epoch: 2 → 3
    zk.version: 3 → 4
controller_write_conflicts(broker=1)
    cache[1].version: 3 → 4
controller_moves_leader_to_target(broker=1, leader=2)
    zk.leader_epoch: 3 → 4
    zk.version: 4 → 5
    cache[1].task: leading → leaving
    cache[1].leader: 1 → 2
    cache[1].version: 4 → 5
    cache[1].epoch: 2 → 4
    request[4][1].to: {} → {2}
    request[4][1].leader: none → 2
    request[4][1].isr: {} → {1,2}
    request[4][1].version: 0 → 5
    request[4][1].replicas: {} → {2}
    metadata[1].leader: 1 → 2
    metadata[2].leader: 1 → 2
controller_loses_response_to_isr_removal(broker=1, replica=1)
    zk.leader_epoch: 4 → 5
    zk.isr: {1,2} → {2}
    zk.version: 5 → 6
controller_skips_old_replica_outside_isr(broker=1, replica=1)
    cache[1].isr: {1,2} → {2}
    cache[1].version: 5 → 6
    cache[1].epoch: 4 → 5
    cache[1].leaving: {1} → {}
    request[5][1].to: {} → {2}
    request[5][1].leader: none → 2
    request[5][1].isr: {} → {2}
    request[5][1].version: 0 → 6
    request[5][1].replicas: {} → {2}
    stop[1][1].what: none → stop
    stop[1][1].epoch: 0 → 5
leader_shrink_is_refused(leader=1, replica=2)
    nothing changes
older_controller_is_refused(broker=2, epoch=4, controller=1)
    request[4][1].to: {2} → {}
    request[4][1].leader: 2 → none
    request[4][1].isr: {1,2} → {}
    request[4][1].version: 5 → 0
    request[4][1].replicas: {2} → {}
one_replica_set_has_all_commits: holds
leader_in_isr: holds
