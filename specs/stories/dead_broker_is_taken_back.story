# A leader adds a broker to the ISR that it knows to be dead.
# Shows: a process fetches on after its session is gone, and counts; the leader looks into its metadata
# cache since 3.3. (KAFKA-14140)
system cluster version 2.3 without isr_expansion_checks_liveness brokers 2 partitions 1 replicas 2 versions 2 epoch 2 controllers 1 queue 3 crashes 0 expiries 1 losses 0 shutdowns 0 requests 0 lingering 0

session_expires broker=2
broker_becomes_controller broker=1
broker_learns_it_won broker=1
controller_reads_context broker=1
broker_reconnects broker=2
controller_sends_initial_update_metadata broker=1
controller_starts_replica_state_machine broker=1
controller_reads_state broker=1 partition=0
controller_removes_replica broker=1 replica=2 partition=0
broker_updates_metadata broker=1 sender=1
older_epoch_is_refused broker=1 sender=1 partition=0
controller_sends_removal_batch broker=1
controller_sends_election_batch broker=1
quietly controller_finds_no_request broker=1
controller_sees_new_brokers broker=1
broker_updates_metadata broker=1 sender=1
controller_sends_update_metadata_for_new_brokers broker=1
broker_becomes_leader broker=1 sender=1 partition=0
controller_brings_replicas_online broker=1
broker_updates_metadata broker=2 sender=1
broker_becomes_follower broker=2 sender=1 partition=0
leader_expands_isr leader=1 replica=2 partition=0
check dead_brokers_do_not_join_the_isr
----
session_expires(broker=2)
    zk.registered: {1,2} → {1}
    spent.expiries: 0 → 1
broker_becomes_controller(broker=1)
    zk.controller: none → 1
    zk.epoch: 0 → 1
    campaign[1]: 0 → 1
broker_learns_it_won(broker=1)
    campaign[1]: 1 → 0
    belief[1]: 0 → 1
controller_reads_context(broker=1)
    cache[1].stage: starting → announcing
    cache[1].live: {} → {1}
    cache[1].reached: {} → {1}
    cache[1].watched: {} → {1}
broker_reconnects(broker=2)
    zk.registered: {1} → {1,2}
    cache[1].events: [] → [kind broker_change subject none]
controller_sends_initial_update_metadata(broker=1)
    cache[1].stage: announcing → restoring
    cache[1][1].queue: [] → [kind update_metadata about {} alive {1} endpoints {}]
controller_starts_replica_state_machine(broker=1)
    cache[1].stage: restoring → offlining
    cache[1][1].queue: [kind update_metadata about {} alive {1} endpoints {}] → [kind update_metadata about {} alive {1} endpoints {}, kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1} endpoints {}]
    partition[0][1].context.gone: {} → {2}
controller_reads_state(broker=1, partition=0)
    partition[0][1].context.read: none → 0
controller_removes_replica(broker=1, replica=2, partition=0)
    partition[0].version: 0 → 1
    partition[0][1].state.leader: none → 1
    partition[0][1].state.epoch: 0 → 1
    partition[0][1].state.isr: {} → {1}
    partition[0][1].state.controller: 0 → 1
    partition[0][1].context.version: 0 → 1
    partition[0][1].context.gone: {2} → {}
    partition[0][1].context.read: 0 → none
    partition[0][1].context.batched: false → true
broker_updates_metadata(broker=1, sender=1)
    cache[1][1].queue: [kind update_metadata about {} alive {1} endpoints {}, kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1} endpoints {}] → [kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1} endpoints {}]
    seen[1]: 0 → 1
    alive[1]: {1,2} → {1}
older_epoch_is_refused(broker=1, sender=1, partition=0)
    cache[1][1].queue: [kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1} endpoints {}] → [kind update_metadata about {0: 0} alive {1} endpoints {}]
controller_sends_removal_batch(broker=1)
    cache[1].stage: offlining → onlining
    cache[1][1].queue: [kind update_metadata about {0: 0} alive {1} endpoints {}] → [kind update_metadata about {0: 0} alive {1} endpoints {}, kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1} endpoints {}]
    partition[0][1].context.batched: true → false
controller_sends_election_batch(broker=1)
    cache[1].stage: onlining → looking
controller_sees_new_brokers(broker=1)
    cache[1].stage: idle → announcing_new
    cache[1].live: {1} → {1,2}
    cache[1].reached: {1} → {1,2}
    cache[1].watched: {1} → {1,2}
    cache[1].started: {} → {2}
    cache[1].events: [kind broker_change subject none] → []
broker_updates_metadata(broker=1, sender=1)
    cache[1][1].queue: [kind update_metadata about {0: 0} alive {1} endpoints {}, kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1} endpoints {}] → [kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1} endpoints {}]
controller_sends_update_metadata_for_new_brokers(broker=1)
    cache[1].stage: announcing_new → instating
    cache[1][1].queue: [kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1} endpoints {}] → [kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1} endpoints {}, kind update_metadata about {} alive {1,2} endpoints {}]
    cache[1][2].queue: [] → [kind update_metadata about {0: 1} alive {1,2} endpoints {}]
broker_becomes_leader(broker=1, sender=1, partition=0)
    cache[1][1].queue: [kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1} endpoints {}, kind update_metadata about {} alive {1,2} endpoints {}] → [kind update_metadata about {0: 1} alive {1} endpoints {}, kind update_metadata about {} alive {1,2} endpoints {}]
    partition[0][1].replica.version: 0 → 1
controller_brings_replicas_online(broker=1)
    cache[1].stage: instating → electing
    cache[1].started: {2} → {}
    cache[1][1].queue: [kind update_metadata about {0: 1} alive {1} endpoints {}, kind update_metadata about {} alive {1,2} endpoints {}] → [kind update_metadata about {0: 1} alive {1} endpoints {}, kind update_metadata about {} alive {1,2} endpoints {}, kind update_metadata about {0: 1} alive {1,2} endpoints {}]
    cache[1][2].queue: [kind update_metadata about {0: 1} alive {1,2} endpoints {}] → [kind update_metadata about {0: 1} alive {1,2} endpoints {}, kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1,2} endpoints {}]
broker_updates_metadata(broker=2, sender=1)
    cache[1][2].queue: [kind update_metadata about {0: 1} alive {1,2} endpoints {}, kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1,2} endpoints {}] → [kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1,2} endpoints {}]
    seen[2]: 0 → 1
    partition[0][2].known: 0 → 1
broker_becomes_follower(broker=2, sender=1, partition=0)
    cache[1][2].queue: [kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1,2} endpoints {}] → [kind update_metadata about {0: 1} alive {1,2} endpoints {}]
    partition[0][2].replica.version: 0 → 1
leader_expands_isr(leader=1, replica=2, partition=0)
    partition[0].version: 1 → 2
    partition[0][2].state.leader: none → 1
    partition[0][2].state.epoch: 0 → 1
    partition[0][2].state.isr: {} → {1,2}
    partition[0][2].state.controller: 0 → 1
    partition[0][1].replica.version: 1 → 2
    partition[0][1].replica.unreported: false → true
dead_brokers_do_not_join_the_isr: broken by step 22 — a leader adds no broker to the ISR that it knows to be dead
