# What is refused where only broker ids are compared, and a broker has restarted.
# Shows: the controller finds nothing to do about it (KIP-380).
system cluster version 2.3 without bounced_brokers_detected brokers 2 partitions 1 replicas 2

quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly controller_sends_initial_update_metadata broker=1
quietly controller_starts_replica_state_machine broker=1
quietly controller_sends_election_batch broker=1
quietly broker_updates_metadata broker=1 sender=1
quietly broker_updates_metadata broker=2 sender=1
quietly older_epoch_is_refused broker=1 sender=1 partition=0
quietly broker_updates_metadata broker=1 sender=1
quietly older_epoch_is_refused broker=2 sender=1 partition=0
quietly broker_updates_metadata broker=2 sender=1
quietly session_expires broker=2
refused controller_misses_bounced_brokers broker=1
quietly broker_reconnects broker=2
refused controller_misses_bounced_brokers broker=2
quietly controller_finds_no_request broker=1
quietly controller_misses_bounced_brokers broker=1
refused controller_misses_bounced_brokers broker=1
----
refused controller_misses_bounced_brokers(broker=1)
    a BrokerChange is next in its queue, or is worked on — false (cache[1].stage looking)
refused controller_misses_bounced_brokers(broker=2)
    the broker believes it is the controller — false (belief[2] 0)
refused controller_misses_bounced_brokers(broker=1)
    a BrokerChange is next in its queue, or is worked on — false (cache.events[1][0].kind controller_change, cache[1].events.end 0, cache[1].stage idle)

# A broker that is gone, and one that is new, are seen.
quietly session_expires broker=2
quietly controller_sees_dead_brokers broker=1
quietly controller_reads_state broker=1 partition=0
quietly controller_removes_replica broker=1 replica=2 partition=0
quietly controller_sends_removal_batch broker=1
quietly controller_sends_update_metadata_for_dead_brokers broker=1
quietly broker_reconnects broker=2
refused controller_misses_bounced_brokers broker=1
quietly controller_sees_new_brokers broker=1
quietly controller_sends_update_metadata_for_new_brokers broker=1
quietly controller_brings_replicas_online broker=1
quietly controller_sends_election_batch broker=1
----
refused controller_misses_bounced_brokers(broker=1)
    no registered broker is new to it — false (cache[1].live {1}, cache[1].stage idle, zk.registered {1,2})

# One has bounced, and another is gone.
quietly session_expires broker=2
quietly broker_reconnects broker=2
quietly session_expires broker=1
refused controller_misses_bounced_brokers broker=1
refused controller_sees_dead_brokers broker=1
refused controller_sees_new_brokers broker=1
----
refused controller_misses_bounced_brokers(broker=1)
    it has a ZooKeeper session — false (cache[1].stage idle, zk.registered {2})
refused controller_sees_dead_brokers(broker=1)
    it has a ZooKeeper session — false (cache[1].stage idle, zk.registered {2})
refused controller_sees_new_brokers(broker=1)
    it has a ZooKeeper session — false (cache[1].stage idle, zk.registered {2})
