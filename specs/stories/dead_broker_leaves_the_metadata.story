# Up to 0.11 a broker without a replica that dies leaves the metadata, while a partition has no leader.
# Shows: KafkaController.onBrokerFailure counted only partitions that a dead broker led. Where there is
# none, it sends UpdateMetadata. From 1.0 see dead_broker_stays_in_the_metadata.
system cluster version 0.11 brokers 3 replicas 1 crashes 2 expiries 2 queue 8
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
quietly broker_crashes broker=2
quietly session_expires broker=2
controller_sees_dead_brokers broker=3
quietly controller_reads_state broker=3 partition=0
quietly controller_finds_no_leader broker=3 partition=0
controller_sends_election_batch broker=3
quietly controller_sends_removal_batch broker=3
quietly controller_sends_update_metadata_for_dead_brokers broker=3
broker_updates_metadata broker=3 sender=3
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
    cache[3].stage: idle → retrying
    cache[3].live: {2,3} → {3}
    cache[3].reached: {2,3} → {3}
    cache[3].events: [kind broker_change subject none] → []
    cache[3][2].queue: [kind update_metadata about {0: 0} alive {1,2,3} endpoints {}, kind update_metadata about {0: 0} alive {1,2,3} endpoints {}, kind update_metadata about {0: 1} alive {2,3} endpoints {}] → []
    partition[0][3].context.due: false → true
controller_sends_election_batch(broker=3)
    cache[3].stage: retrying → removing_followers
broker_updates_metadata(broker=3, sender=3)
    cache[3][3].queue: [kind update_metadata about {0: 1} alive {3} endpoints {}] → []
    alive[3]: {2,3} → {3}
idle_metadata_agrees_with_zookeeper: holds
