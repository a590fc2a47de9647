# What is refused on a run through failovers, shutdowns and elections, part 4.
# Shows: guards that no other story meets first.
system cluster version 2.3 without bounced_brokers_detected brokers 2 partitions 1 replicas 2 versions 8 epoch 8 controllers 5 queue 8 events 6 endpoints 2 crashes 3 expiries 4 losses 2 shutdowns 2 requests 3 directories 1 lingering 2

quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly session_expires broker=1
quietly controller_sends_initial_update_metadata broker=2
quietly controller_starts_replica_state_machine broker=2
quietly controller_sends_election_batch broker=2
quietly controller_finds_no_request broker=2
refused controller_misses_bounced_brokers broker=2
----
refused controller_misses_bounced_brokers(broker=2)
    a broker has registered again — false (cache[2].stage idle)
