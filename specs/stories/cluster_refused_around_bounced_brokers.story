# What is refused while brokers start, stop, and restart before the controller notices.
# Shows: one BrokerChange reads once, and takes up who is new, who bounced and who died.
system cluster version 2.3 brokers 3 partitions 1 replicas 2

refused controller_removes_replica broker=1 replica=1 partition=0
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
refused controller_finds_brokers_unchanged broker=1
quietly session_expires broker=3
refused controller_sees_dead_brokers broker=1
quietly controller_finds_no_request broker=1
quietly controller_sees_bounced_brokers broker=1
refused controller_removes_replica broker=1 replica=2 partition=0
quietly controller_reads_state broker=1 partition=0
refused controller_removes_replica broker=1 replica=1 partition=0
refused controller_sends_removal_batch broker=1
quietly controller_removes_replica broker=1 replica=2 partition=0
refused controller_sends_update_metadata_for_dead_brokers broker=1
quietly controller_sends_removal_batch broker=1
refused controller_sends_update_metadata_for_new_brokers broker=1
quietly controller_sends_update_metadata_for_dead_brokers broker=1
refused controller_brings_replicas_online broker=1
quietly controller_sends_update_metadata_for_new_brokers broker=1
quietly controller_brings_replicas_online broker=1
refused controller_sees_dead_brokers broker=1
quietly controller_sends_election_batch broker=1
refused controller_finds_brokers_unchanged broker=1
quietly controller_sees_dead_brokers broker=1
quietly controller_sends_removal_batch broker=1
quietly controller_sends_update_metadata_for_dead_brokers broker=1
----
refused controller_removes_replica(broker=1, replica=1, partition=0)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_finds_brokers_unchanged(broker=1)
    a BrokerChange is next in its queue, or is worked on — false (cache[1].stage looking)
refused controller_sees_dead_brokers(broker=1)
    a BrokerChange is next in its queue, or is worked on — false (cache[1].stage looking)
refused controller_removes_replica(broker=1, replica=2, partition=0)
    it has read the state — false (partition[0][1].context.read none)
refused controller_removes_replica(broker=1, replica=1, partition=0)
    the replica is to go offline — false (partition[0][1].context.gone {2})
refused controller_sends_removal_batch(broker=1)
    no replica waits for it — false (partition[0][1].context.gone {2})
refused controller_sends_update_metadata_for_dead_brokers(broker=1)
    replicas that did not lead went offline — false (cache[1].stage removing_followers)
refused controller_sends_update_metadata_for_new_brokers(broker=1)
    brokers have started — false (cache[1].stage notifying)
refused controller_brings_replicas_online(broker=1)
    brokers have started, and all are notified — false (cache[1].stage announcing_new)
refused controller_sees_dead_brokers(broker=1)
    a BrokerChange is next in its queue, or is worked on — false (cache.events[1][0].kind controller_change, cache[1].events.end 0, cache[1].stage electing)
refused controller_finds_brokers_unchanged(broker=1)
    every broker that it counts as live is registered — false (cache[1].dead {3}, cache[1].live {1,2,3}, cache[1].stage comparing, zk.registered {1,2})

# All that changed is changed back.
quietly broker_reconnects broker=3
refused controller_finds_brokers_unchanged broker=1
refused controller_sees_bounced_brokers broker=1
quietly session_expires broker=3
refused controller_finds_brokers_unchanged broker=2
refused controller_sees_new_brokers broker=1
quietly controller_finds_brokers_unchanged broker=1
refused controller_finds_brokers_unchanged broker=1
quietly broker_reconnects broker=3
quietly session_expires broker=2
refused controller_sees_dead_brokers broker=1
quietly controller_sees_new_brokers broker=1
quietly controller_sends_update_metadata_for_new_brokers broker=1
quietly controller_brings_replicas_online broker=1
quietly controller_sends_election_batch broker=1
quietly controller_sees_dead_brokers broker=1
refused controller_finds_replica_not_in_isr broker=1 replica=2 partition=0
quietly controller_reads_state broker=1 partition=0
refused controller_finds_replica_not_in_isr broker=1 replica=3 partition=0
quietly controller_finds_replica_not_in_isr broker=1 replica=2 partition=0
quietly broker_updates_metadata broker=3 sender=1
quietly broker_becomes_leader broker=1 sender=1 partition=0
quietly broker_updates_metadata broker=1 sender=1
quietly broker_updates_metadata broker=1 sender=1
quietly broker_updates_metadata broker=1 sender=1
quietly broker_updates_metadata broker=1 sender=1
quietly broker_updates_metadata broker=1 sender=1
quietly broker_updates_metadata broker=1 sender=1
----
refused controller_finds_brokers_unchanged(broker=1)
    no registered broker is new to it — false (cache[1].live {1,2}, cache[1].stage idle, zk.registered {1,2,3})
refused controller_sees_bounced_brokers(broker=1)
    no registered broker is new to it — false (cache[1].live {1,2}, cache[1].stage idle, zk.registered {1,2,3})
refused controller_finds_brokers_unchanged(broker=2)
    the broker believes it is the controller — false (belief[2] 0)
refused controller_sees_new_brokers(broker=1)
    a registered broker is new to it — false (cache[1].stage idle)
refused controller_finds_brokers_unchanged(broker=1)
    a BrokerChange is next in its queue, or is worked on — false (cache.events[1][0].kind controller_change, cache[1].events.end 0, cache[1].stage idle)
refused controller_sees_dead_brokers(broker=1)
    no registered broker is new to it — false (cache[1].live {1,2}, cache[1].stage idle, zk.registered {1,3})
refused controller_finds_replica_not_in_isr(broker=1, replica=2, partition=0)
    it has read the state — false (partition[0][1].context.read none)
refused controller_finds_replica_not_in_isr(broker=1, replica=3, partition=0)
    the replica is to go offline — false (partition[0][1].context.gone {2})
