# A deposed controller writes the state, and the leader refuses its LeaderAndIsr.
# Shows: 'Cached zkVersion not equal', for ever: the write was not fenced up to 2.0, the request that
# should tell of it is. (KAFKA-2729, KAFKA-6082)
system cluster version 2.0 brokers 2 partitions 1 replicas 2 versions 2 epoch 2 controllers 2 queue 3 crashes 0 expiries 2 losses 0 shutdowns 0 requests 0 lingering 0

session_expires broker=1
broker_becomes_controller broker=2
broker_learns_it_won broker=2
controller_node_is_deleted
controller_reads_context broker=2
broker_reconnects broker=1
broker_becomes_controller broker=1
broker_learns_it_won broker=1
controller_reads_context broker=1
controller_sends_initial_update_metadata broker=1
controller_starts_replica_state_machine broker=1
controller_sends_election_batch broker=1
controller_sends_initial_update_metadata broker=2
controller_starts_replica_state_machine broker=2
controller_reads_state broker=2 partition=0
controller_elects_leader broker=2 leader=2 partition=0
broker_updates_metadata broker=1 sender=1
older_epoch_is_refused broker=1 sender=1 partition=0
broker_updates_metadata broker=1 sender=1
broker_updates_metadata broker=2 sender=1
older_epoch_is_refused broker=2 sender=1 partition=0
broker_updates_metadata broker=2 sender=1
controller_finds_no_request broker=1
check idle_partitions_have_leaders
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
    cache[2].events: [] → [kind controller_change subject none]
    spent.expiries: 1 → 2
controller_reads_context(broker=2)
    cache[2].stage: starting → announcing
    cache[2].live: {} → {2}
    cache[2].reached: {} → {2}
    cache[2].watched: {} → {2}
broker_reconnects(broker=1)
    zk.registered: {2} → {1,2}
    cache[2].events: [kind controller_change subject none] → [kind controller_change subject none, kind broker_change subject none]
broker_becomes_controller(broker=1)
    zk.controller: none → 1
    zk.epoch: 1 → 2
    campaign[1]: 0 → 2
broker_learns_it_won(broker=1)
    campaign[1]: 2 → 0
    belief[1]: 0 → 2
controller_reads_context(broker=1)
    cache[1].stage: starting → announcing
    cache[1].live: {} → {1,2}
    cache[1].reached: {} → {1,2}
    cache[1].watched: {} → {1,2}
controller_sends_initial_update_metadata(broker=1)
    cache[1].stage: announcing → restoring
    cache[1][1].queue: [] → [kind update_metadata about {0: 0} alive {1,2} endpoints {}]
    cache[1][2].queue: [] → [kind update_metadata about {0: 0} alive {1,2} endpoints {}]
controller_starts_replica_state_machine(broker=1)
    cache[1].stage: restoring → onlining
    cache[1][1].queue: [kind update_metadata about {0: 0} alive {1,2} endpoints {}] → [kind update_metadata about {0: 0} alive {1,2} endpoints {}, kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1,2} endpoints {}]
    cache[1][2].queue: [kind update_metadata about {0: 0} alive {1,2} endpoints {}] → [kind update_metadata about {0: 0} alive {1,2} endpoints {}, kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1,2} endpoints {}]
controller_sends_election_batch(broker=1)
    cache[1].stage: onlining → looking
controller_sends_initial_update_metadata(broker=2)
    cache[2].stage: announcing → restoring
    cache[2][2].queue: [] → [kind update_metadata about {0: 0} alive {2} endpoints {}]
controller_starts_replica_state_machine(broker=2)
    cache[2].stage: restoring → onlining
    cache[2][2].queue: [kind update_metadata about {0: 0} alive {2} endpoints {}] → [kind update_metadata about {0: 0} alive {2} endpoints {}, kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {2} endpoints {}]
    partition[0][2].context.offline: false → true
    partition[0][2].context.due: false → true
controller_reads_state(broker=2, partition=0)
    partition[0][2].context.read: none → 0
controller_elects_leader(broker=2, leader=2, partition=0)
    partition[0].version: 0 → 1
    partition[0][1].state.leader: none → 2
    partition[0][1].state.epoch: 0 → 1
    partition[0][1].state.isr: {} → {2}
    partition[0][1].state.controller: 0 → 1
    partition[0][2].context.version: 0 → 1
    partition[0][2].context.offline: true → false
    partition[0][2].context.due: true → false
    partition[0][2].context.read: 0 → none
    partition[0][2].context.batched: false → true
broker_updates_metadata(broker=1, sender=1)
    cache[1][1].queue: [kind update_metadata about {0: 0} alive {1,2} endpoints {}, kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1,2} endpoints {}] → [kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1,2} endpoints {}]
    seen[1]: 0 → 2
older_epoch_is_refused(broker=1, sender=1, partition=0)
    cache[1][1].queue: [kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1,2} endpoints {}] → [kind update_metadata about {0: 0} alive {1,2} endpoints {}]
broker_updates_metadata(broker=1, sender=1)
    cache[1][1].queue: [kind update_metadata about {0: 0} alive {1,2} endpoints {}] → []
broker_updates_metadata(broker=2, sender=1)
    cache[1][2].queue: [kind update_metadata about {0: 0} alive {1,2} endpoints {}, kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1,2} endpoints {}] → [kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1,2} endpoints {}]
    seen[2]: 0 → 2
older_epoch_is_refused(broker=2, sender=1, partition=0)
    cache[1][2].queue: [kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1,2} endpoints {}] → [kind update_metadata about {0: 0} alive {1,2} endpoints {}]
broker_updates_metadata(broker=2, sender=1)
    cache[1][2].queue: [kind update_metadata about {0: 0} alive {1,2} endpoints {}] → []
controller_finds_no_request(broker=1)
    cache[1].stage: looking → idle
idle_partitions_have_leaders: broken — when nothing is under way, a partition with a live ISR member has a live leader in the registered epoch, which knows the registered ISR, and every other live replica fetches from it, except brokers that have requested a controlled shutdown
    (belief[1] 2, cache[1].events.end 0, cache[1].stage idle, leaving[2] stays, partition[0].failed {}, partition[0].version 1, partition[0][1].state.isr {2}, partition[0][1].state.leader 2, up {1,2}, zk.controller 1, zk.epoch 2, zk.registered {1,2})
