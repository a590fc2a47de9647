# What is refused on a run through failovers, shutdowns and elections, part 6.
# Shows: guards that no other story meets first.
system cluster version 2.3 brokers 3 partitions 1 replicas 3 versions 8 epoch 8 controllers 5 queue 8 events 6 endpoints 2 crashes 3 expiries 4 losses 2 shutdowns 2 requests 3 directories 1 lingering 2

quietly broker_becomes_controller broker=3
quietly broker_learns_it_won broker=3
quietly controller_reads_context broker=3
quietly controller_sends_initial_update_metadata broker=3
quietly controller_starts_replica_state_machine broker=3
quietly broker_updates_metadata broker=2 sender=3
quietly session_ends_before_its_nodes broker=3
quietly older_epoch_is_refused broker=2 sender=3 partition=0
quietly broker_changes_endpoints broker=2
quietly broker_updates_metadata broker=1 sender=3
quietly broker_updates_metadata broker=2 sender=3
quietly broker_asks_for_controlled_shutdown broker=3
quietly node_of_expired_session_is_deleted broker=3
quietly older_epoch_is_refused broker=1 sender=3 partition=0
quietly shutdown_request_arrives broker=3 subject=3
quietly broker_reconnects broker=3
quietly session_expires broker=2
quietly broker_reconnects broker=2
quietly broker_becomes_controller broker=1
quietly broker_changes_endpoints broker=3
quietly session_ends_before_its_nodes broker=1
quietly broker_changes_endpoints broker=3
quietly broker_replaces_its_old_registration broker=1
quietly log_directory_fails broker=3 partition=0
quietly leader_shrinks_isr leader=1 replica=3 partition=0
quietly leader_commits leader=1 partition=0
quietly broker_changes_endpoints broker=1
quietly broker_reports_log_dir_failure broker=3
quietly broker_becomes_controller broker=1
quietly broker_reports_isr_change broker=1 partition=0
quietly broker_changes_endpoints broker=2
quietly session_expires broker=1
quietly broker_becomes_controller broker=2
quietly broker_reconnects broker=1
quietly reply_to_registration_is_lost broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly broker_asks_for_controlled_shutdown broker=1
quietly shutdown_request_arrives broker=2 subject=1
quietly controller_sends_initial_update_metadata broker=2
quietly broker_updates_metadata broker=3 sender=2
quietly controller_starts_replica_state_machine broker=2
quietly broker_updates_metadata broker=1 sender=2
quietly older_epoch_is_refused broker=1 sender=2 partition=0
quietly broker_answers_kafka_storage_error broker=3 sender=2 partition=0
quietly broker_updates_metadata broker=1 sender=2
quietly controller_sends_election_batch broker=2
quietly controller_finds_no_request broker=2
quietly broker_updates_metadata broker=3 sender=2
quietly controller_finds_no_log_dir_event broker=2
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=3
quietly broker_updates_metadata broker=2 sender=2
quietly session_expires broker=1
quietly broker_learns_it_won broker=3
quietly controller_reads_context broker=3
quietly older_epoch_is_refused broker=2 sender=2 partition=0
quietly broker_updates_metadata broker=2 sender=2
quietly controller_finds_no_isr_change broker=2
quietly controller_begins_controlled_shutdown broker=2 subject=1
quietly controller_sends_initial_update_metadata broker=3
quietly controller_starts_replica_state_machine broker=3
quietly controller_reads_state broker=3 partition=0
quietly broker_updates_metadata broker=2 sender=3
quietly admin_asks_for_preferred_leaders
quietly older_epoch_is_refused broker=2 sender=3 partition=0
quietly controller_removes_replica broker=3 replica=1 partition=0
quietly broker_reconnects broker=1
quietly broker_updates_metadata broker=2 sender=3
quietly broker_updates_metadata broker=3 sender=3
quietly controller_reads_state broker=2 partition=0
quietly controller_finds_a_newer_controller broker=2 partition=0
quietly controller_sends_shutdown_batch broker=2
quietly broker_answers_kafka_storage_error broker=3 sender=3 partition=0
quietly controller_stops_follower broker=2
quietly controller_sends_removal_batch broker=3
quietly broker_updates_metadata broker=3 sender=3
quietly broker_finds_leader_not_in_metadata_cache broker=2 sender=3 partition=0
quietly broker_crashes broker=3
quietly controller_answers_shutdown broker=2
quietly controller_marks_replicas_offline broker=2 subject=3
quietly log_directory_is_repaired broker=3 partition=0
quietly controller_reads_state broker=2 partition=0
quietly controller_finds_a_newer_controller broker=2 partition=0
quietly controller_sends_election_batch broker=2
quietly controller_reads_state broker=2 partition=0
refused controller_finds_replica_not_in_isr broker=2 replica=3 partition=0
----
refused controller_finds_replica_not_in_isr(broker=2, replica=3, partition=0)
    no newer controller has written the state — false (belief[2] 4, partition[0][2].state.controller 5)
