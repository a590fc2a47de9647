# A replica catches up and joins the ISR, and all brokers are notified.
# Shows: the last UpdateMetadata of the source article 001: the leader writes the ISR by itself, and
# notifies the controller, which reads the state and tells everybody. (1.1)
system cluster version 1.1 brokers 2 partitions 1 replicas 2

# Broker 2 was away while something was committed.
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly controller_sends_initial_update_metadata broker=1
quietly controller_starts_replica_state_machine broker=1
quietly controller_sends_election_batch broker=1
quietly session_expires broker=2
quietly broker_crashes broker=2
quietly controller_finds_no_request broker=1
quietly controller_sees_dead_brokers broker=1
quietly controller_reads_state broker=1 partition=0
quietly controller_removes_replica broker=1 replica=2 partition=0
quietly controller_sends_removal_batch broker=1
quietly controller_sends_update_metadata_for_dead_brokers broker=1
quietly broker_updates_metadata broker=1 sender=1
quietly older_epoch_is_refused broker=1 sender=1 partition=0
quietly broker_updates_metadata broker=1 sender=1
quietly broker_becomes_leader broker=1 sender=1 partition=0
quietly broker_updates_metadata broker=1 sender=1
quietly broker_updates_metadata broker=1 sender=1
leader_commits leader=1 partition=0
----
leader_commits(leader=1, partition=0)
    partition[0].complete: {1,2} → {1}

# It starts, and is instructed to follow.
quietly broker_starts broker=2
quietly controller_sees_new_brokers broker=1
quietly controller_sends_update_metadata_for_new_brokers broker=1
quietly controller_brings_replicas_online broker=1
quietly controller_sends_election_batch broker=1
show cache[1].queue
quietly broker_updates_metadata broker=2 sender=1
broker_becomes_follower broker=2 sender=1 partition=0
quietly broker_updates_metadata broker=2 sender=1
quietly broker_updates_metadata broker=1 sender=1
quietly broker_updates_metadata broker=1 sender=1
----
cache[1][1].queue: [kind update_metadata about {0: 1} alive {1,2} endpoints {}, kind update_metadata about {0: 1} alive {1,2} endpoints {}]
cache[1][2].queue: [kind update_metadata about {0: 1} alive {1,2} endpoints {}, kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1,2} endpoints {}]
broker_becomes_follower(broker=2, sender=1, partition=0)
    cache[1][2].queue: [kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1,2} endpoints {}] → [kind update_metadata about {0: 1} alive {1,2} endpoints {}]
    partition[0][2].replica.version: none → 1
    partition[0][2].replica.fetching: false → true

# It catches up; the ISR grows under the same leader epoch.
follower_catches_up follower=2 leader=1 partition=0
leader_expands_isr leader=1 replica=2 partition=0
broker_reports_isr_change broker=1 partition=0
controller_reads_isr_changes broker=1
----
follower_catches_up(follower=2, leader=1, partition=0)
    partition[0].complete: {1} → {1,2}
leader_expands_isr(leader=1, replica=2, partition=0)
    partition[0].version: 1 → 2
    partition[0][2].state.leader: none → 1
    partition[0][2].state.epoch: 0 → 1
    partition[0][2].state.isr: {} → {1,2}
    partition[0][2].state.controller: 0 → 1
    partition[0][1].replica.version: 1 → 2
    partition[0][1].replica.unreported: false → true
broker_reports_isr_change(broker=1, partition=0)
    cache[1].events: [] → [kind isr_change subject none]
    partition[0].noted: false → true
    partition[0][1].replica.unreported: true → false
controller_reads_isr_changes(broker=1)
    cache[1][1].queue: [] → [kind update_metadata about {0: 2} alive {1,2} endpoints {}]
    cache[1][2].queue: [] → [kind update_metadata about {0: 2} alive {1,2} endpoints {}]
    partition[0].noted: true → false
    partition[0][1].context.version: 1 → 2

quietly broker_updates_metadata broker=1 sender=1
broker_updates_metadata broker=2 sender=1
check idle_metadata_agrees_with_zookeeper
check idle_partitions_have_leaders
----
broker_updates_metadata(broker=2, sender=1)
    cache[1][2].queue: [kind update_metadata about {0: 2} alive {1,2} endpoints {}] → []
    partition[0][2].known: 1 → 2
idle_metadata_agrees_with_zookeeper: holds
idle_partitions_have_leaders: holds
