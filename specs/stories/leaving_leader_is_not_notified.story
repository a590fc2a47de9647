# A broker that shuts down is not notified that another one leads, and keeps leading.
# Shows: LeaderAndIsr went to live replicas only, and who is leaving does not count as live: 1.1 and
# 2.0. (KAFKA-7482)
system cluster version 2.3 without leaving_leader_is_notified brokers 2 partitions 1 replicas 2 versions 2 epoch 2 controllers 1 queue 3 crashes 0 expiries 0 losses 0 shutdowns 1 requests 0 lingering 0

broker_asks_for_controlled_shutdown broker=1
broker_becomes_controller broker=1
broker_learns_it_won broker=1
controller_reads_context broker=1
controller_sends_initial_update_metadata broker=1
controller_starts_replica_state_machine broker=1
controller_sends_election_batch broker=1
shutdown_request_arrives broker=1 subject=1
quietly controller_finds_no_request broker=1
controller_begins_controlled_shutdown broker=1 subject=1
controller_reads_state broker=1 partition=0
controller_moves_leader broker=1 leader=2 partition=0
broker_updates_metadata broker=1 sender=1
older_epoch_is_refused broker=1 sender=1 partition=0
broker_updates_metadata broker=1 sender=1
broker_updates_metadata broker=2 sender=1
older_epoch_is_refused broker=2 sender=1 partition=0
controller_sends_shutdown_batch broker=1
controller_stops_follower broker=1
controller_answers_shutdown broker=1
broker_updates_metadata broker=1 sender=1
broker_updates_metadata broker=2 sender=1
broker_becomes_leader broker=2 sender=1 partition=0
broker_updates_metadata broker=2 sender=1
check idle_metadata_agrees_with_zookeeper
----
broker_asks_for_controlled_shutdown(broker=1)
    leaving[1]: stays → asks
    asked: {} → {1}
    spent.shutdowns: 0 → 1
broker_becomes_controller(broker=1)
    zk.controller: none → 1
    zk.epoch: 0 → 1
    campaign[1]: 0 → 1
broker_learns_it_won(broker=1)
    campaign[1]: 1 → 0
    belief[1]: 0 → 1
controller_reads_context(broker=1)
    cache[1].stage: starting → announcing
    cache[1].live: {} → {1,2}
    cache[1].reached: {} → {1,2}
    cache[1].watched: {} → {1,2}
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
shutdown_request_arrives(broker=1, subject=1)
    cache[1].events: [] → [kind controlled_shutdown subject 1]
    asked: {1} → {}
controller_begins_controlled_shutdown(broker=1, subject=1)
    cache[1].stage: idle → moving
    cache[1].shutting: {} → {1}
    cache[1].subject: none → 1
    cache[1].events: [kind controlled_shutdown subject 1] → []
    partition[0][1].context.due: false → true
controller_reads_state(broker=1, partition=0)
    partition[0][1].context.read: none → 0
controller_moves_leader(broker=1, leader=2, partition=0)
    partition[0].version: 0 → 1
    partition[0][1].state.leader: none → 2
    partition[0][1].state.epoch: 0 → 1
    partition[0][1].state.isr: {} → {2}
    partition[0][1].state.controller: 0 → 1
    partition[0][1].context.version: 0 → 1
    partition[0][1].context.due: true → false
    partition[0][1].context.read: 0 → none
    partition[0][1].context.batched: false → true
broker_updates_metadata(broker=1, sender=1)
    cache[1][1].queue: [kind update_metadata about {} alive {1,2} endpoints {}, kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1,2} endpoints {}] → [kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1,2} endpoints {}]
    seen[1]: 0 → 1
older_epoch_is_refused(broker=1, sender=1, partition=0)
    cache[1][1].queue: [kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1,2} endpoints {}] → [kind update_metadata about {0: 0} alive {1,2} endpoints {}]
broker_updates_metadata(broker=1, sender=1)
    cache[1][1].queue: [kind update_metadata about {0: 0} alive {1,2} endpoints {}] → []
broker_updates_metadata(broker=2, sender=1)
    cache[1][2].queue: [kind update_metadata about {} alive {1,2} endpoints {}, kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1,2} endpoints {}] → [kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1,2} endpoints {}]
    seen[2]: 0 → 1
older_epoch_is_refused(broker=2, sender=1, partition=0)
    cache[1][2].queue: [kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1,2} endpoints {}] → [kind update_metadata about {0: 0} alive {1,2} endpoints {}]
controller_sends_shutdown_batch(broker=1)
    cache[1].stage: moving → stopping
    cache[1][1].queue: [] → [kind update_metadata about {0: 1} alive {1,2} endpoints {}]
    cache[1][2].queue: [kind update_metadata about {0: 0} alive {1,2} endpoints {}] → [kind update_metadata about {0: 0} alive {1,2} endpoints {}, kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1,2} endpoints {}]
    partition[0][1].context.batched: true → false
controller_stops_follower(broker=1)
    cache[1].stage: stopping → answering
controller_answers_shutdown(broker=1)
    cache[1].stage: answering → idle
    cache[1].subject: 1 → none
    leaving[1]: asks → may_go
broker_updates_metadata(broker=1, sender=1)
    cache[1][1].queue: [kind update_metadata about {0: 1} alive {1,2} endpoints {}] → []
    partition[0][1].known: 0 → 1
broker_updates_metadata(broker=2, sender=1)
    cache[1][2].queue: [kind update_metadata about {0: 0} alive {1,2} endpoints {}, kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1,2} endpoints {}] → [kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1,2} endpoints {}]
broker_becomes_leader(broker=2, sender=1, partition=0)
    cache[1][2].queue: [kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1,2} endpoints {}] → [kind update_metadata about {0: 1} alive {1,2} endpoints {}]
    partition[0][2].replica.version: 0 → 1
    partition[0][2].replica.fetching: true → false
broker_updates_metadata(broker=2, sender=1)
    cache[1][2].queue: [kind update_metadata about {0: 1} alive {1,2} endpoints {}] → []
    partition[0][2].known: 0 → 1
idle_metadata_agrees_with_zookeeper: broken — when nothing is under way, every live broker knows the live brokers and their endpoints, and of every partition the state that ZooKeeper has, and leads no partition of which another broker is the registered leader
    (belief[1] 1, cache[1].events.end 0, cache[1].stage idle, partition[0][0].state.leader 1, partition[0][1].replica.version 0, partition[0][1].state.leader 2, up {1,2}, zk.controller 1, zk.epoch 1, zk.registered {1,2})
