# A controller resigns, and its thread goes on with what was queued.
# Shows: its write passes the fence as long as nobody else was elected; listeners are removed since
# 0.10.2. (KAFKA-4447)
system cluster version 2.3 without events_dropped brokers 2 partitions 1 replicas 2 versions 2 epoch 2 controllers 2 queue 3 crashes 0 expiries 2 losses 0 shutdowns 0 requests 0 lingering 0

session_expires broker=1
broker_becomes_controller broker=2
broker_learns_it_won broker=2
controller_node_is_deleted
controller_resigns_and_goes_on broker=2
controller_reads_context broker=2
controller_announces_brokers broker=2
controller_restores_replicas broker=2
controller_removes_replica broker=2 replica=1 partition=0
check the_resigned_are_silent
----
session_expires(broker=1)
    zk.registered: {1,2} → {2}
    spent.expiries: 0 → 1
broker_becomes_controller(broker=2)
    zk.controller: none → 2
    zk.epoch: 0 → 1
    campaign[2]: 0 → 1
broker_learns_it_won(broker=2)
    campaign[2]: 1 → 0
    belief[2]: 0 → 1
controller_node_is_deleted()
    zk.controller: 2 → none
    spent.expiries: 1 → 2
controller_resigns_and_goes_on(broker=2)
    resigned: {} → {2}
controller_reads_context(broker=2)
    cache[2].stage: starting → announcing
    cache[2].live: {} → {2}
    cache[2].reached: {} → {2}
controller_announces_brokers(broker=2)
    cache[2].stage: announcing → restoring
    cache[2][2].queue: [] → [kind update_metadata about {} alive {2}]
controller_restores_replicas(broker=2)
    cache[2].stage: restoring → burying
    cache[2][2].queue: [kind update_metadata about {} alive {2}] → [kind update_metadata about {} alive {2}, kind leader_and_isr about {0: 0} alive {}, kind update_metadata about {0: 0} alive {2}]
    partition[0][2].context.gone: {} → {1}
controller_removes_replica(broker=2, replica=1, partition=0)
    partition[0].version: 0 → 1
    partition[0][1].state.epoch: 0 → 1
    partition[0][1].state.isr: {} → {2}
    partition[0][1].state.controller: 0 → 1
    partition[0][2].context.version: 0 → 1
    partition[0][2].context.gone: {1} → {}
    partition[0][2].context.batched: false → true
the_resigned_are_silent: broken by step 9 — a broker that has resigned as the controller writes no state
