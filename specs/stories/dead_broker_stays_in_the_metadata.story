# A broker without a replica dies while a partition has no leader, and nobody is sent the live brokers.
# Shows: KafkaController.onReplicasBecomeOffline sends UpdateMetadata only if no partition lacks a leader
# (1.0 to 2.8); where one does, it relies on the batches of the elections and of the ISR. Here no leader
# can be elected, and there is no replica to take offline, so both batches are empty. Clients are sent to
# a dead broker until the controller sends UpdateMetadata for another reason.
system cluster version 2.3 brokers 3 replicas 1 crashes 2 expiries 2

# Broker 3 is the controller. The only replica is on broker 1, which dies: the partition has no leader.
quietly broker_becomes_controller broker=3
quietly broker_learns_it_won broker=3
quietly controller_reads_context broker=3
quietly controller_sends_initial_update_metadata broker=3
quietly controller_starts_replica_state_machine broker=3
quietly controller_sends_election_batch broker=3
quietly controller_finds_no_request broker=3
quietly broker_updates_metadata broker=3 sender=3
quietly broker_updates_metadata broker=3 sender=3
quietly broker_crashes broker=1
quietly session_expires broker=1
quietly controller_sees_dead_brokers broker=3
quietly controller_reads_state broker=3 partition=0
quietly controller_finds_no_leader broker=3 partition=0
quietly controller_sends_election_batch broker=3
quietly controller_reads_state broker=3 partition=0
controller_removes_replica broker=3 replica=1 partition=0
quietly controller_sends_removal_batch broker=3
broker_updates_metadata broker=3 sender=3

# Broker 2 has no replica. It dies, and the controller tries an election for the partition of broker 1.
quietly broker_crashes broker=2
quietly session_expires broker=2
controller_sees_dead_brokers broker=3
quietly controller_reads_state broker=3 partition=0
quietly controller_finds_no_leader broker=3 partition=0
controller_sends_election_batch broker=3
check idle_metadata_agrees_with_zookeeper
----
controller_removes_replica(broker=3, replica=1, partition=0)
    partition[0].version: 0 → 1
    partition[0][1].state.epoch: 0 → 1
    partition[0][1].state.isr: {} → {1}
    partition[0][1].state.controller: 0 → 1
    partition[0][3].context.version: 0 → 1
    partition[0][3].context.gone: {1} → {}
    partition[0][3].context.read: 0 → none
    partition[0][3].context.batched: false → true
broker_updates_metadata(broker=3, sender=3)
    cache[3][3].queue: [kind update_metadata about {0: 1} alive {2,3} endpoints {}] → []
    alive[3]: {1,2,3} → {2,3}
    partition[0][3].known: 0 → 1
controller_sees_dead_brokers(broker=3)
    cache[3].stage: idle → electing
    cache[3].live: {2,3} → {3}
    cache[3].reached: {2,3} → {3}
    cache[3].events: [kind broker_change subject none] → []
    cache[3][2].queue: [kind update_metadata about {} alive {1,2,3} endpoints {}, kind update_metadata about {0: 0} alive {1,2,3} endpoints {}, kind update_metadata about {0: 1} alive {2,3} endpoints {}] → []
    partition[0][3].context.due: false → true
controller_sends_election_batch(broker=3)
    cache[3].stage: electing → idle
idle_metadata_agrees_with_zookeeper: broken — when nothing is under way, every live broker knows the live brokers and their endpoints, and of every partition the state that ZooKeeper has, and leads no partition of which another broker is the registered leader
    (alive[3] {2,3}, belief[3] 1, cache[3].events.end 0, cache[3].stage idle, up {3}, zk.controller 3, zk.epoch 1, zk.registered {3})
