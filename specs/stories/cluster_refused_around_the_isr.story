# What is refused to leaders that write the ISR, and to the controller that is notified of it.
# Shows: a leader writes as its cached version says, and what it knows of its followers.
system cluster version 2.1 brokers 3 partitions 1 replicas 2

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
quietly leader_shrinks_isr leader=1 replica=2 partition=0

# Broker 2 follows. Its session lasts; it is out of the ISR already.
quietly broker_reports_isr_change broker=1 partition=0
quietly leader_commits leader=1 partition=0
refused leader_commits leader=1 partition=0
quietly controller_finds_no_request broker=3
quietly controller_reads_isr_changes broker=3
quietly controller_finds_no_isr_change broker=3
quietly session_expires broker=2
quietly controller_sees_dead_brokers broker=3
quietly controller_reads_state broker=3 partition=0
quietly controller_finds_replica_not_in_isr broker=3 replica=2 partition=0
quietly controller_sends_removal_batch broker=3
quietly controller_sends_update_metadata_for_dead_brokers broker=3
quietly broker_starts broker=2
quietly controller_sees_new_brokers broker=3
quietly controller_sends_update_metadata_for_new_brokers broker=3
quietly controller_brings_replicas_online broker=3
quietly controller_sends_election_batch broker=3
quietly broker_updates_metadata broker=1 sender=3
quietly broker_updates_metadata broker=2 sender=3
quietly broker_updates_metadata broker=3 sender=3
quietly broker_updates_metadata broker=3 sender=3
quietly broker_updates_metadata broker=3 sender=3
quietly broker_updates_metadata broker=3 sender=3
quietly broker_updates_metadata broker=3 sender=3
quietly broker_becomes_follower broker=2 sender=3 partition=0
quietly broker_updates_metadata broker=2 sender=3
quietly older_epoch_is_refused broker=1 sender=3 partition=0
quietly broker_updates_metadata broker=1 sender=3
quietly broker_updates_metadata broker=1 sender=3
quietly broker_updates_metadata broker=1 sender=3
quietly broker_updates_metadata broker=1 sender=3
----
refused leader_commits(leader=1, partition=0)
    a replica out of the ISR lacks nothing yet — false (partition[0][1].replica.version 1)

# It follows, and catches up.
quietly follower_catches_up follower=2 leader=1 partition=0

# The controller elects the preferred leader: the version that broker 1 cached is old for a while.
quietly admin_asks_for_preferred_leaders
refused controller_begins_preferred_election broker=1
quietly controller_begins_preferred_election broker=3
quietly controller_reads_state broker=3 partition=0
refused leader_isr_write_is_refused leader=1 partition=0
quietly controller_elects_preferred broker=3 leader=1 partition=0
refused controller_sends_preferred_batch broker=1
quietly controller_sends_preferred_batch broker=3
quietly controller_deletes_preferred_request broker=3
refused leader_isr_write_is_refused leader=2 partition=0
quietly leader_isr_write_is_refused leader=1 partition=0
quietly broker_updates_metadata broker=3 sender=3
refused leader_expands_isr leader=1 replica=2 partition=0
quietly broker_becomes_leader broker=1 sender=3 partition=0
quietly broker_updates_metadata broker=1 sender=3
refused leader_expands_isr leader=1 replica=2 partition=0
quietly broker_becomes_follower broker=2 sender=3 partition=0
quietly broker_updates_metadata broker=2 sender=3
quietly leader_expands_isr leader=1 replica=2 partition=0
quietly broker_reports_isr_change broker=1 partition=0
refused controller_finds_no_request broker=1
refused controller_reads_isr_changes broker=3
quietly controller_finds_no_request broker=3
quietly controller_reads_isr_changes broker=3
quietly controller_finds_no_isr_change broker=3
quietly session_expires broker=1
refused broker_reports_isr_change broker=1 partition=0
----
refused controller_begins_preferred_election(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused leader_isr_write_is_refused(leader=1, partition=0)
    the cached version is out of date — false (partition[0].version 1, partition[0][1].replica.version 1)
refused controller_sends_preferred_batch(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused leader_isr_write_is_refused(leader=2, partition=0)
    the broker believes it leads — false (partition[0][1].state.leader 1)
refused leader_expands_isr(leader=1, replica=2, partition=0)
    the cached version is current — false (partition[0].version 2, partition[0][1].replica.version 1)
refused leader_expands_isr(leader=1, replica=2, partition=0)
    the replica fetches from the leader — false (partition[0][1].state.epoch 0, partition[0][2].state.epoch 1)
refused controller_finds_no_request(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_reads_isr_changes(broker=3)
    an IsrChangeNotification is next in its queue — false (cache.events[3][0].kind preferred_election)
refused broker_reports_isr_change(broker=1, partition=0)
    it has a ZooKeeper session — false (zk.registered {2,3})
