# The controller checks the ISR once, and deletes the last copy of a committed record.
# Shows: a limit of the twelve steps. A target that the leader drops after step 4 is not looked at
# again: step 7 finds nobody to lead and goes on, step 8 keeps the old replica as the last of the
# ISR, and step 9 deletes it. So copies are kept only if no target slips between steps 4 and 9.
system reassignment version 2.3 brokers 3

quietly topic_is_created first=1 second=none third=none
quietly admin_requests_reassignment first=2 second=none third=none
quietly broker_becomes_controller broker=3
quietly broker_learns_it_won broker=3
quietly controller_reads_context broker=3
quietly controller_begins_move broker=3
quietly controller_writes_union_of_replicas broker=3
quietly controller_bumps_epoch broker=3
quietly older_epoch_is_refused broker=1 epoch=0 controller=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly broker_becomes_follower broker=2 epoch=1 controller=1
quietly follower_catches_up leader=1 follower=2
leader_expands_isr leader=1 replica=2
controller_sees_targets_in_sync broker=3
----
leader_expands_isr(leader=1, replica=2)
    zk.isr: {1} → {1,2}
    zk.version: 1 → 2
    replica[1].isr: {1} → {1,2}
    replica[1].zk_version: 1 → 2
controller_sees_targets_in_sync(broker=3)
    cache[3].task: idle → adopting
    cache[3].isr: {1} → {1,2}
    cache[3].version: 1 → 2

# The controller pauses here. A record comes, broker 2 is slow, and the leader drops it and commits.
quietly leader_appends leader=1
leader_shrinks_isr leader=1 replica=2
show committed
----
leader_shrinks_isr(leader=1, replica=2)
    zk.isr: {1,2} → {1}
    zk.version: 2 → 3
    replica[1].isr: {1,2} → {1}
    replica[1].zk_version: 2 → 3
    committed: {} → {0}
committed: {0}

# The controller goes on.
quietly controller_sets_target_in_memory broker=3
refused controller_moves_leader_to_target broker=3 leader=2
controller_write_conflicts broker=3
controller_takes_old_replica_offline broker=3 replica=1
quietly controller_deletes_old_replicas broker=3
----
refused controller_moves_leader_to_target(broker=3, leader=2)
    the version that it read is current — false (cache[3].version 2, zk.version 3)
controller_write_conflicts(broker=3)
    cache[3].task: leading → leaving
    cache[3].isr: {1,2} → {1}
    cache[3].version: 2 → 3
controller_takes_old_replica_offline(broker=3, replica=1)
    zk.leader: 1 → none
    zk.leader_epoch: 1 → 2
    zk.version: 3 → 4
    cache[3].leader: 1 → none
    cache[3].version: 3 → 4
    cache[3].epoch: 1 → 2
    cache[3].leaving: {1} → {}
    request[2][1].to: {} → {2}
    request[2][1].isr: {} → {1}
    request[2][1].version: 0 → 4
    request[2][1].replicas: {} → {2}
    stop[1][1].what: none → stop
    stop[1][1].epoch: 0 → 2
    metadata[1].leader: 1 → none
    metadata[2].leader: 1 → none
    metadata[3].leader: 1 → none

broker_deletes_replica broker=1 controller=1
show zk.isr
show zk.leader
show log
check the_last_copy_is_deleted
----
broker_deletes_replica(broker=1, controller=1)
    stop[1][1].what: delete → none
    stop[1][1].epoch: 2 → 0
    replica[1].role: leader → none
    replica[1].leader: 1 → none
    replica[1].epoch: 1 → none
    replica[1].isr: {1} → {}
    replica[1].zk_version: 3 → 0
    replica[1].replicas: {1,2} → {}
    log[1]: {0} → {}
zk.isr: {1}
zk.leader: none
log[1]: {}
log[2]: {}
log[3]: {}
the_last_copy_is_deleted: so it is — the last copy of a committed record is deleted by a move, in the gap
