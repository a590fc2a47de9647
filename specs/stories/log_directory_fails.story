# A log directory of a leader fails: the partition in it gets another leader, no other does.
# Shows: the broker only notes that it lost something; what it lost the controller learns from the
# response to a LeaderAndIsr that says nothing new (KIP-112, 1.0).
system cluster version 2.3 brokers 2 partitions 2 replicas 2

quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly controller_sends_initial_update_metadata broker=2
quietly controller_starts_replica_state_machine broker=2
quietly controller_sends_election_batch broker=2
quietly broker_updates_metadata broker=1 sender=2
quietly older_epoch_is_refused broker=1 sender=2 partition=0
quietly older_epoch_is_refused broker=1 sender=2 partition=1
quietly broker_updates_metadata broker=1 sender=2
quietly broker_updates_metadata broker=2 sender=2
quietly older_epoch_is_refused broker=2 sender=2 partition=0
quietly older_epoch_is_refused broker=2 sender=2 partition=1
quietly broker_updates_metadata broker=2 sender=2

# Broker 1 leads partition 0 from one directory, and follows partition 1 in another.
refused log_directory_is_repaired broker=1 partition=0
refused broker_reports_log_dir_failure broker=1
log_directory_fails broker=1 partition=0
refused log_directory_fails broker=1 partition=0
refused log_directory_is_repaired broker=1 partition=0
refused leader_commits leader=1 partition=0
broker_reports_log_dir_failure broker=1
----
refused log_directory_is_repaired(broker=1, partition=0)
    the replica's log directory has failed — false (partition[0].failed {})
refused broker_reports_log_dir_failure(broker=1)
    its log directory failed, and it has not reported that yet — false (failure_unreported {})
log_directory_fails(broker=1, partition=0)
    failure_unreported: {} → {1}
    partition[0].failed: {} → {1}
    partition[0][1].replica.version: 0 → none
refused log_directory_fails(broker=1, partition=0)
    the replica's log directory works — false (partition[0].failed {1})
refused log_directory_is_repaired(broker=1, partition=0)
    the process does not run — false (up {1,2})
refused leader_commits(leader=1, partition=0)
    the broker believes it leads — false (partition[0][-1].state.leader none, partition[0][1].replica.version none)
broker_reports_log_dir_failure(broker=1)
    zk.log_dir_events: {} → {1}
    cache[2].events: [] → [kind log_dir_event subject none]
    failure_unreported: {1} → {}

# The controller asks for both replicas, in the epoch that it knows.
quietly controller_finds_no_request broker=2
controller_sends_leader_and_isr_for_log_dirs broker=2
refused older_epoch_is_refused broker=1 sender=2 partition=0
broker_answers_kafka_storage_error broker=1 sender=2 partition=0
refused broker_answers_kafka_storage_error broker=1 sender=2 partition=1
older_epoch_is_refused broker=1 sender=2 partition=1
refused controller_marks_replicas_offline broker=2 subject=1
refused controller_sends_leader_and_isr_for_log_dirs broker=2
controller_finds_no_log_dir_event broker=2
refused controller_finds_log_dirs_unchanged broker=2 subject=1
controller_marks_replicas_offline broker=2 subject=1
----
controller_sends_leader_and_isr_for_log_dirs(broker=2)
    zk.log_dir_events: {1} → {}
    cache[2][1].queue: [] → [kind leader_and_isr about {0: 0,1: 0} alive {} endpoints {}, kind update_metadata about {0: 0,1: 0} alive {1,2} endpoints {}]
    cache[2][2].queue: [] → [kind update_metadata about {0: 0,1: 0} alive {1,2} endpoints {}]
refused older_epoch_is_refused(broker=1, sender=2, partition=0)
    the partition's log directory works — false (partition[0].failed {1})
broker_answers_kafka_storage_error(broker=1, sender=2, partition=0)
    cache[2][1].queue: [kind leader_and_isr about {0: 0,1: 0} alive {} endpoints {}, kind update_metadata about {0: 0,1: 0} alive {1,2} endpoints {}] → [kind leader_and_isr about {1: 0} alive {} endpoints {}, kind update_metadata about {0: 0,1: 0} alive {1,2} endpoints {}]
    partition[0][2].context.refusing: {} → {1}
refused broker_answers_kafka_storage_error(broker=1, sender=2, partition=1)
    the partition's log directory has failed — false (partition[1].failed {})
older_epoch_is_refused(broker=1, sender=2, partition=1)
    cache[2].events: [kind log_dir_event subject none] → [kind log_dir_event subject none, kind leader_and_isr_response subject 1]
    cache[2][1].queue: [kind leader_and_isr about {1: 0} alive {} endpoints {}, kind update_metadata about {0: 0,1: 0} alive {1,2} endpoints {}] → [kind update_metadata about {0: 0,1: 0} alive {1,2} endpoints {}]
refused controller_marks_replicas_offline(broker=2, subject=1)
    a response of the broker is next in its queue — false (cache.events[2][0].kind log_dir_event, cache.events[2][0].subject none)
refused controller_sends_leader_and_isr_for_log_dirs(broker=2)
    a notification is there — false
controller_finds_no_log_dir_event(broker=2)
    cache[2].events: [kind log_dir_event subject none, kind leader_and_isr_response subject 1] → [kind leader_and_isr_response subject 1]
refused controller_finds_log_dirs_unchanged(broker=2, subject=1)
    it names no failed log directory that is news — false (partition[0][2].context.lost {}, partition[0][2].context.refusing {1})
controller_marks_replicas_offline(broker=2, subject=1)
    cache[2].stage: idle → electing
    cache[2].subject: none → 1
    cache[2].events: [kind leader_and_isr_response subject 1] → []
    partition[0][2].context.offline: false → true
    partition[0][2].context.due: false → true
    partition[0][2].context.gone: {} → {1}
    partition[0][2].context.lost: {} → {1}
    partition[0][2].context.refusing: {1} → {}

# Partition 0 goes to broker 2. Broker 1 is instructed to stop, for it is alive.
quietly controller_reads_state broker=2 partition=0
refused controller_elects_leader broker=2 leader=1 partition=0
controller_elects_leader broker=2 leader=2 partition=0
quietly controller_sends_election_batch broker=2
quietly controller_reads_state broker=2 partition=0
quietly controller_finds_replica_not_in_isr broker=2 replica=1 partition=0
controller_sends_removal_batch broker=2
----
refused controller_elects_leader(broker=2, leader=1, partition=0)
    the replica is live, and in the ISR — false (partition[0][2].context.lost {1})
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
controller_sends_removal_batch(broker=2)
    cache[2].stage: removing → idle
    cache[2].subject: 1 → none
    cache[2][1].queue: [kind update_metadata about {0: 0,1: 0} alive {1,2} endpoints {}, kind update_metadata about {0: 1} alive {1,2} endpoints {}] → [kind update_metadata about {0: 0,1: 0} alive {1,2} endpoints {}, kind update_metadata about {0: 1} alive {1,2} endpoints {}, kind update_metadata about {0: 1} alive {1,2} endpoints {}, kind stop_replica about {0: 1} alive {} endpoints {}]
    cache[2][2].queue: [kind update_metadata about {0: 0,1: 0} alive {1,2} endpoints {}, kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1,2} endpoints {}] → [kind update_metadata about {0: 0,1: 0} alive {1,2} endpoints {}, kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1,2} endpoints {}, kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1,2} endpoints {}]
    partition[0][2].context.batched: true → false

quietly broker_updates_metadata broker=1 sender=2
quietly broker_updates_metadata broker=1 sender=2
quietly broker_updates_metadata broker=1 sender=2
quietly broker_stops_fetching broker=1 sender=2
quietly broker_updates_metadata broker=2 sender=2
quietly broker_becomes_leader broker=2 sender=2 partition=0
quietly broker_updates_metadata broker=2 sender=2
quietly older_epoch_is_refused broker=2 sender=2 partition=0
quietly broker_updates_metadata broker=2 sender=2
show partition.failed
show partition[0][2].context.lost
check the_cluster_settles_after_an_election
check idle_metadata_agrees_with_zookeeper
check idle_partitions_have_leaders
check no_event_is_missed
check dead_leaders_are_noticed
----
partition[0].failed: {1}
partition[0][2].context.lost: {1}
the_cluster_settles_after_an_election: so it is — nothing is under way, after a controller has raised a leader epoch
idle_metadata_agrees_with_zookeeper: holds
idle_partitions_have_leaders: holds
no_event_is_missed: holds
dead_leaders_are_noticed: holds
