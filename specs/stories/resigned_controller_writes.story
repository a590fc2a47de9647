# A controller resigns, and its thread still handles the queued events.
# Shows: its write passes the fence as long as nobody else was elected; the queue is dropped since
# 0.10.2. (KAFKA-4447)
system cluster version 2.3 without events_dropped brokers 2 partitions 1 replicas 2 versions 2 epoch 2 controllers 2 queue 3 events 3 crashes 0 expiries 2 losses 0 shutdowns 0 requests 0 lingering 0

broker_becomes_controller broker=1
broker_learns_it_won broker=1
controller_node_is_deleted
controller_reads_context broker=1
session_expires broker=2
controller_sends_initial_update_metadata broker=1
controller_starts_replica_state_machine broker=1
controller_sends_election_batch broker=1
quietly controller_finds_no_request broker=1
controller_resigns_and_keeps_its_queue broker=1
controller_sees_dead_brokers broker=1
controller_reads_state broker=1 partition=0
controller_removes_replica broker=1 replica=2 partition=0
check resigned_controllers_write_nothing
----
broker_becomes_controller(broker=1)
    zk.controller: none → 1
    zk.epoch: 0 → 1
    campaign[1]: 0 → 1
broker_learns_it_won(broker=1)
    campaign[1]: 1 → 0
    belief[1]: 0 → 1
controller_node_is_deleted()
    zk.controller: 1 → none
    cache[1].events: [] → [kind controller_change subject none]
    spent.expiries: 0 → 1
controller_reads_context(broker=1)
    cache[1].stage: starting → announcing
    cache[1].live: {} → {1,2}
    cache[1].reached: {} → {1,2}
    cache[1].watched: {} → {1,2}
session_expires(broker=2)
    zk.registered: {1,2} → {1}
    cache[1].watched: {1,2} → {1}
    cache[1].events: [kind controller_change subject none] → [kind controller_change subject none, kind broker_change subject none]
    spent.expiries: 1 → 2
controller_sends_initial_update_metadata(broker=1)
    cache[1].stage: announcing → restoring
    cache[1][1].queue: [] → [kind update_metadata about {} alive {1,2} endpoints {}]
    cache[1][2].queue: [] → [kind update_metadata about {} alive {1,2} endpoints {}]
controller_starts_replica_state_machine(broker=1)
    cache[1].stage: restoring → onlining
    cache[1][1].queue: [kind update_metadata about {} alive {1,2} endpoints {}] → [kind update_metadata about {} alive {1,2} endpoints {}, kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1,2} endpoints {}]
    cache[1][2].queue: [kind update_metadata about {} alive {1,2} endpoints {}] → [kind update_metadata about {} alive {1,2} endpoints {}, kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1,2} endpoints {}]
controller_sends_election_batch(broker=1)
    cache[1].stage: onlining → looking
controller_resigns_and_keeps_its_queue(broker=1)
    cache[1].events: [kind controller_change subject none, kind broker_change subject none] → [kind broker_change subject none]
    resigned: {} → {1}
controller_sees_dead_brokers(broker=1)
    cache[1].stage: idle → removing_followers
    cache[1].live: {1,2} → {1}
    cache[1].reached: {1,2} → {1}
    cache[1].events: [kind broker_change subject none] → []
    cache[1][2].queue: [kind update_metadata about {} alive {1,2} endpoints {}, kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1,2} endpoints {}] → []
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
resigned_controllers_write_nothing: broken by step 13 — a broker that has resigned as the controller writes no state
