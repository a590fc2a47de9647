# What is refused on a run through failovers, shutdowns and elections, part 3.
# Shows: guards that no other story meets first.
system cluster version 2.3 brokers 2 partitions 1 replicas 2 versions 8 epoch 8 controllers 5 queue 8 events 6 endpoints 2 crashes 3 expiries 4 losses 2 shutdowns 2 requests 3 directories 1 lingering 2

quietly broker_becomes_controller broker=1
quietly session_ends_before_its_nodes broker=2
quietly reply_to_registration_is_lost broker=1
quietly broker_asks_for_controlled_shutdown broker=2
quietly node_of_expired_session_is_deleted broker=2
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly shutdown_request_arrives broker=1 subject=2
quietly broker_reconnects broker=2
quietly log_directory_fails broker=1 partition=0
quietly session_ends_before_its_nodes broker=2
quietly broker_reports_log_dir_failure broker=1
quietly node_of_expired_session_is_deleted broker=2
quietly controller_sends_initial_update_metadata broker=1
quietly controller_starts_replica_state_machine broker=1
quietly broker_updates_metadata broker=1 sender=1
quietly broker_reconnects broker=2
quietly controller_reads_state broker=1 partition=0
quietly broker_answers_kafka_storage_error broker=1 sender=1 partition=0
quietly broker_updates_metadata broker=1 sender=1
quietly session_expires broker=2
quietly controller_removes_replica broker=1 replica=2 partition=0
quietly controller_sends_removal_batch broker=1
quietly controller_sends_election_batch broker=1
quietly controller_finds_no_request broker=1
quietly broker_answers_kafka_storage_error broker=1 sender=1 partition=0
quietly controller_refuses_controlled_shutdown broker=1 subject=2
refused controller_sees_dead_brokers broker=1
----
refused controller_sees_dead_brokers(broker=1)
    a broker that it counts as live is not registered — false (cache[1].stage idle)
