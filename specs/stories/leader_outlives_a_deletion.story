# A deletion is retried, and the leader, which the controller takes for dead, writes first.
# Shows: a leader that is not notified of the deletion goes on, and what it takes into the ISR is taken
# out again when the deletion goes on.
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

# Broker 2 is away when the next controller finds the request: the topic is ineligible. Then the
# session of the leader ends, whose process goes on.
quietly session_expires broker=2
quietly admin_deletes_topic
quietly controller_node_is_deleted
quietly controller_resigns broker=4
quietly broker_becomes_controller broker=4
quietly broker_learns_it_won broker=4
quietly controller_reads_context broker=4
quietly replica_state_machine_starts broker=4
quietly partition_state_machine_starts broker=4
quietly deletion_waits broker=4
quietly session_expires broker=1
quietly controller_sees_failure broker=4 failed=1
quietly deletion_waits broker=4

# Broker 2 is back, and the deletion begins; before they hear of it brokers 2 and 3 are away again.
quietly broker_reconnects broker=2
quietly controller_sees_start broker=4 started=2
quietly deletion_starts broker=4
controller_stops_replicas broker=4
quietly controller_deletes_replicas broker=4
quietly session_expires broker=2
quietly controller_sees_failure broker=4 failed=2
quietly deletion_waits broker=4
quietly session_expires broker=3
quietly controller_sees_failure broker=4 failed=3

# The leader has a session again, and takes in first one and then the other.
quietly broker_reconnects broker=1
leader_expands_isr leader=1 replica=2 partition=0
leader_expands_isr_before_controller_writes leader=1 replica=3 partition=0 broker=4
refused deletion_is_retried broker=4
controller_write_conflicts broker=4
deletion_is_retried broker=4
check state_writes_are_conditional
----
controller_stops_replicas(broker=4)
    zk[0].state.isr: {1,3} → {1}
    cache[4].task: stops → deletes
    cache[4][0][2].replica: OnlineReplica → OfflineReplica
    cache[4][0][3].replica: OnlineReplica → OfflineReplica
    request[2][2][0].stop: none → stop
    request[2][3][0].stop: none → stop
leader_expands_isr(leader=1, replica=2, partition=0)
    zk[0].state.isr: {1} → {1,2}
leader_expands_isr_before_controller_writes(leader=1, replica=3, partition=0, broker=4)
    zk[0].state.isr: {1,2} → {1,2,3}
    cache[4].outdated: false → true
refused deletion_is_retried(broker=4)
    the version that it read is current — false (cache[4].outdated true)
controller_write_conflicts(broker=4)
    cache[4].outdated: true → false
deletion_is_retried(broker=4)
    zk[0].state.isr: {1,2,3} → {1}
    cache[4][0][2].replica: ReplicaDeletionIneligible → OfflineReplica
    cache[4][0][3].replica: ReplicaDeletionIneligible → OfflineReplica
state_writes_are_conditional: holds of every step
