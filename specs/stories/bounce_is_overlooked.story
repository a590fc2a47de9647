# A broker restarts before the controller reads the registrations, and is sent nothing.
# Shows: the watch fires, the ids are the same; the broker neither leads nor follows, and stays in the
# ISR. Broker epochs are compared since 2.2. (KIP-380)
system cluster version 2.1 brokers 2 partitions 1 replicas 2 versions 2 epoch 2 controllers 1 queue 3 crashes 1 expiries 1 losses 0 shutdowns 0 requests 0 lingering 0

# Broker 2 has become the controller, and everybody obeyed.
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly controller_sends_initial_update_metadata broker=2
quietly controller_starts_replica_state_machine broker=2
quietly controller_sends_election_batch broker=2
quietly controller_finds_no_request broker=2
quietly broker_updates_metadata broker=1 sender=2
quietly older_epoch_is_refused broker=1 sender=2 partition=0
quietly broker_updates_metadata broker=1 sender=2
quietly broker_updates_metadata broker=2 sender=2
quietly older_epoch_is_refused broker=2 sender=2 partition=0
quietly broker_updates_metadata broker=2 sender=2
show partition[0].state.leader

# Broker 1 leads. It goes, and is back, before its controller has looked.
broker_crashes broker=1
session_expires broker=1
broker_starts broker=1
controller_finds_brokers_unchanged broker=2
check idle_partitions_have_leaders
----
partition[0][0].state.leader: 1
broker_crashes(broker=1)
    up: {1,2} → {2}
    seen[1]: 1 → 0
    alive[1]: {1,2} → {}
    partition[0][1].replica.version: 0 → none
    partition[0][1].known: 0 → none
    spent.crashes: 0 → 1
session_expires(broker=1)
    zk.registered: {1,2} → {2}
    cache[2].watched: {1,2} → {2}
    cache[2].events: [] → [kind broker_change subject none]
    spent.expiries: 0 → 1
broker_starts(broker=1)
    zk.registered: {2} → {1,2}
    up: {2} → {1,2}
controller_finds_brokers_unchanged(broker=2)
    cache[2].watched: {2} → {1,2}
    cache[2].events: [kind broker_change subject none] → []
idle_partitions_have_leaders: broken — when nothing is under way, a partition with a live ISR member has a live leader in the registered epoch, which knows the registered ISR, and every other live replica fetches from it, except brokers that have requested a controlled shutdown
    (belief[2] 1, cache[2].events.end 0, cache[2].stage idle, leaving[1] stays, partition[0].failed {}, partition[0].version 0, partition[0][0].state.isr {1,2}, partition[0][0].state.leader 1, up {1,2}, zk.controller 2, zk.epoch 1, zk.registered {1,2})
