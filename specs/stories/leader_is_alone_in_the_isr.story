# A leader that is the only ISR member loses its session, and adds a follower before it is removed.
# Shows: neither a controller that sees it fail, nor the next one at its start, writes the ISR that it
# had read; and a deposed one does not come to read again.
system topics version 2.3 brokers 3 partitions 1

quietly broker_becomes_controller broker=3
quietly broker_learns_it_won broker=3
quietly controller_reads_context broker=3
quietly replica_state_machine_starts broker=3
quietly partition_state_machine_starts broker=3
quietly admin_creates_topic first=1 second=2 third=none count=1
quietly controller_sees_topic broker=3
quietly controller_creates_new_partitions broker=3
quietly controller_creates_new_replicas broker=3
quietly controller_brings_partitions_online broker=3
quietly controller_brings_new_replicas_online broker=3
quietly broker_obeys_leader_and_isr broker=1 controller=1
quietly broker_obeys_leader_and_isr broker=2 controller=1
quietly session_expires broker=2
quietly controller_sees_failure broker=3 failed=2
quietly controller_elects_for_failed broker=3
quietly controller_takes_replicas_offline broker=3
quietly broker_reconnects broker=2
quietly controller_sees_start broker=3 started=2
quietly controller_elects_for_started broker=3
quietly broker_obeys_leader_and_isr broker=1 controller=1
quietly broker_obeys_leader_and_isr broker=2 controller=1

# The ISR is {1}: nobody can be elected for broker 1, and its replica is to go offline.
quietly session_expires broker=1
quietly broker_reconnects broker=1
quietly controller_sees_failure broker=3 failed=1
quietly controller_elects_for_failed broker=3
leader_expands_isr_before_controller_writes leader=1 replica=2 partition=0 broker=3
refused controller_takes_replicas_offline broker=3
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=1
refused controller_write_conflicts broker=3
controller_write_is_fenced broker=3

# The next controller, while it starts: broker 1 is away again, for a moment.
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly replica_state_machine_starts broker=1
quietly partition_state_machine_starts broker=1
quietly controller_begins_controlled_shutdown broker=1 subject=2
quietly controller_moves_leaders broker=1
quietly controller_stops_followers broker=1
quietly session_expires broker=1
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly broker_reconnects broker=1
leader_expands_isr_before_controller_writes leader=1 replica=2 partition=0 broker=2
refused replica_state_machine_starts broker=2
controller_write_conflicts broker=2
replica_state_machine_starts broker=2
check state_writes_are_conditional
----
leader_expands_isr_before_controller_writes(leader=1, replica=2, partition=0, broker=3)
    zk[0].state.isr: {1} → {1,2}
    cache[3].outdated: false → true
refused controller_takes_replicas_offline(broker=3)
    the version that it read is current — false (cache[3].outdated true)
refused controller_write_conflicts(broker=3)
    the epoch that it won is the newest — false (belief[3] 1, zk.epoch 2)
controller_write_is_fenced(broker=3)
    belief[3]: 1 → 0
    cache[3].task: takes_offline → reads_zookeeper
    cache[3].live: {2,3} → {}
    cache[3].reached: {1,2,3} → {}
    cache[3].gone: 1 → none
    cache[3].returns: 1 → none
    cache[3].outdated: true → false
    cache[3][0][0].known: 1 → none
    cache[3][0][1].known: 2 → none
    cache[3][0].led: true → false
    cache[3][0].leader: 1 → none
    cache[3][0].partition: OfflinePartition → NonExistentPartition
    cache[3][0][1].replica: OnlineReplica → NonExistentReplica
    cache[3][0][2].replica: OnlineReplica → NonExistentReplica
leader_expands_isr_before_controller_writes(leader=1, replica=2, partition=0, broker=2)
    zk[0].state.isr: {1} → {1,2}
    cache[2].outdated: false → true
refused replica_state_machine_starts(broker=2)
    the version that it read is current — false (cache[2].outdated true)
controller_write_conflicts(broker=2)
    cache[2].outdated: true → false
replica_state_machine_starts(broker=2)
    zk[0].state.leader: 1 → none
    zk[0].state.isr: {1,2} → {2}
    zk[0].state.epoch: 2 → 3
    cache[2].task: starts_replicas → starts_partitions
    cache[2][0].leader: 1 → none
    cache[2][0][1].replica: ReplicaDeletionIneligible → OfflineReplica
    request[3][2][0].order: none → leaderless
state_writes_are_conditional: holds of every step
