# A leader shuts down: the controller moves its partition first, then the broker stops.
# Shows: who is leaving is out of the ISR at once, and is notified that it leads no more (KAFKA-7482);
# nobody notices a leader that is away. (KafkaController.doControlledShutdown)
system cluster version 2.3 brokers 2 partitions 1 replicas 2

quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly controller_sends_initial_update_metadata broker=2
quietly controller_starts_replica_state_machine broker=2
quietly controller_sends_election_batch broker=2
quietly broker_updates_metadata broker=1 sender=2
quietly older_epoch_is_refused broker=1 sender=2 partition=0
quietly broker_updates_metadata broker=1 sender=2
quietly broker_updates_metadata broker=2 sender=2
quietly older_epoch_is_refused broker=2 sender=2 partition=0
quietly broker_updates_metadata broker=2 sender=2

# Broker 1 leads, and asks to go.
broker_asks_for_controlled_shutdown broker=1
refused broker_stops broker=1
shutdown_request_arrives broker=2 subject=1
quietly controller_finds_no_request broker=2
controller_begins_controlled_shutdown broker=2 subject=1
quietly controller_reads_state broker=2 partition=0
refused controller_moves_leader broker=2 leader=1 partition=0
controller_moves_leader broker=2 leader=2 partition=0
controller_sends_shutdown_batch broker=2
----
broker_asks_for_controlled_shutdown(broker=1)
    leaving[1]: stays → asks
    asked: {} → {1}
refused broker_stops(broker=1)
    the controller let it go — false (leaving[1] asks)
shutdown_request_arrives(broker=2, subject=1)
    cache[2].events: [] → [kind controlled_shutdown subject 1]
    asked: {1} → {}
controller_begins_controlled_shutdown(broker=2, subject=1)
    cache[2].stage: idle → moving
    cache[2].shutting: {} → {1}
    cache[2].subject: none → 1
    cache[2].events: [kind controlled_shutdown subject 1] → []
    partition[0][2].context.due: false → true
refused controller_moves_leader(broker=2, leader=1, partition=0)
    the replica is live, in the ISR, and stays — false (cache[2].shutting {1})
controller_moves_leader(broker=2, leader=2, partition=0)
    partition[0].version: 0 → 1
    partition[0][1].state.leader: none → 2
    partition[0][1].state.epoch: 0 → 1
    partition[0][1].state.isr: {} → {2}
    partition[0][1].state.controller: 0 → 1
    partition[0][2].context.version: 0 → 1
    partition[0][2].context.due: true → false
    partition[0][2].context.read: 0 → none
    partition[0][2].context.batched: false → true
controller_sends_shutdown_batch(broker=2)
    cache[2].stage: moving → stopping
    cache[2][1].queue: [] → [kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1,2} endpoints {}]
    cache[2][2].queue: [] → [kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1,2} endpoints {}]
    partition[0][2].context.batched: true → false

quietly controller_stops_follower broker=2
controller_answers_shutdown broker=2
broker_becomes_leader broker=2 sender=2 partition=0
quietly broker_updates_metadata broker=2 sender=2
broker_becomes_follower broker=1 sender=2 partition=0
quietly broker_updates_metadata broker=1 sender=2
broker_stops broker=1
check leader_in_isr
----
controller_answers_shutdown(broker=2)
    cache[2].stage: answering → idle
    cache[2].subject: 1 → none
    leaving[1]: asks → may_go
broker_becomes_leader(broker=2, sender=2, partition=0)
    cache[2][2].queue: [kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1,2} endpoints {}] → [kind update_metadata about {0: 1} alive {1,2} endpoints {}]
    partition[0][2].replica.version: 0 → 1
    partition[0][2].replica.fetching: true → false
broker_becomes_follower(broker=1, sender=2, partition=0)
    cache[2][1].queue: [kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1,2} endpoints {}] → [kind update_metadata about {0: 1} alive {1,2} endpoints {}]
    partition[0][1].replica.version: 0 → 1
    partition[0][1].replica.fetching: false → true
broker_stops(broker=1)
    zk.registered: {1,2} → {2}
    up: {1,2} → {2}
    cache[2].watched: {1,2} → {2}
    cache[2].events: [] → [kind broker_change subject none]
    seen[1]: 1 → 0
    alive[1]: {1,2} → {}
    leaving[1]: may_go → stays
    partition[0][1].replica.version: 1 → none
    partition[0][1].replica.fetching: true → false
    partition[0][1].known: 1 → none
leader_in_isr: holds

# The controller sees that it is gone: nothing is to be elected, and nothing to be written.
controller_sees_dead_brokers broker=2
controller_reads_state broker=2 partition=0
controller_finds_replica_not_in_isr broker=2 replica=1 partition=0
controller_sends_removal_batch broker=2
controller_sends_update_metadata_for_dead_brokers broker=2
----
controller_sees_dead_brokers(broker=2)
    cache[2].stage: idle → removing_followers
    cache[2].live: {1,2} → {2}
    cache[2].reached: {1,2} → {2}
    cache[2].shutting: {1} → {}
    cache[2].events: [kind broker_change subject none] → []
    partition[0][2].context.gone: {} → {1}
controller_reads_state(broker=2, partition=0)
    partition[0][2].context.read: none → 1
controller_finds_replica_not_in_isr(broker=2, replica=1, partition=0)
    partition[0][2].context.gone: {1} → {}
    partition[0][2].context.read: 1 → none
    partition[0][2].context.batched: false → true
controller_sends_removal_batch(broker=2)
    cache[2].stage: removing_followers → notifying
    cache[2][2].queue: [] → [kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {2} endpoints {}]
    partition[0][2].context.batched: true → false
controller_sends_update_metadata_for_dead_brokers(broker=2)
    cache[2].stage: notifying → idle
    cache[2][2].queue: [kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {2} endpoints {}] → [kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {2} endpoints {}, kind update_metadata about {} alive {2} endpoints {}]

quietly older_epoch_is_refused broker=2 sender=2 partition=0
quietly broker_updates_metadata broker=2 sender=2
quietly broker_updates_metadata broker=2 sender=2
check idle_metadata_agrees_with_zookeeper
check idle_partitions_have_leaders
check dead_leaders_are_noticed
----
idle_metadata_agrees_with_zookeeper: holds
idle_partitions_have_leaders: holds
dead_leaders_are_noticed: holds
