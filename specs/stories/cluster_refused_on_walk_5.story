# What is refused on a run through failovers, shutdowns and elections, part 5.
# Shows: guards that no other story meets first.
system cluster version 2.3 without events_dropped brokers 2 partitions 1 replicas 2 versions 8 epoch 8 controllers 5 queue 8 events 6 endpoints 2 crashes 3 expiries 4 losses 2 shutdowns 2 requests 3 directories 1 lingering 2

quietly broker_crashes broker=1
quietly broker_becomes_controller broker=2
quietly reply_to_registration_is_lost broker=2
quietly controller_node_is_deleted
quietly broker_loses_controller_election broker=2
quietly broker_becomes_controller broker=2
quietly broker_changes_endpoints broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly broker_asks_for_controlled_shutdown broker=2
quietly controller_sends_initial_update_metadata broker=2
quietly shutdown_request_arrives broker=2 subject=2
quietly controller_starts_replica_state_machine broker=2
quietly controller_sends_election_batch broker=2
quietly controller_finds_no_request broker=2
refused controller_resigns_and_keeps_its_queue broker=2
----
refused controller_resigns_and_keeps_its_queue(broker=2)
    /controller is not its own any more — false (zk.controller 2)
