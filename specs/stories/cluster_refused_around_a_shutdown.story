# What is refused during controlled shutdowns.
# Shows: who asked is known, what it leads is moved, and it may go when it leads nothing any more.
system cluster version 2.3 brokers 3 partitions 1 replicas 3

refused controller_moves_leader broker=1 leader=1 partition=0
quietly broker_becomes_controller broker=3
quietly broker_learns_it_won broker=3
quietly controller_reads_context broker=3
quietly controller_sends_initial_update_metadata broker=3
quietly controller_starts_replica_state_machine broker=3
quietly controller_sends_election_batch broker=3
quietly broker_updates_metadata broker=1 sender=3
quietly broker_updates_metadata broker=2 sender=3
quietly broker_updates_metadata broker=3 sender=3
quietly older_epoch_is_refused broker=1 sender=3 partition=0
quietly broker_updates_metadata broker=1 sender=3
quietly older_epoch_is_refused broker=2 sender=3 partition=0
quietly broker_updates_metadata broker=2 sender=3
quietly older_epoch_is_refused broker=3 sender=3 partition=0
quietly broker_updates_metadata broker=3 sender=3
quietly broker_asks_for_controlled_shutdown broker=1
refused broker_asks_for_controlled_shutdown broker=1
refused shutdown_request_arrives broker=1 subject=1
quietly shutdown_request_arrives broker=3 subject=1
refused controller_begins_controlled_shutdown broker=1 subject=1
quietly controller_finds_no_request broker=3
quietly controller_begins_controlled_shutdown broker=3 subject=1
refused controller_moves_leader broker=3 leader=1 partition=0
----
refused controller_moves_leader(broker=1, leader=1, partition=0)
    the broker believes it is the controller — false (belief[1] 0)
refused broker_asks_for_controlled_shutdown(broker=1)
    it was not to be stopped — false (leaving[1] asks)
refused shutdown_request_arrives(broker=1, subject=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_begins_controlled_shutdown(broker=1, subject=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_moves_leader(broker=3, leader=1, partition=0)
    it has read the state — false (partition[0][3].context.read none)

# Broker 1 leads: the partition moves to broker 2, which stands before broker 3.
quietly controller_reads_state broker=3 partition=0
refused controller_finds_no_other_isr_member broker=3 partition=0
refused controller_moves_leader broker=3 leader=3 partition=0
refused controller_sends_shutdown_batch broker=3
quietly controller_moves_leader broker=3 leader=2 partition=0
refused controller_moves_leader broker=3 leader=1 partition=0
refused controller_sends_shutdown_batch broker=1
quietly controller_sends_shutdown_batch broker=3
refused controller_stops_follower broker=1
refused controller_sends_shutdown_batch broker=3
quietly controller_stops_follower broker=3
refused controller_answers_shutdown broker=1
quietly controller_answers_shutdown broker=3
----
refused controller_finds_no_other_isr_member(broker=3, partition=0)
    nobody else of the ISR is live and stays — false (cache[3].live {1,2,3}, cache[3].shutting {1}, partition[0].replicas {1,2,3}, partition[0][0].state.isr {1,2,3}, partition[0][3].context.lost {})
refused controller_moves_leader(broker=3, leader=3, partition=0)
    no such replica stands before it — false (cache[3].live {1,2,3}, cache[3].shutting {1}, partition[0].replicas {1,2,3}, partition[0][0].state.isr {1,2,3}, partition[0][2].place 1, partition[0][3].context.lost {}, partition[0][3].place 2)
refused controller_sends_shutdown_batch(broker=3)
    no partition waits to be moved — false (partition[0][3].context.due true)
refused controller_moves_leader(broker=3, leader=1, partition=0)
    the leaving broker leads the partition — false (partition[0][3].context.due false)
refused controller_sends_shutdown_batch(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_stops_follower(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_sends_shutdown_batch(broker=3)
    it moves what a leaving broker leads — false (cache[3].stage stopping)
refused controller_answers_shutdown(broker=1)
    the broker believes it is the controller — false (belief[1] 0)

# It may go.
quietly broker_becomes_leader broker=2 sender=3 partition=0
quietly broker_updates_metadata broker=2 sender=3
quietly broker_becomes_follower broker=1 sender=3 partition=0
quietly broker_updates_metadata broker=1 sender=3
quietly broker_becomes_follower broker=3 sender=3 partition=0
quietly broker_updates_metadata broker=3 sender=3
quietly broker_stops broker=1
refused broker_stops broker=1
quietly controller_sees_dead_brokers broker=3
quietly controller_reads_state broker=3 partition=0
quietly controller_finds_replica_not_in_isr broker=3 replica=1 partition=0
quietly controller_sends_removal_batch broker=3
quietly controller_sends_update_metadata_for_dead_brokers broker=3
quietly older_epoch_is_refused broker=2 sender=3 partition=0
quietly broker_updates_metadata broker=2 sender=3
quietly broker_updates_metadata broker=2 sender=3
quietly older_epoch_is_refused broker=3 sender=3 partition=0
quietly broker_updates_metadata broker=3 sender=3
quietly broker_updates_metadata broker=3 sender=3
----
refused broker_stops(broker=1)
    the process runs — false (up {2,3})

# Broker 3 follows, and is the controller itself.
quietly broker_asks_for_controlled_shutdown broker=3
quietly shutdown_request_arrives broker=3 subject=3
quietly controller_begins_controlled_shutdown broker=3 subject=3
quietly controller_stops_follower broker=3
quietly controller_reads_state broker=3 partition=0
quietly controller_removes_replica broker=3 replica=3 partition=0
quietly controller_sends_removal_batch broker=3
quietly controller_answers_shutdown broker=3
quietly broker_becomes_leader broker=2 sender=3 partition=0
quietly broker_updates_metadata broker=2 sender=3
quietly broker_stops_fetching broker=3 sender=3
quietly broker_updates_metadata broker=3 sender=3
quietly broker_stops_fetching broker=3 sender=3

# Now broker 2 is the last, and has nobody to give its partition to.
quietly broker_asks_for_controlled_shutdown broker=2
quietly shutdown_request_arrives broker=3 subject=2
quietly controller_begins_controlled_shutdown broker=3 subject=2
refused controller_finds_no_other_isr_member broker=3 partition=0
quietly controller_reads_state broker=3 partition=0
refused controller_finds_no_leader broker=3 partition=0
refused controller_finds_no_other_isr_member broker=1 partition=0
quietly controller_finds_no_other_isr_member broker=3 partition=0
refused controller_finds_no_other_isr_member broker=3 partition=0
quietly controller_sends_shutdown_batch broker=3
quietly controller_stops_follower broker=3
quietly controller_answers_shutdown broker=3
----
refused controller_finds_no_other_isr_member(broker=3, partition=0)
    it has read the state — false (partition[0][3].context.read none)
refused controller_finds_no_leader(broker=3, partition=0)
    it brings offline partitions online — false (cache[3].stage moving)
refused controller_finds_no_other_isr_member(broker=1, partition=0)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_finds_no_other_isr_member(broker=3, partition=0)
    the leaving broker leads the partition — false (partition[0][3].context.due false)
