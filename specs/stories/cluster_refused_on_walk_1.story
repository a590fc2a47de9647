# What is refused on a run through failovers, shutdowns and elections, part 1.
# Shows: guards that no other story meets first.
system cluster version 2.3 brokers 3 partitions 1 replicas 3 versions 8 epoch 8 controllers 5 queue 8 events 6 endpoints 2 crashes 3 expiries 4 losses 2 shutdowns 2 requests 3 directories 1 lingering 2

refused leader_isr_write_is_refused leader=1 partition=0
refused controller_skips_isr_removal broker=1 replica=1 partition=0
quietly broker_becomes_controller broker=3
quietly broker_learns_it_won broker=3
refused controller_skips_isr_removal broker=3 replica=1 partition=0
quietly controller_node_is_deleted
quietly session_ends_before_its_nodes broker=3
quietly broker_becomes_controller broker=1
refused controller_write_is_fenced broker=3
quietly broker_learns_it_won broker=1
quietly broker_crashes broker=3
quietly leader_shrinks_isr leader=1 replica=3 partition=0
quietly broker_crashes broker=1
quietly node_of_expired_session_is_deleted broker=3
quietly session_ends_before_its_nodes broker=2
quietly node_of_expired_session_is_deleted broker=2
quietly broker_starts broker=3
quietly broker_reconnects broker=2
quietly broker_crashes broker=2
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=3
quietly session_expires broker=1
quietly broker_starts broker=1
quietly broker_changes_endpoints broker=3
quietly broker_changes_endpoints broker=3
quietly log_directory_fails broker=1 partition=0
quietly broker_learns_it_won broker=3
quietly broker_changes_endpoints broker=1
quietly controller_reads_context broker=3
quietly controller_sends_initial_update_metadata broker=3
quietly admin_asks_for_preferred_leaders
quietly rebalance_timer_fires broker=3
quietly broker_asks_for_controlled_shutdown broker=3
quietly broker_reports_log_dir_failure broker=1
quietly broker_changes_endpoints broker=1
quietly shutdown_request_arrives broker=3 subject=3
quietly session_expires broker=2
quietly controller_starts_replica_state_machine broker=3
quietly broker_updates_metadata broker=3 sender=3
quietly broker_starts broker=2
quietly broker_becomes_follower broker=3 sender=3 partition=0
quietly controller_sends_election_batch broker=3
quietly controller_begins_preferred_election broker=3
quietly broker_updates_metadata broker=1 sender=3
quietly controller_sends_preferred_batch broker=3
quietly controller_deletes_preferred_request broker=3
refused controller_reads_endpoints broker=3 subject=1
refused controller_begins_controlled_shutdown broker=3 subject=1
refused controller_finds_no_imbalance broker=3
quietly controller_finds_no_request broker=3
refused controller_begins_rebalance broker=3
quietly controller_finds_no_imbalance broker=3
refused controller_finds_no_log_dir_event broker=3
quietly broker_updates_metadata broker=3 sender=3
quietly controller_sends_leader_and_isr_for_log_dirs broker=3
quietly broker_answers_kafka_storage_error broker=1 sender=3 partition=0
quietly broker_updates_metadata broker=1 sender=3
quietly broker_updates_metadata broker=3 sender=3
quietly admin_asks_for_preferred_leaders
quietly broker_asks_for_controlled_shutdown broker=1
quietly broker_answers_kafka_storage_error broker=1 sender=3 partition=0
quietly broker_updates_metadata broker=1 sender=3
quietly controller_reads_endpoints broker=3 subject=1
refused controller_refuses_controlled_shutdown broker=3 subject=3
quietly controller_begins_controlled_shutdown broker=3 subject=3
quietly broker_updates_metadata broker=1 sender=3
quietly shutdown_request_arrives broker=3 subject=1
quietly broker_updates_metadata broker=3 sender=3
quietly broker_changes_endpoints broker=2
quietly controller_stops_follower broker=3
refused controller_skips_isr_removal broker=3 replica=1 partition=0
refused controller_skips_isr_removal broker=3 replica=3 partition=0
quietly broker_stops_fetching broker=3 sender=3
quietly controller_reads_state broker=3 partition=0
refused controller_skips_isr_removal broker=3 replica=3 partition=0
quietly controller_finds_replica_not_in_isr broker=3 replica=3 partition=0
quietly broker_changes_endpoints broker=2
quietly controller_sends_removal_batch broker=3
quietly broker_updates_metadata broker=3 sender=3
quietly controller_answers_shutdown broker=3
refused controller_sees_dead_brokers broker=3
refused controller_finds_brokers_unchanged broker=3
quietly controller_sees_bounced_brokers broker=3
quietly broker_stops_fetching broker=3 sender=3
quietly broker_answers_kafka_storage_error broker=1 sender=3 partition=0
quietly broker_stops broker=3
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly broker_starts broker=3
quietly controller_reads_context broker=1
quietly controller_sends_initial_update_metadata broker=1
quietly broker_updates_metadata broker=1 sender=1
quietly broker_updates_metadata broker=3 sender=1
quietly broker_updates_metadata broker=2 sender=1
quietly controller_starts_replica_state_machine broker=1
quietly controller_sends_election_batch broker=1
quietly controller_begins_preferred_election broker=1
quietly broker_becomes_follower broker=3 sender=1 partition=0
quietly broker_becomes_follower broker=2 sender=1 partition=0
quietly broker_answers_kafka_storage_error broker=1 sender=1 partition=0
quietly controller_sends_preferred_batch broker=1
quietly broker_updates_metadata broker=3 sender=1
quietly broker_updates_metadata broker=1 sender=1
quietly controller_deletes_preferred_request broker=1
refused controller_resigns broker=1
----
refused leader_isr_write_is_refused(leader=1, partition=0)
    a replica is to leave the ISR, or to join it — false (partition[0][0].state.epoch 0, partition[0][0].state.leader 1, partition[0][1].replica.version 0, up {1,2,3})
refused controller_skips_isr_removal(broker=1, replica=1, partition=0)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_skips_isr_removal(broker=3, replica=1, partition=0)
    it takes replicas offline — false (cache[3].stage starting)
refused controller_write_is_fenced(broker=3)
    it is about to write — false (belief[3] 1, cache.events[3][0].kind controller_change, cache[3].stage starting)
refused controller_reads_endpoints(broker=3, subject=1)
    a BrokerModifications of the broker is next in its queue — false (cache.events[3][0].kind preferred_election, cache.events[3][0].subject none)
refused controller_begins_controlled_shutdown(broker=3, subject=1)
    a ControlledShutdown of the broker is next in its queue — false (cache.events[3][0].kind preferred_election, cache.events[3][0].subject none)
refused controller_finds_no_imbalance(broker=3)
    the timer's event is next in its queue — false (cache.events[3][0].kind preferred_election)
refused controller_begins_rebalance(broker=3)
    a partition is led by another than preferred — false
refused controller_finds_no_log_dir_event(broker=3)
    no notification is there — false (zk.log_dir_events {1})
refused controller_refuses_controlled_shutdown(broker=3, subject=3)
    the controller does not know the sender — false (cache[3].live {1,2,3}, cache[3].reached {1,3}, former {})
refused controller_skips_isr_removal(broker=3, replica=1, partition=0)
    the replica is to go offline — false (partition[0][3].context.gone {3})
refused controller_skips_isr_removal(broker=3, replica=3, partition=0)
    it has read the state — false (partition[0][3].context.read none)
refused controller_skips_isr_removal(broker=3, replica=3, partition=0)
    a newer controller has written the state — false (belief[3] 3, partition[0][1].state.controller 0)
refused controller_sees_dead_brokers(broker=3)
    no broker has registered again — false (cache[3].bounced {}, cache[3].live {1,2,3}, cache[3].reached {1,3}, cache[3].stage idle, zk.registered {1,2,3})
refused controller_finds_brokers_unchanged(broker=3)
    no broker has registered again — false (cache[3].bounced {}, cache[3].live {1,2,3}, cache[3].reached {1,3}, cache[3].stage idle, zk.registered {1,2,3})
refused controller_resigns(broker=1)
    a ControllerChange is next in its queue — false (cache.events[1][0].kind leader_and_isr_response, cache.events[1][0].subject 1)
