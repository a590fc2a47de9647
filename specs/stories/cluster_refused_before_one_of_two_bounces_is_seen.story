# What is refused where one broker is gone, and another has restarted unnoticed.
# Shows: the first is taken up, the second is passed over with it.
system cluster version 2.3 without bounced_brokers_detected brokers 3 partitions 1 replicas 2

quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly controller_sends_initial_update_metadata broker=1
quietly controller_starts_replica_state_machine broker=1
quietly controller_sends_election_batch broker=1
quietly broker_updates_metadata broker=1 sender=1
quietly broker_updates_metadata broker=2 sender=1
quietly broker_updates_metadata broker=3 sender=1
quietly broker_updates_metadata broker=3 sender=1
quietly older_epoch_is_refused broker=1 sender=1 partition=0
quietly broker_updates_metadata broker=1 sender=1
quietly older_epoch_is_refused broker=2 sender=1 partition=0
quietly broker_updates_metadata broker=2 sender=1
quietly session_expires broker=2
quietly broker_reconnects broker=2
refused controller_sees_dead_brokers broker=1
quietly session_expires broker=3
refused controller_misses_bounced_brokers broker=1
quietly controller_finds_no_request broker=1
quietly controller_sees_dead_brokers broker=1
quietly controller_sends_removal_batch broker=1
quietly controller_sends_update_metadata_for_dead_brokers broker=1
quietly broker_updates_metadata broker=1 sender=1
quietly broker_updates_metadata broker=2 sender=1
----
refused controller_sees_dead_brokers(broker=1)
    a BrokerChange is next in its queue, or is worked on — false (cache[1].stage looking)
refused controller_misses_bounced_brokers(broker=1)
    a BrokerChange is next in its queue, or is worked on — false (cache[1].stage looking)
