# A new controller sends LeaderAndIsr first, and a started broker knows no live leader.
# Shows: a broker follows nobody whom it does not know to be alive, and nobody tells it again;
# UpdateMetadata goes first since 0.10.2. (KAFKA-4443)
system cluster version 2.3 without update_metadata_first brokers 2 partitions 1 replicas 2 versions 2 epoch 2 controllers 1 queue 3 crashes 1 expiries 1 losses 0 shutdowns 0 requests 0 lingering 0

broker_crashes broker=2
session_expires broker=2
broker_starts broker=2
broker_becomes_controller broker=1
broker_learns_it_won broker=1
controller_reads_context broker=1
controller_starts_replica_state_machine broker=1
controller_sends_election_batch broker=1
older_epoch_is_refused broker=1 sender=1 partition=0
broker_updates_metadata broker=1 sender=1
broker_finds_leader_not_in_metadata_cache broker=2 sender=1 partition=0
broker_updates_metadata broker=2 sender=1
controller_finds_no_request broker=1
controller_sends_initial_update_metadata broker=1
broker_updates_metadata broker=1 sender=1
broker_updates_metadata broker=2 sender=1
check idle_partitions_have_leaders
----
broker_crashes(broker=2)
    up: {1,2} → {1}
    alive[2]: {1,2} → {}
    partition[0][2].replica.version: 0 → none
    partition[0][2].replica.fetching: true → false
    partition[0][2].known: 0 → none
    spent.crashes: 0 → 1
session_expires(broker=2)
    zk.registered: {1,2} → {1}
    spent.expiries: 0 → 1
broker_starts(broker=2)
    zk.registered: {1} → {1,2}
    up: {1} → {1,2}
broker_becomes_controller(broker=1)
    zk.controller: none → 1
    zk.epoch: 0 → 1
    campaign[1]: 0 → 1
broker_learns_it_won(broker=1)
    campaign[1]: 1 → 0
    belief[1]: 0 → 1
controller_reads_context(broker=1)
    cache[1].stage: starting → restoring
    cache[1].live: {} → {1,2}
    cache[1].reached: {} → {1,2}
    cache[1].watched: {} → {1,2}
controller_starts_replica_state_machine(broker=1)
    cache[1].stage: restoring → onlining
    cache[1][1].queue: [] → [kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1,2} endpoints {}]
    cache[1][2].queue: [] → [kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1,2} endpoints {}]
controller_sends_election_batch(broker=1)
    cache[1].stage: onlining → looking
older_epoch_is_refused(broker=1, sender=1, partition=0)
    cache[1][1].queue: [kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1,2} endpoints {}] → [kind update_metadata about {0: 0} alive {1,2} endpoints {}]
    seen[1]: 0 → 1
broker_updates_metadata(broker=1, sender=1)
    cache[1][1].queue: [kind update_metadata about {0: 0} alive {1,2} endpoints {}] → []
broker_finds_leader_not_in_metadata_cache(broker=2, sender=1, partition=0)
    cache[1][2].queue: [kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1,2} endpoints {}] → [kind update_metadata about {0: 0} alive {1,2} endpoints {}]
    seen[2]: 0 → 1
broker_updates_metadata(broker=2, sender=1)
    cache[1][2].queue: [kind update_metadata about {0: 0} alive {1,2} endpoints {}] → []
    alive[2]: {} → {1,2}
    partition[0][2].known: none → 0
controller_finds_no_request(broker=1)
    cache[1].stage: looking → announcing
controller_sends_initial_update_metadata(broker=1)
    cache[1].stage: announcing → idle
    cache[1][1].queue: [] → [kind update_metadata about {} alive {1,2} endpoints {}]
    cache[1][2].queue: [] → [kind update_metadata about {} alive {1,2} endpoints {}]
broker_updates_metadata(broker=1, sender=1)
    cache[1][1].queue: [kind update_metadata about {} alive {1,2} endpoints {}] → []
broker_updates_metadata(broker=2, sender=1)
    cache[1][2].queue: [kind update_metadata about {} alive {1,2} endpoints {}] → []
idle_partitions_have_leaders: broken — when nothing is under way, a partition with a live ISR member has a live leader in the registered epoch, which knows the registered ISR, and every other live replica fetches from it, except brokers that have requested a controlled shutdown
    (belief[1] 1, cache[1].events.end 0, cache[1].stage idle, leaving[1] stays, partition[0].failed {}, partition[0].version 0, partition[0][0].state.isr {1,2}, partition[0][0].state.leader 1, up {1,2}, zk.controller 1, zk.epoch 1, zk.registered {1,2})
