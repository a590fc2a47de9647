# What is refused on a run through failovers, shutdowns and elections, part 7.
# Shows: guards that no other story meets first.
system cluster version 2.3 without bounced_brokers_detected brokers 3 partitions 1 replicas 2 versions 8 epoch 8 controllers 5 queue 8 events 6 endpoints 2 crashes 3 expiries 4 losses 2 shutdowns 2 requests 3 directories 1 lingering 2

quietly log_directory_fails broker=1 partition=0
quietly broker_becomes_controller broker=3
quietly broker_learns_it_won broker=3
quietly controller_reads_context broker=3
quietly controller_sends_initial_update_metadata broker=3
quietly broker_updates_metadata broker=2 sender=3
quietly broker_updates_metadata broker=3 sender=3
quietly session_expires broker=1
quietly controller_starts_replica_state_machine broker=3
quietly session_ends_before_its_nodes broker=2
quietly broker_updates_metadata broker=3 sender=3
quietly controller_sends_election_batch broker=3
quietly node_of_expired_session_is_deleted broker=2
quietly broker_reconnects broker=1
quietly controller_finds_no_request broker=3
refused controller_misses_bounced_brokers broker=3
----
refused controller_misses_bounced_brokers(broker=3)
    every broker that it counts as live is registered — false (cache[3].dead {}, cache[3].live {1,2,3}, cache[3].stage idle, zk.registered {1,3})
