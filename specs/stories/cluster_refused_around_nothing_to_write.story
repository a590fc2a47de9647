# What is refused where the state has changed since it was read, and nothing was to be written.
# Shows: nobody of the ISR that was read is alive for the controller: it has no conflict either.
system cluster version 2.3 brokers 3 partitions 1 replicas 2

quietly broker_becomes_controller broker=3
quietly broker_learns_it_won broker=3
quietly controller_reads_context broker=3
quietly controller_sends_initial_update_metadata broker=3
quietly controller_starts_replica_state_machine broker=3
quietly controller_sends_election_batch broker=3
quietly broker_updates_metadata broker=1 sender=3
quietly broker_updates_metadata broker=2 sender=3
quietly broker_updates_metadata broker=3 sender=3
quietly broker_updates_metadata broker=3 sender=3
quietly older_epoch_is_refused broker=1 sender=3 partition=0
quietly broker_updates_metadata broker=1 sender=3
quietly older_epoch_is_refused broker=2 sender=3 partition=0
quietly broker_updates_metadata broker=2 sender=3
quietly broker_crashes broker=2
refused leader_shrinks_isr leader=1 replica=3 partition=0
quietly leader_shrinks_isr leader=1 replica=2 partition=0
refused broker_reports_isr_change broker=2 partition=0
quietly broker_reports_isr_change broker=1 partition=0
quietly session_expires broker=2
quietly broker_starts broker=2
refused controller_sees_bounced_brokers broker=3
quietly controller_finds_no_request broker=3
quietly controller_reads_isr_changes broker=3
refused controller_sees_bounced_brokers broker=1
quietly controller_sees_bounced_brokers broker=3
refused controller_reads_isr_changes broker=3
quietly controller_reads_state broker=3 partition=0
quietly controller_finds_replica_not_in_isr broker=3 replica=2 partition=0
quietly controller_sends_removal_batch broker=3
quietly controller_sends_update_metadata_for_dead_brokers broker=3
quietly controller_sends_update_metadata_for_new_brokers broker=3
quietly controller_brings_replicas_online broker=3
refused controller_finds_no_isr_change broker=3
quietly controller_sends_election_batch broker=3
quietly controller_finds_no_isr_change broker=3
quietly broker_updates_metadata broker=1 sender=3
quietly broker_updates_metadata broker=2 sender=3
quietly broker_updates_metadata broker=3 sender=3
quietly broker_updates_metadata broker=3 sender=3
quietly broker_updates_metadata broker=3 sender=3
quietly broker_updates_metadata broker=3 sender=3
refused broker_becomes_follower broker=3 sender=3 partition=0
quietly broker_updates_metadata broker=3 sender=3
refused broker_becomes_follower broker=3 sender=3 partition=0
quietly broker_becomes_follower broker=2 sender=3 partition=0
quietly broker_updates_metadata broker=2 sender=3
quietly older_epoch_is_refused broker=1 sender=3 partition=0
quietly broker_updates_metadata broker=1 sender=3
quietly broker_updates_metadata broker=1 sender=3
refused leader_expands_isr leader=1 replica=2 partition=0
quietly broker_updates_metadata broker=1 sender=3
quietly broker_updates_metadata broker=1 sender=3
----
refused leader_shrinks_isr(leader=1, replica=3, partition=0)
    the replica is in the leader's ISR — false (partition[0][0].state.isr {1,2})
refused broker_reports_isr_change(broker=2, partition=0)
    its process runs — false (up {1,3})
refused controller_sees_bounced_brokers(broker=3)
    a BrokerChange is next in its queue, or is worked on — false (cache.events[3][0].kind isr_change, cache[3].stage looking)
refused controller_sees_bounced_brokers(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_reads_isr_changes(broker=3)
    its event thread is done with the last event — false (cache[3].stage removing_followers)
refused controller_finds_no_isr_change(broker=3)
    its event thread is done with the last event — false (cache[3].stage electing)
refused broker_becomes_follower(broker=3, sender=3, partition=0)
    it is a LeaderAndIsr — false (cache.queue[3][3][0].kind update_metadata)
refused broker_becomes_follower(broker=3, sender=3, partition=0)
    a request of the controller is next — false (cache[3][3].queue.end 0)
refused leader_expands_isr(leader=1, replica=2, partition=0)
    the leader knows the replica to be alive — false (alive[1] {1,3})

# Broker 2 follows again, out of the ISR. The controller loses sight of broker 1, the leader.
quietly session_expires broker=1
quietly controller_sees_dead_brokers broker=3
refused controller_finds_no_leader broker=3 partition=0
quietly controller_reads_state broker=3 partition=0
refused controller_finds_no_other_isr_member broker=3 partition=0
refused leader_expands_isr leader=1 replica=2 partition=0
quietly broker_reconnects broker=1
refused leader_expands_isr leader=1 replica=3 partition=0
quietly leader_expands_isr leader=1 replica=2 partition=0
refused controller_finds_no_leader broker=1 partition=0
refused controller_write_conflicts broker=3 partition=0
----
refused controller_finds_no_leader(broker=3, partition=0)
    it has read the state — false (partition[0][3].context.read none)
refused controller_finds_no_other_isr_member(broker=3, partition=0)
    it moves what a leaving broker leads — false (cache[3].stage electing)
refused leader_expands_isr(leader=1, replica=2, partition=0)
    it has a ZooKeeper session — false (zk.registered {2,3})
refused leader_expands_isr(leader=1, replica=3, partition=0)
    the replica is assigned — false (partition[0].replicas {1,2})
refused controller_finds_no_leader(broker=1, partition=0)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_write_conflicts(broker=3, partition=0)
    there is something to write — false (cache[3].stage electing, partition[0][3].context.read 1)

# Broker 1 is back, and took broker 2 into the ISR.
quietly controller_finds_no_leader broker=3 partition=0
refused controller_finds_no_leader broker=3 partition=0
quietly controller_sends_election_batch broker=3
quietly controller_reads_state broker=3 partition=0
quietly controller_removes_replica broker=3 replica=1 partition=0
quietly controller_sends_removal_batch broker=3
refused broker_becomes_follower broker=2 sender=3 partition=0
----
refused controller_finds_no_leader(broker=3, partition=0)
    the partition is offline — false (partition[0][3].context.due false)
refused broker_becomes_follower(broker=2, sender=3, partition=0)
    the broker knows the leader to be alive — false (partition[0][3].state.leader none)
