# What is refused while log directories fail, are reported, and are repaired.
# Shows: who may tell, ask and answer, and what is news to the controller.
system cluster version 2.3 brokers 2 partitions 2 replicas 2

quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly controller_sends_initial_update_metadata broker=1
quietly controller_starts_replica_state_machine broker=1
quietly controller_sends_election_batch broker=1
quietly broker_updates_metadata broker=1 sender=1
quietly broker_updates_metadata broker=2 sender=1
quietly older_epoch_is_refused broker=1 sender=1 partition=0
quietly older_epoch_is_refused broker=1 sender=1 partition=1
quietly broker_updates_metadata broker=1 sender=1
quietly older_epoch_is_refused broker=2 sender=1 partition=0
quietly older_epoch_is_refused broker=2 sender=1 partition=1
quietly broker_updates_metadata broker=2 sender=1
quietly log_directory_fails broker=2 partition=0
quietly broker_reports_log_dir_failure broker=2

# The controller asks; broker 2 answers. Its other directory has failed, too.
quietly log_directory_fails broker=2 partition=1
refused broker_answers_kafka_storage_error broker=2 sender=1 partition=0
refused controller_sends_leader_and_isr_for_log_dirs broker=2
refused controller_finds_no_log_dir_event broker=1
quietly controller_finds_no_request broker=1
quietly controller_sends_leader_and_isr_for_log_dirs broker=1
refused broker_finds_leader_not_in_metadata_cache broker=2 sender=1 partition=0
refused controller_finds_no_log_dir_event broker=2
quietly controller_finds_no_log_dir_event broker=1
refused controller_finds_no_log_dir_event broker=1
quietly broker_answers_kafka_storage_error broker=2 sender=1 partition=0
refused broker_becomes_leader broker=2 sender=1 partition=1
refused broker_answers_kafka_storage_error broker=2 sender=1 partition=0
quietly broker_answers_kafka_storage_error broker=2 sender=1 partition=1
refused broker_answers_kafka_storage_error broker=2 sender=1 partition=0
refused controller_marks_replicas_offline broker=2 subject=1
quietly controller_marks_replicas_offline broker=1 subject=2
refused controller_finds_no_log_dir_event broker=1
refused controller_marks_replicas_offline broker=1 subject=1
quietly controller_reads_state broker=1 partition=1
refused controller_elects_leader broker=1 leader=1 partition=0
refused controller_finds_no_leader broker=1 partition=1
refused controller_removes_replica broker=1 replica=2 partition=1
quietly controller_elects_leader broker=1 leader=1 partition=1
quietly controller_sends_election_batch broker=1
quietly controller_reads_state broker=1 partition=0
refused controller_reads_state broker=1 partition=0
quietly controller_reads_state broker=1 partition=1
refused controller_finds_replica_not_in_isr broker=1 replica=2 partition=0
quietly controller_finds_replica_not_in_isr broker=1 replica=2 partition=1
quietly controller_removes_replica broker=1 replica=2 partition=0
quietly controller_sends_removal_batch broker=1
quietly broker_updates_metadata broker=1 sender=1
quietly broker_updates_metadata broker=2 sender=1
quietly broker_updates_metadata broker=2 sender=1
quietly broker_updates_metadata broker=2 sender=1
quietly broker_becomes_leader broker=1 sender=1 partition=1
quietly broker_updates_metadata broker=1 sender=1
refused broker_becomes_leader broker=1 sender=1 partition=1
refused older_epoch_is_refused broker=1 sender=1 partition=0
quietly broker_becomes_leader broker=1 sender=1 partition=0
quietly older_epoch_is_refused broker=1 sender=1 partition=1
refused broker_stops_fetching broker=1 sender=1
quietly broker_updates_metadata broker=1 sender=1
quietly broker_stops_fetching broker=2 sender=1
----
refused broker_answers_kafka_storage_error(broker=2, sender=1, partition=0)
    a request of the controller is next — false (cache[1][2].queue.end 0)
refused controller_sends_leader_and_isr_for_log_dirs(broker=2)
    the broker believes it is the controller — false (belief[2] 0)
refused controller_finds_no_log_dir_event(broker=1)
    its event thread is done with the last event — false (cache[1].stage looking)
refused broker_finds_leader_not_in_metadata_cache(broker=2, sender=1, partition=0)
    the partition's log directory works — false (partition[0].failed {2})
refused controller_finds_no_log_dir_event(broker=2)
    the broker believes it is the controller — false (belief[2] 0)
refused controller_finds_no_log_dir_event(broker=1)
    a LogDirEventNotification is next in its queue — false (cache.events[1][0].kind controller_change, cache[1].events.end 0)
refused broker_becomes_leader(broker=2, sender=1, partition=1)
    the partition's log directory works — false (partition[1].failed {2})
refused broker_answers_kafka_storage_error(broker=2, sender=1, partition=0)
    it names the partition — false (cache.queue[1][2][0][0].about none)
refused broker_answers_kafka_storage_error(broker=2, sender=1, partition=0)
    it is a LeaderAndIsr — false (cache.queue[1][2][0].kind update_metadata)
refused controller_marks_replicas_offline(broker=2, subject=1)
    the broker believes it is the controller — false (belief[2] 0)
refused controller_finds_no_log_dir_event(broker=1)
    its event thread is done with the last event — false (cache[1].stage electing)
refused controller_marks_replicas_offline(broker=1, subject=1)
    its event thread is done with the last event — false (cache[1].stage electing)
refused controller_elects_leader(broker=1, leader=1, partition=0)
    the partition is offline — false (partition[0][1].context.due false)
refused controller_finds_no_leader(broker=1, partition=1)
    no replica is live and in the ISR — false (cache[1].live {1,2}, cache[1].shutting {}, partition[1].replicas {1,2}, partition[1][0].state.isr {1,2}, partition[1][1].context.lost {2})
refused controller_removes_replica(broker=1, replica=2, partition=1)
    it takes replicas offline — false (cache[1].stage electing)
refused controller_reads_state(broker=1, partition=0)
    it has not read the state yet — false (partition[0][1].context.read 0)
refused controller_finds_replica_not_in_isr(broker=1, replica=2, partition=0)
    the replica is not in the ISR — false (partition[0][0].state.isr {1,2})
refused broker_becomes_leader(broker=1, sender=1, partition=1)
    the leader epoch is newer than the broker's — false (partition[1][1].replica.version 1, partition[1][1].state.epoch 1)
refused older_epoch_is_refused(broker=1, sender=1, partition=0)
    the leader epoch is not newer — false (partition[0][0].state.epoch 0, partition[0][1].state.epoch 1)
refused broker_stops_fetching(broker=1, sender=1)
    it is a StopReplica — false (cache.queue[1][1][0].kind update_metadata)

# The second failure is reported: it is no news.
quietly broker_reports_log_dir_failure broker=2
quietly controller_sends_leader_and_isr_for_log_dirs broker=1
quietly controller_finds_no_log_dir_event broker=1
quietly broker_updates_metadata broker=1 sender=1
quietly broker_answers_kafka_storage_error broker=2 sender=1 partition=0
quietly broker_answers_kafka_storage_error broker=2 sender=1 partition=1
refused controller_marks_replicas_offline broker=1 subject=2
quietly broker_updates_metadata broker=2 sender=1
refused controller_finds_log_dirs_unchanged broker=1 subject=1
refused controller_finds_log_dirs_unchanged broker=2 subject=1
quietly controller_finds_log_dirs_unchanged broker=1 subject=2
----
refused controller_marks_replicas_offline(broker=1, subject=2)
    it names a failed log directory that is news — false
refused controller_finds_log_dirs_unchanged(broker=1, subject=1)
    a response of the broker is next in its queue — false (cache.events[1][0].subject 2)
refused controller_finds_log_dirs_unchanged(broker=2, subject=1)
    the broker believes it is the controller — false (belief[2] 0)

# Broker 2 crashes, is repaired, and its directory fails once more.
quietly broker_crashes broker=2
quietly log_directory_is_repaired broker=2 partition=0
quietly session_expires broker=2
refused controller_sees_bounced_brokers broker=1
refused log_directory_fails broker=2 partition=0
quietly broker_starts broker=2
quietly controller_sees_bounced_brokers broker=1
refused controller_finds_log_dirs_unchanged broker=1 subject=1
quietly controller_reads_state broker=1 partition=0
quietly controller_finds_replica_not_in_isr broker=1 replica=2 partition=0
quietly controller_reads_state broker=1 partition=1
quietly controller_finds_replica_not_in_isr broker=1 replica=2 partition=1
quietly controller_sends_removal_batch broker=1
quietly controller_sends_update_metadata_for_dead_brokers broker=1
quietly controller_sends_update_metadata_for_new_brokers broker=1
quietly controller_brings_replicas_online broker=1
quietly controller_sends_election_batch broker=1
quietly broker_updates_metadata broker=2 sender=1
refused broker_becomes_follower broker=2 sender=1 partition=1
quietly broker_becomes_follower broker=2 sender=1 partition=0
quietly broker_answers_kafka_storage_error broker=2 sender=1 partition=1
quietly broker_updates_metadata broker=2 sender=1
quietly older_epoch_is_refused broker=1 sender=1 partition=0
quietly older_epoch_is_refused broker=1 sender=1 partition=1
quietly broker_updates_metadata broker=1 sender=1
quietly broker_updates_metadata broker=1 sender=1
quietly broker_updates_metadata broker=1 sender=1
quietly broker_updates_metadata broker=1 sender=1
quietly log_directory_fails broker=2 partition=0
quietly session_expires broker=2
refused broker_reports_log_dir_failure broker=2
quietly broker_reconnects broker=2
quietly broker_reports_log_dir_failure broker=2
refused controller_sends_leader_and_isr_for_log_dirs broker=1
----
refused controller_sees_bounced_brokers(broker=1)
    a broker has registered again — false (cache[1].stage idle)
refused log_directory_fails(broker=2, partition=0)
    the process runs — false (up {1})
refused controller_finds_log_dirs_unchanged(broker=1, subject=1)
    its event thread is done with the last event — false (cache[1].stage removing_followers)
refused broker_becomes_follower(broker=2, sender=1, partition=1)
    the partition's log directory works — false (partition[1].failed {2})
refused broker_reports_log_dir_failure(broker=2)
    it has a ZooKeeper session — false (zk.registered {1})
refused controller_sends_leader_and_isr_for_log_dirs(broker=1)
    a LogDirEventNotification is next in its queue — false (cache.events[1][0].kind leader_and_isr_response, cache.events[1][0].subject 2)

# Broker 1 is deposed before it looks.
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=2
refused controller_sends_leader_and_isr_for_log_dirs broker=1
quietly broker_learns_it_won broker=2
refused controller_sends_leader_and_isr_for_log_dirs broker=2
quietly controller_reads_context broker=2
quietly controller_sends_initial_update_metadata broker=2
quietly controller_starts_replica_state_machine broker=2
quietly controller_sends_election_batch broker=2
quietly session_expires broker=2
refused controller_sends_leader_and_isr_for_log_dirs broker=2
refused controller_finds_no_log_dir_event broker=2
----
refused controller_sends_leader_and_isr_for_log_dirs(broker=1)
    the epoch that it won is the newest — false (belief[1] 1, zk.epoch 2)
refused controller_sends_leader_and_isr_for_log_dirs(broker=2)
    its event thread is done with the last event — false (cache[2].stage starting)
refused controller_sends_leader_and_isr_for_log_dirs(broker=2)
    it has a ZooKeeper session — false (zk.registered {1})
refused controller_finds_no_log_dir_event(broker=2)
    it has a ZooKeeper session — false (zk.registered {1})
