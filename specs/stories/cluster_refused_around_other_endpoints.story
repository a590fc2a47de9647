# What is refused while brokers change their endpoints.
# Shows: who watches is notified, reads what is there by then, and may find nothing new.
system cluster version 2.3 brokers 2 partitions 1 replicas 2

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
quietly broker_changes_endpoints broker=2
refused controller_reads_endpoints broker=1 subject=1
refused controller_reads_endpoints broker=2 subject=1
quietly controller_finds_no_request broker=1
quietly controller_reads_endpoints broker=1 subject=2
quietly broker_updates_metadata broker=1 sender=1
quietly broker_updates_metadata broker=2 sender=1
----
refused controller_reads_endpoints(broker=1, subject=1)
    its event thread is done with the last event — false (cache[1].stage looking)
refused controller_reads_endpoints(broker=2, subject=1)
    the broker believes it is the controller — false (belief[2] 0)

# Broker 2 changes them, and is gone when the controller looks.
quietly broker_changes_endpoints broker=2
refused controller_finds_endpoints_unchanged broker=1 subject=2
refused controller_finds_endpoints_unchanged broker=2 subject=1
quietly session_expires broker=2
refused controller_finds_endpoints_unchanged broker=1 subject=1
refused controller_reads_endpoints broker=1 subject=2
quietly controller_finds_endpoints_unchanged broker=1 subject=2
quietly controller_sees_dead_brokers broker=1
refused controller_finds_endpoints_unchanged broker=1 subject=1
quietly controller_reads_state broker=1 partition=0
quietly controller_removes_replica broker=1 replica=2 partition=0
quietly controller_sends_removal_batch broker=1
refused controller_reads_endpoints broker=1 subject=1
quietly controller_sends_update_metadata_for_dead_brokers broker=1
refused broker_changes_endpoints broker=2
----
refused controller_finds_endpoints_unchanged(broker=1, subject=2)
    the broker is gone, or its endpoints are the same — false (cache[1].live {1,2}, cache[1][2].endpoints 1, zk.registered {1,2}, zk[2].endpoints 2)
refused controller_finds_endpoints_unchanged(broker=2, subject=1)
    the broker believes it is the controller — false (belief[2] 0)
refused controller_finds_endpoints_unchanged(broker=1, subject=1)
    a BrokerModifications of the broker is next in its queue — false (cache.events[1][0].subject 2)
refused controller_reads_endpoints(broker=1, subject=2)
    the broker's endpoints are others by now — false (zk.registered {1})
refused controller_finds_endpoints_unchanged(broker=1, subject=1)
    its event thread is done with the last event — false (cache[1].stage removing_followers)
refused controller_reads_endpoints(broker=1, subject=1)
    its event thread is done with the last event — false (cache[1].stage notifying)
refused broker_changes_endpoints(broker=2)
    it is registered — false (zk.registered {1})

# Broker 1 hears of its own change, and then that it is not the controller any more.
quietly broker_changes_endpoints broker=1
quietly controller_node_is_deleted
refused controller_resigns broker=1
quietly controller_reads_endpoints broker=1 subject=1
quietly controller_resigns broker=1
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly controller_sends_initial_update_metadata broker=1
quietly controller_starts_replica_state_machine broker=1
quietly controller_reads_state broker=1 partition=0
quietly controller_finds_replica_not_in_isr broker=1 replica=2 partition=0
quietly controller_sends_removal_batch broker=1
quietly controller_sends_election_batch broker=1
refused session_ends_before_its_nodes broker=2
quietly session_ends_before_its_nodes broker=1
refused broker_changes_endpoints broker=1
quietly broker_crashes broker=1
----
refused controller_resigns(broker=1)
    a ControllerChange is next in its queue — false (cache.events[1][0].kind broker_modification, cache.events[1][0].subject 1)
refused session_ends_before_its_nodes(broker=2)
    the broker is registered — false (zk.registered {1})
refused broker_changes_endpoints(broker=1)
    its node is that of its session — false (zk.outlived {1})
