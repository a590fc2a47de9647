# The leader changes the ISR between the controller's read and write, again and again.
# Shows: a conditional write that comes second is refused; the controller reads the state again and
# tries again, for a new leader epoch as for a new leader and for who leaves the ISR. Nothing is
# written until what was read is current.
system reassignment version 2.3 brokers 3

quietly topic_is_created first=1 second=2 third=none
quietly admin_requests_reassignment first=1 second=3 third=none
quietly broker_becomes_controller broker=3
quietly broker_learns_it_won broker=3
quietly controller_reads_context broker=3
refused controller_write_conflicts broker=3
quietly controller_begins_move broker=3
quietly controller_writes_union_of_replicas broker=3
refused controller_write_conflicts broker=3
quietly leader_appends leader=1
leader_shrinks_isr leader=1 replica=2
refused controller_bumps_epoch broker=3
controller_write_conflicts broker=3
refused controller_write_conflicts broker=3
controller_bumps_epoch broker=3
----
refused controller_write_conflicts(broker=3)
    it is about to write the partition's state — false (cache[3].task beginning)
refused controller_write_conflicts(broker=3)
    the version that it read is out of date — false (cache[3].version 0, zk.version 0)
leader_shrinks_isr(leader=1, replica=2)
    zk.isr: {1,2} → {1}
    zk.version: 0 → 1
    replica[1].isr: {1,2} → {1}
    replica[1].zk_version: 0 → 1
    committed: {} → {0}
refused controller_bumps_epoch(broker=3)
    the version that it read is current — false (cache[3].version 0, zk.version 1)
controller_write_conflicts(broker=3)
    cache[3].isr: {1,2} → {1}
    cache[3].version: 0 → 1
refused controller_write_conflicts(broker=3)
    the version that it read is out of date — false (cache[3].version 1, zk.version 1)
controller_bumps_epoch(broker=3)
    zk.leader_epoch: 0 → 1
    zk.version: 1 → 2
    cache[3].task: bumping → idle
    cache[3].version: 1 → 2
    cache[3].epoch: 0 → 1
    request[1][1].to: {} → {1,2,3}
    request[1][1].leader: none → 1
    request[1][1].isr: {} → {1}
    request[1][1].version: 0 → 2
    request[1][1].replicas: {} → {1,2,3}

quietly older_epoch_is_refused broker=1 epoch=0 controller=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly broker_becomes_follower broker=3 epoch=1 controller=1
quietly older_epoch_is_refused broker=2 epoch=0 controller=1
quietly broker_becomes_follower broker=2 epoch=1 controller=1
quietly follower_catches_up leader=1 follower=3
quietly leader_expands_isr leader=1 replica=3
quietly controller_sees_targets_in_sync broker=3
quietly controller_sets_target_in_memory broker=3
quietly follower_catches_up leader=1 follower=2
leader_expands_isr leader=1 replica=2
refused controller_keeps_leader broker=3
controller_write_conflicts broker=3
controller_keeps_leader broker=3
----
leader_expands_isr(leader=1, replica=2)
    zk.isr: {1,3} → {1,2,3}
    zk.version: 3 → 4
    replica[1].isr: {1,3} → {1,2,3}
    replica[1].zk_version: 3 → 4
refused controller_keeps_leader(broker=3)
    the version that it read is current — false (cache[3].version 3, zk.version 4)
controller_write_conflicts(broker=3)
    cache[3].isr: {1,3} → {1,2,3}
    cache[3].version: 3 → 4
controller_keeps_leader(broker=3)
    zk.leader_epoch: 1 → 2
    zk.version: 4 → 5
    cache[3].task: leading → leaving
    cache[3].version: 4 → 5
    cache[3].epoch: 1 → 2
    request[2][1].to: {} → {1,2,3}
    request[2][1].leader: none → 1
    request[2][1].isr: {} → {1,2,3}
    request[2][1].version: 0 → 5
    request[2][1].replicas: {} → {1,3}

quietly broker_becomes_leader broker=1 epoch=2 controller=1
quietly leader_appends leader=1
leader_shrinks_isr leader=1 replica=2
refused controller_takes_old_replica_offline broker=3 replica=2
refused controller_write_conflicts broker=3
controller_skips_old_replica_outside_isr broker=3 replica=2
check isr_holds_committed
----
leader_shrinks_isr(leader=1, replica=2)
    zk.isr: {1,2,3} → {1,3}
    zk.version: 5 → 6
    replica[1].isr: {1,2,3} → {1,3}
    replica[1].zk_version: 5 → 6
refused controller_takes_old_replica_offline(broker=3, replica=2)
    the version that it read is current — false (cache[3].version 5, zk.version 6)
refused controller_write_conflicts(broker=3)
    it is about to write the partition's state — false (cache[3].task leaving)
controller_skips_old_replica_outside_isr(broker=3, replica=2)
    cache[3].isr: {1,2,3} → {1,3}
    cache[3].version: 5 → 6
    cache[3].leaving: {2} → {}
    stop[1][2].what: none → stop
    stop[1][2].epoch: 0 → 2
isr_holds_committed: holds
