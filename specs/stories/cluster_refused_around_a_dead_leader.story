# What is refused while a leader dies, another is elected, and the dead one restarts.
# Shows: the order of elections, of removals from the ISR, and of batches, each with its strategy.
system cluster version 2.3 brokers 3 partitions 1 replicas 3

quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly controller_sends_initial_update_metadata broker=2
quietly controller_starts_replica_state_machine broker=2
quietly controller_sends_election_batch broker=2
quietly broker_updates_metadata broker=1 sender=2
quietly broker_updates_metadata broker=2 sender=2
quietly broker_updates_metadata broker=3 sender=2
quietly older_epoch_is_refused broker=1 sender=2 partition=0
quietly broker_updates_metadata broker=1 sender=2
quietly older_epoch_is_refused broker=2 sender=2 partition=0
quietly broker_updates_metadata broker=2 sender=2
quietly older_epoch_is_refused broker=3 sender=2 partition=0
quietly broker_updates_metadata broker=3 sender=2
quietly broker_crashes broker=1
refused broker_changes_endpoints broker=1
refused session_ends_before_its_nodes broker=1
quietly session_expires broker=1
----
refused broker_changes_endpoints(broker=1)
    the process runs — false (up {2,3})
refused session_ends_before_its_nodes(broker=1)
    its process runs — false (up {2,3})

# Broker 1 led. The controller is broker 2.
quietly controller_finds_no_request broker=2
quietly controller_sees_dead_brokers broker=2
quietly controller_reads_state broker=2 partition=0
refused controller_elects_leader broker=2 leader=3 partition=0
quietly controller_elects_leader broker=2 leader=2 partition=0
quietly controller_sends_election_batch broker=2
quietly controller_reads_state broker=2 partition=0
refused controller_finds_replica_not_in_isr broker=1 replica=1 partition=0
quietly controller_finds_replica_not_in_isr broker=2 replica=1 partition=0
quietly controller_sends_removal_batch broker=2
----
refused controller_elects_leader(broker=2, leader=3, partition=0)
    no such replica stands before it — false (cache[2].live {2,3}, cache[2].shutting {}, partition[0].replicas {1,2,3}, partition[0][0].state.isr {1,2,3}, partition[0][2].context.lost {}, partition[0][2].place 1, partition[0][3].place 2)
refused controller_finds_replica_not_in_isr(broker=1, replica=1, partition=0)
    the broker believes it is the controller — false (belief[1] 0)

# The others are notified.
quietly broker_becomes_leader broker=2 sender=2 partition=0
quietly broker_updates_metadata broker=2 sender=2
refused leader_commits leader=2 partition=0
quietly broker_becomes_follower broker=3 sender=2 partition=0
quietly broker_updates_metadata broker=3 sender=2
refused broker_becomes_follower broker=3 sender=2 partition=0
quietly older_epoch_is_refused broker=2 sender=2 partition=0
quietly broker_updates_metadata broker=2 sender=2
quietly older_epoch_is_refused broker=3 sender=2 partition=0
quietly broker_updates_metadata broker=3 sender=2
quietly leader_commits leader=2 partition=0
----
refused leader_commits(leader=2, partition=0)
    every other ISR member fetches — false (partition[0][0].state.epoch 0, partition[0][0].state.leader 1, partition[0][1].state.epoch 1, partition[0][1].state.isr {2,3})
refused broker_becomes_follower(broker=3, sender=2, partition=0)
    the leader epoch is newer than the broker's — false (partition[0][1].state.epoch 1, partition[0][3].replica.version 1)

# Broker 1 starts again, follows, catches up, and is taken back.
quietly broker_starts broker=1
refused controller_sees_new_brokers broker=1
quietly controller_sees_new_brokers broker=2
refused controller_sends_update_metadata_for_new_brokers broker=1
quietly controller_sends_update_metadata_for_new_brokers broker=2
refused broker_finds_leader_not_in_metadata_cache broker=1 sender=2 partition=0
refused controller_brings_replicas_online broker=1
quietly controller_brings_replicas_online broker=2
quietly controller_sends_election_batch broker=2
quietly broker_updates_metadata broker=1 sender=2
refused broker_finds_leader_not_in_metadata_cache broker=1 sender=2 partition=0
quietly broker_updates_metadata broker=2 sender=2
quietly broker_updates_metadata broker=2 sender=2
quietly broker_updates_metadata broker=3 sender=2
quietly broker_updates_metadata broker=3 sender=2
quietly broker_becomes_follower broker=1 sender=2 partition=0
quietly broker_updates_metadata broker=1 sender=2
refused follower_catches_up follower=1 leader=3 partition=0
refused follower_catches_up follower=3 leader=2 partition=0
refused leader_expands_isr leader=2 replica=1 partition=0
quietly follower_catches_up follower=1 leader=2 partition=0
refused leader_expands_isr leader=1 replica=1 partition=0
refused leader_expands_isr leader=2 replica=3 partition=0
quietly leader_expands_isr leader=2 replica=1 partition=0
refused broker_reports_isr_change broker=1 partition=0
quietly broker_reports_isr_change broker=2 partition=0
refused controller_finds_no_isr_change broker=2
refused controller_reads_isr_changes broker=1
quietly controller_reads_isr_changes broker=2
refused controller_finds_no_isr_change broker=1
refused controller_reads_isr_changes broker=2
quietly controller_finds_no_isr_change broker=2
refused controller_finds_no_isr_change broker=2
quietly broker_updates_metadata broker=1 sender=2
quietly broker_updates_metadata broker=2 sender=2
quietly broker_updates_metadata broker=3 sender=2
----
refused controller_sees_new_brokers(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_sends_update_metadata_for_new_brokers(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused broker_finds_leader_not_in_metadata_cache(broker=1, sender=2, partition=0)
    it is a LeaderAndIsr — false (cache.queue[2][1][0].kind update_metadata)
refused controller_brings_replicas_online(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused broker_finds_leader_not_in_metadata_cache(broker=1, sender=2, partition=0)
    the broker does not know the leader — false (alive[1] {1,2,3}, partition[0][1].state.leader 2)
refused follower_catches_up(follower=1, leader=3, partition=0)
    the follower fetches from the leader — false (partition[0][1].state.leader 2)
refused follower_catches_up(follower=3, leader=2, partition=0)
    their logs differ in what was committed — false (partition[0].complete {2,3})
refused leader_expands_isr(leader=2, replica=1, partition=0)
    the replica has all that was committed — false (partition[0].complete {2,3})
refused leader_expands_isr(leader=1, replica=1, partition=0)
    the broker believes it leads — false (partition[0][1].state.leader 2)
refused leader_expands_isr(leader=2, replica=3, partition=0)
    the replica is not in the leader's ISR — false (partition[0][1].state.isr {2,3})
refused broker_reports_isr_change(broker=1, partition=0)
    its ISR change is not reported yet — false (partition[0][1].replica.unreported false)
refused controller_finds_no_isr_change(broker=2)
    no notification is there — false (partition[0].noted true)
refused controller_reads_isr_changes(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_finds_no_isr_change(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_reads_isr_changes(broker=2)
    a notification is there — false
refused controller_finds_no_isr_change(broker=2)
    an IsrChangeNotification is next in its queue — false (cache.events[2][0].kind controller_change, cache[2].events.end 0)

# A follower dies; the last ISR member dies after it.
quietly broker_crashes broker=3
quietly session_expires broker=3
refused controller_sees_dead_brokers broker=1
quietly controller_sees_dead_brokers broker=2
refused controller_reads_state broker=1 partition=0
quietly controller_reads_state broker=2 partition=0
quietly controller_removes_replica broker=2 replica=3 partition=0
quietly controller_sends_removal_batch broker=2
refused controller_sends_update_metadata_for_dead_brokers broker=1
quietly controller_sends_update_metadata_for_dead_brokers broker=2
refused broker_becomes_leader broker=1 sender=2 partition=0
quietly broker_becomes_leader broker=2 sender=2 partition=0
quietly broker_updates_metadata broker=2 sender=2
quietly broker_updates_metadata broker=2 sender=2
quietly broker_becomes_follower broker=1 sender=2 partition=0
quietly broker_updates_metadata broker=1 sender=2
quietly broker_updates_metadata broker=1 sender=2
----
refused controller_sees_dead_brokers(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_reads_state(broker=1, partition=0)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_sends_update_metadata_for_dead_brokers(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused broker_becomes_leader(broker=1, sender=2, partition=0)
    the request names the broker the leader — false (partition[0][3].state.leader 2)
