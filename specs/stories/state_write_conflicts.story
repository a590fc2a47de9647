# The controller's write conflicts with a write of the leader, and is retried.
# Shows: a state is read, and written if it is as it was read; after a conflict it is read again,
# and here there is nothing left to write. (PartitionStateMachine, ReplicaStateMachine, 2.3)
system cluster version 2.3 brokers 2 partitions 1 replicas 2

quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly controller_sends_initial_update_metadata broker=1
quietly controller_starts_replica_state_machine broker=1
quietly controller_sends_election_batch broker=1

# Broker 2, a follower, dies; the controller notices, and so does the leader.
quietly broker_crashes broker=2
quietly session_expires broker=2
quietly controller_finds_no_request broker=1
quietly controller_sees_dead_brokers broker=1
controller_reads_state broker=1 partition=0
leader_shrinks_isr leader=1 replica=2 partition=0
refused controller_removes_replica broker=1 replica=2 partition=0
----
controller_reads_state(broker=1, partition=0)
    partition[0][1].context.read: none → 0
leader_shrinks_isr(leader=1, replica=2, partition=0)
    partition[0].version: 0 → 1
    partition[0][1].state.leader: none → 1
    partition[0][1].state.isr: {} → {1}
    partition[0][1].replica.version: 0 → 1
    partition[0][1].replica.unreported: false → true
refused controller_removes_replica(broker=1, replica=2, partition=0)
    the state is as it was read — false (partition[0].version 1, partition[0][1].context.read 0)

controller_write_conflicts broker=1 partition=0
controller_reads_state broker=1 partition=0
refused controller_removes_replica broker=1 replica=2 partition=0
controller_finds_replica_not_in_isr broker=1 replica=2 partition=0
check leader_epoch_never_falls
check isr_holds_committed
----
controller_write_conflicts(broker=1, partition=0)
    partition[0][1].context.read: 0 → none
controller_reads_state(broker=1, partition=0)
    partition[0][1].context.read: none → 1
refused controller_removes_replica(broker=1, replica=2, partition=0)
    the replica is in the ISR — false (partition[0][1].state.isr {1})
controller_finds_replica_not_in_isr(broker=1, replica=2, partition=0)
    partition[0][1].context.version: 0 → 1
    partition[0][1].context.gone: {2} → {}
    partition[0][1].context.read: 1 → none
    partition[0][1].context.batched: false → true
leader_epoch_never_falls: holds of every step
isr_holds_committed: holds
