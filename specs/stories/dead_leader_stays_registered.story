# The controller dies together with a leader, and its successor does not remove that leader.
# Shows: ZooKeeper and all clients go on naming a dead leader; a new controller takes the replicas of
# dead brokers offline since 2.3. (KAFKA-3143)
system cluster version 2.3 without dead_replicas_taken_offline brokers 2 partitions 1 replicas 2 versions 3 epoch 2 controllers 2 queue 3 crashes 1 expiries 1 losses 0 shutdowns 0 requests 0 lingering 1

session_expires broker=1
session_ends_before_its_nodes broker=2
broker_becomes_controller broker=2
broker_learns_it_won broker=2
controller_reads_context broker=2
broker_reconnects broker=1
controller_sends_initial_update_metadata broker=2
controller_starts_replica_state_machine broker=2
controller_reads_state broker=2 partition=0
controller_elects_leader broker=2 leader=2 partition=0
broker_crashes broker=2
node_of_expired_session_is_deleted broker=2
broker_becomes_controller broker=1
broker_learns_it_won broker=1
controller_reads_context broker=1
controller_sends_initial_update_metadata broker=1
controller_starts_replica_state_machine broker=1
controller_reads_state broker=1 partition=0
controller_finds_no_leader broker=1 partition=0
controller_sends_election_batch broker=1
broker_updates_metadata broker=1 sender=1
broker_finds_leader_not_in_metadata_cache broker=1 sender=1 partition=0
broker_updates_metadata broker=1 sender=1
controller_finds_no_request broker=1
check dead_leaders_are_noticed
----
session_expires(broker=1)
    zk.registered: {1,2} → {2}
    spent.expiries: 0 → 1
session_ends_before_its_nodes(broker=2)
    zk.outlived: {} → {2}
    spent.lingering: 0 → 1
broker_becomes_controller(broker=2)
    zk.controller: none → 2
    zk.epoch: 0 → 1
    campaign[2]: 0 → 1
broker_learns_it_won(broker=2)
    campaign[2]: 1 → 0
    belief[2]: 0 → 1
controller_reads_context(broker=2)
    cache[2].stage: starting → announcing
    cache[2].live: {} → {2}
    cache[2].reached: {} → {2}
    cache[2].watched: {} → {2}
broker_reconnects(broker=1)
    zk.registered: {2} → {1,2}
    cache[2].events: [] → [kind broker_change subject none]
controller_sends_initial_update_metadata(broker=2)
    cache[2].stage: announcing → restoring
    cache[2][2].queue: [] → [kind update_metadata about {} alive {2} endpoints {}]
controller_starts_replica_state_machine(broker=2)
    cache[2].stage: restoring → onlining
    cache[2][2].queue: [kind update_metadata about {} alive {2} endpoints {}] → [kind update_metadata about {} alive {2} endpoints {}, kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {2} endpoints {}]
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
broker_crashes(broker=2)
    up: {1,2} → {1}
    belief[2]: 1 → 0
    cache[2].stage: onlining → starting
    cache[2].live: {2} → {}
    cache[2].reached: {2} → {}
    cache[2].watched: {2} → {}
    cache[2].events: [kind broker_change subject none] → []
    cache[2][2].queue: [kind update_metadata about {} alive {2} endpoints {}, kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {2} endpoints {}] → []
    alive[2]: {1,2} → {}
    partition[0][2].replica.version: 0 → none
    partition[0][2].replica.fetching: true → false
    partition[0][2].known: 0 → none
    partition[0][2].context.version: 1 → 0
    partition[0][2].context.batched: true → false
    spent.crashes: 0 → 1
node_of_expired_session_is_deleted(broker=2)
    zk.controller: 2 → none
    zk.registered: {1,2} → {1}
    zk.outlived: {2} → {}
broker_becomes_controller(broker=1)
    zk.controller: none → 1
    zk.epoch: 1 → 2
    campaign[1]: 0 → 2
broker_learns_it_won(broker=1)
    campaign[1]: 2 → 0
    belief[1]: 0 → 2
controller_reads_context(broker=1)
    cache[1].stage: starting → announcing
    cache[1].live: {} → {1}
    cache[1].reached: {} → {1}
    cache[1].watched: {} → {1}
    partition[0][1].context.version: 0 → 1
controller_sends_initial_update_metadata(broker=1)
    cache[1].stage: announcing → restoring
    cache[1][1].queue: [] → [kind update_metadata about {} alive {1} endpoints {}]
controller_starts_replica_state_machine(broker=1)
    cache[1].stage: restoring → onlining
    cache[1][1].queue: [kind update_metadata about {} alive {1} endpoints {}] → [kind update_metadata about {} alive {1} endpoints {}, kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1} endpoints {}]
    partition[0][1].context.offline: false → true
    partition[0][1].context.due: false → true
controller_reads_state(broker=1, partition=0)
    partition[0][1].context.read: none → 1
controller_finds_no_leader(broker=1, partition=0)
    partition[0][1].context.due: true → false
    partition[0][1].context.read: 1 → none
controller_sends_election_batch(broker=1)
    cache[1].stage: onlining → looking
broker_updates_metadata(broker=1, sender=1)
    cache[1][1].queue: [kind update_metadata about {} alive {1} endpoints {}, kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1} endpoints {}] → [kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1} endpoints {}]
    seen[1]: 0 → 2
    alive[1]: {1,2} → {1}
broker_finds_leader_not_in_metadata_cache(broker=1, sender=1, partition=0)
    cache[1][1].queue: [kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1} endpoints {}] → [kind update_metadata about {0: 1} alive {1} endpoints {}]
broker_updates_metadata(broker=1, sender=1)
    cache[1][1].queue: [kind update_metadata about {0: 1} alive {1} endpoints {}] → []
    partition[0][1].known: 0 → 1
controller_finds_no_request(broker=1)
    cache[1].stage: looking → idle
dead_leaders_are_noticed: broken — when nothing is under way, no dead broker is registered as a leader, nor one whose log directory has failed
    (belief[1] 2, cache[1].events.end 0, cache[1].stage idle, partition[0][1].state.leader 2, up {1}, zk.controller 1, zk.epoch 2, zk.registered {1})
