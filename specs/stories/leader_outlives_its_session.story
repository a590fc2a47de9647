# A leader's session ends, its process keeps running, and it writes in its next session.
# Shows: the controller is looking after what it takes for a failure, or after a deletion, and reads
# the state again before it writes it.
system topics version 2.3 brokers 4 partitions 1

quietly broker_becomes_controller broker=4
quietly broker_learns_it_won broker=4
quietly admin_creates_topic first=1 second=2 third=3 count=1
quietly controller_reads_context broker=4
quietly replica_state_machine_starts broker=4
quietly partition_state_machine_starts broker=4
quietly broker_obeys_leader_and_isr broker=1 controller=1
quietly broker_obeys_leader_and_isr broker=2 controller=1
quietly broker_obeys_leader_and_isr broker=3 controller=1

# A new controller finds broker 2 away, and takes it out of the ISR: the leader takes it in again.
quietly session_expires broker=2
quietly controller_node_is_deleted
quietly controller_resigns broker=4
quietly broker_becomes_controller broker=4
quietly broker_learns_it_won broker=4
quietly controller_reads_context broker=4
quietly replica_state_machine_starts broker=4
quietly partition_state_machine_starts broker=4
quietly session_expires broker=1
quietly broker_reconnects broker=1
quietly controller_sees_failure broker=4 failed=1
leader_expands_isr_before_controller_writes leader=1 replica=2 partition=0 broker=4
refused controller_elects_for_failed broker=4
controller_write_conflicts broker=4
controller_elects_for_failed broker=4
check state_writes_are_conditional
----
leader_expands_isr_before_controller_writes(leader=1, replica=2, partition=0, broker=4)
    zk[0].state.isr: {1,3} → {1,2,3}
    cache[4].outdated: false → true
refused controller_elects_for_failed(broker=4)
    the version that it read is current — false (cache[4].outdated true)
controller_write_conflicts(broker=4)
    cache[4].outdated: true → false
controller_elects_for_failed(broker=4)
    zk[0].state.leader: 1 → 3
    zk[0].state.isr: {1,2,3} → {3}
    cache[4].task: elects_for_failed → takes_offline
    cache[4][0].leader: 1 → 3
    cache[4][0].partition: OfflinePartition → OnlinePartition
    request[2][3][0].order: follow → lead
state_writes_are_conditional: holds of every step
