# A StopReplica for a broker's last incarnation stops the next one.
# Shows: it is sent twice over a broken connection, and the first copy arrives behind what the new
# incarnation is notified; broker epochs refuse it since 2.2. (KAFKA-7235, KIP-380)
system cluster version 2.1 brokers 2 partitions 1 replicas 2 versions 3 epoch 2 controllers 1 queue 3 crashes 0 expiries 1 losses 1 shutdowns 1 requests 0 lingering 0

broker_asks_for_controlled_shutdown broker=2
broker_becomes_controller broker=1
broker_learns_it_won broker=1
controller_reads_context broker=1
controller_sends_initial_update_metadata broker=1
controller_starts_replica_state_machine broker=1
controller_sends_election_batch broker=1
shutdown_request_arrives broker=1 subject=2
quietly controller_finds_no_request broker=1
controller_begins_controlled_shutdown broker=1 subject=2
broker_updates_metadata broker=1 sender=1
older_epoch_is_refused broker=1 sender=1 partition=0
broker_updates_metadata broker=1 sender=1
broker_updates_metadata broker=2 sender=1
controller_stops_follower broker=1
controller_reads_state broker=1 partition=0
controller_removes_replica broker=1 replica=2 partition=0
older_epoch_is_refused broker=2 sender=1 partition=0
broker_updates_metadata broker=2 sender=1
controller_sends_removal_batch broker=1
controller_answers_shutdown broker=1
broker_stops broker=2
broker_starts broker=2
broker_becomes_leader broker=1 sender=1 partition=0
broker_updates_metadata broker=1 sender=1
stop_replica_is_sent_again broker=2 sender=1
controller_finds_brokers_unchanged broker=1
session_expires broker=2
controller_sees_dead_brokers broker=1
controller_reads_state broker=1 partition=0
controller_finds_replica_not_in_isr broker=1 replica=2 partition=0
controller_sends_removal_batch broker=1
controller_sends_update_metadata_for_dead_brokers broker=1
older_epoch_is_refused broker=1 sender=1 partition=0
broker_updates_metadata broker=1 sender=1
broker_updates_metadata broker=1 sender=1
broker_reconnects broker=2
controller_sees_new_brokers broker=1
controller_sends_update_metadata_for_new_brokers broker=1
controller_brings_replicas_online broker=1
controller_sends_election_batch broker=1
broker_updates_metadata broker=2 sender=1
broker_becomes_follower broker=2 sender=1 partition=0
broker_updates_metadata broker=2 sender=1
broker_updates_metadata broker=1 sender=1
broker_updates_metadata broker=1 sender=1
late_stop_replica_arrives broker=2
check idle_partitions_have_leaders
----
broker_asks_for_controlled_shutdown(broker=2)
    leaving[2]: stays → asks
    asked: {} → {2}
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
    cache[1][1].queue: [] → [kind update_metadata about {0: 0} alive {1,2} endpoints {}]
    cache[1][2].queue: [] → [kind update_metadata about {0: 0} alive {1,2} endpoints {}]
controller_starts_replica_state_machine(broker=1)
    cache[1].stage: restoring → onlining
    cache[1][1].queue: [kind update_metadata about {0: 0} alive {1,2} endpoints {}] → [kind update_metadata about {0: 0} alive {1,2} endpoints {}, kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1,2} endpoints {}]
    cache[1][2].queue: [kind update_metadata about {0: 0} alive {1,2} endpoints {}] → [kind update_metadata about {0: 0} alive {1,2} endpoints {}, kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1,2} endpoints {}]
controller_sends_election_batch(broker=1)
    cache[1].stage: onlining → looking
shutdown_request_arrives(broker=1, subject=2)
    cache[1].events: [] → [kind controlled_shutdown subject 2]
    asked: {2} → {}
controller_begins_controlled_shutdown(broker=1, subject=2)
    cache[1].stage: idle → stopping
    cache[1].shutting: {} → {2}
    cache[1].subject: none → 2
    cache[1].events: [kind controlled_shutdown subject 2] → []
    partition[0][1].context.gone: {} → {2}
broker_updates_metadata(broker=1, sender=1)
    cache[1][1].queue: [kind update_metadata about {0: 0} alive {1,2} endpoints {}, kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1,2} endpoints {}] → [kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1,2} endpoints {}]
    seen[1]: 0 → 1
older_epoch_is_refused(broker=1, sender=1, partition=0)
    cache[1][1].queue: [kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1,2} endpoints {}] → [kind update_metadata about {0: 0} alive {1,2} endpoints {}]
broker_updates_metadata(broker=1, sender=1)
    cache[1][1].queue: [kind update_metadata about {0: 0} alive {1,2} endpoints {}] → []
broker_updates_metadata(broker=2, sender=1)
    cache[1][2].queue: [kind update_metadata about {0: 0} alive {1,2} endpoints {}, kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1,2} endpoints {}] → [kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1,2} endpoints {}]
    seen[2]: 0 → 1
controller_stops_follower(broker=1)
    cache[1].stage: stopping → retiring
    cache[1][2].queue: [kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1,2} endpoints {}] → [kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1,2} endpoints {}, kind stop_replica about {0: 0} alive {} endpoints {}]
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
older_epoch_is_refused(broker=2, sender=1, partition=0)
    cache[1][2].queue: [kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1,2} endpoints {}, kind stop_replica about {0: 0} alive {} endpoints {}] → [kind update_metadata about {0: 0} alive {1,2} endpoints {}, kind stop_replica about {0: 0} alive {} endpoints {}]
broker_updates_metadata(broker=2, sender=1)
    cache[1][2].queue: [kind update_metadata about {0: 0} alive {1,2} endpoints {}, kind stop_replica about {0: 0} alive {} endpoints {}] → [kind stop_replica about {0: 0} alive {} endpoints {}]
controller_sends_removal_batch(broker=1)
    cache[1].stage: retiring → answering
    cache[1][1].queue: [] → [kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1,2} endpoints {}]
    cache[1][2].queue: [kind stop_replica about {0: 0} alive {} endpoints {}] → [kind stop_replica about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1,2} endpoints {}, kind stop_replica about {0: 1} alive {} endpoints {}]
    partition[0][1].context.batched: true → false
controller_answers_shutdown(broker=1)
    cache[1].stage: answering → idle
    cache[1].subject: 2 → none
    leaving[2]: asks → may_go
broker_stops(broker=2)
    zk.registered: {1,2} → {1}
    up: {1,2} → {1}
    cache[1].watched: {1,2} → {1}
    cache[1].events: [] → [kind broker_change subject none]
    seen[2]: 1 → 0
    alive[2]: {1,2} → {}
    leaving[2]: may_go → stays
    partition[0][2].replica.version: 0 → none
    partition[0][2].replica.fetching: true → false
    partition[0][2].known: 0 → none
broker_starts(broker=2)
    zk.registered: {1} → {1,2}
    up: {1} → {1,2}
broker_becomes_leader(broker=1, sender=1, partition=0)
    cache[1][1].queue: [kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1,2} endpoints {}] → [kind update_metadata about {0: 1} alive {1,2} endpoints {}]
    partition[0][1].replica.version: 0 → 1
broker_updates_metadata(broker=1, sender=1)
    cache[1][1].queue: [kind update_metadata about {0: 1} alive {1,2} endpoints {}] → []
    partition[0][1].known: 0 → 1
stop_replica_is_sent_again(broker=2, sender=1)
    late[2].held: false → true
    late[2].controller: 0 → 1
    late[2][0].about: false → true
    spent.losses: 0 → 1
controller_finds_brokers_unchanged(broker=1)
    cache[1].watched: {1} → {1,2}
    cache[1].events: [kind broker_change subject none] → []
session_expires(broker=2)
    zk.registered: {1,2} → {1}
    cache[1].watched: {1,2} → {1}
    cache[1].events: [] → [kind broker_change subject none]
    spent.expiries: 0 → 1
controller_sees_dead_brokers(broker=1)
    cache[1].stage: idle → removing_followers
    cache[1].live: {1,2} → {1}
    cache[1].reached: {1,2} → {1}
    cache[1].shutting: {2} → {}
    cache[1].events: [kind broker_change subject none] → []
    cache[1][2].queue: [kind stop_replica about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1,2} endpoints {}, kind stop_replica about {0: 1} alive {} endpoints {}] → []
    partition[0][1].context.gone: {} → {2}
controller_reads_state(broker=1, partition=0)
    partition[0][1].context.read: none → 1
controller_finds_replica_not_in_isr(broker=1, replica=2, partition=0)
    partition[0][1].context.gone: {2} → {}
    partition[0][1].context.read: 1 → none
    partition[0][1].context.batched: false → true
controller_sends_removal_batch(broker=1)
    cache[1].stage: removing_followers → notifying
    cache[1][1].queue: [] → [kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1} endpoints {}]
    partition[0][1].context.batched: true → false
controller_sends_update_metadata_for_dead_brokers(broker=1)
    cache[1].stage: notifying → idle
    cache[1][1].queue: [kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1} endpoints {}] → [kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1} endpoints {}, kind update_metadata about {0: 1} alive {1} endpoints {}]
older_epoch_is_refused(broker=1, sender=1, partition=0)
    cache[1][1].queue: [kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1} endpoints {}, kind update_metadata about {0: 1} alive {1} endpoints {}] → [kind update_metadata about {0: 1} alive {1} endpoints {}, kind update_metadata about {0: 1} alive {1} endpoints {}]
broker_updates_metadata(broker=1, sender=1)
    cache[1][1].queue: [kind update_metadata about {0: 1} alive {1} endpoints {}, kind update_metadata about {0: 1} alive {1} endpoints {}] → [kind update_metadata about {0: 1} alive {1} endpoints {}]
    alive[1]: {1,2} → {1}
broker_updates_metadata(broker=1, sender=1)
    cache[1][1].queue: [kind update_metadata about {0: 1} alive {1} endpoints {}] → []
broker_reconnects(broker=2)
    zk.registered: {1} → {1,2}
    cache[1].events: [] → [kind broker_change subject none]
controller_sees_new_brokers(broker=1)
    cache[1].stage: idle → announcing_new
    cache[1].live: {1} → {1,2}
    cache[1].reached: {1} → {1,2}
    cache[1].watched: {1} → {1,2}
    cache[1].started: {} → {2}
    cache[1].events: [kind broker_change subject none] → []
controller_sends_update_metadata_for_new_brokers(broker=1)
    cache[1].stage: announcing_new → instating
    cache[1][1].queue: [] → [kind update_metadata about {0: 1} alive {1,2} endpoints {}]
    cache[1][2].queue: [] → [kind update_metadata about {0: 1} alive {1,2} endpoints {}]
controller_brings_replicas_online(broker=1)
    cache[1].stage: instating → electing
    cache[1].started: {2} → {}
    cache[1][1].queue: [kind update_metadata about {0: 1} alive {1,2} endpoints {}] → [kind update_metadata about {0: 1} alive {1,2} endpoints {}, kind update_metadata about {0: 1} alive {1,2} endpoints {}]
    cache[1][2].queue: [kind update_metadata about {0: 1} alive {1,2} endpoints {}] → [kind update_metadata about {0: 1} alive {1,2} endpoints {}, kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1,2} endpoints {}]
controller_sends_election_batch(broker=1)
    cache[1].stage: electing → idle
broker_updates_metadata(broker=2, sender=1)
    cache[1][2].queue: [kind update_metadata about {0: 1} alive {1,2} endpoints {}, kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1,2} endpoints {}] → [kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1,2} endpoints {}]
    seen[2]: 0 → 1
    alive[2]: {} → {1,2}
    partition[0][2].known: none → 1
broker_becomes_follower(broker=2, sender=1, partition=0)
    cache[1][2].queue: [kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1,2} endpoints {}] → [kind update_metadata about {0: 1} alive {1,2} endpoints {}]
    partition[0][2].replica.version: none → 1
    partition[0][2].replica.fetching: false → true
broker_updates_metadata(broker=2, sender=1)
    cache[1][2].queue: [kind update_metadata about {0: 1} alive {1,2} endpoints {}] → []
broker_updates_metadata(broker=1, sender=1)
    cache[1][1].queue: [kind update_metadata about {0: 1} alive {1,2} endpoints {}, kind update_metadata about {0: 1} alive {1,2} endpoints {}] → [kind update_metadata about {0: 1} alive {1,2} endpoints {}]
    alive[1]: {1} → {1,2}
broker_updates_metadata(broker=1, sender=1)
    cache[1][1].queue: [kind update_metadata about {0: 1} alive {1,2} endpoints {}] → []
late_stop_replica_arrives(broker=2)
    late[2].held: true → false
    late[2].controller: 1 → 0
    late[2][0].about: true → false
    partition[0][2].replica.fetching: true → false
idle_partitions_have_leaders: broken — when nothing is under way, a partition with a live ISR member has a live leader in the registered epoch, which knows the registered ISR, and every other live replica fetches from it, except brokers that have requested a controlled shutdown
    (belief[1] 1, cache[1].events.end 0, cache[1].stage idle, leaving[1] stays, partition[0].failed {}, partition[0].version 1, partition[0][1].state.isr {1}, partition[0][1].state.leader 1, up {1,2}, zk.controller 1, zk.epoch 1, zk.registered {1,2})
