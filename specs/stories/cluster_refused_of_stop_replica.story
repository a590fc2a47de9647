# What is refused around a StopReplica, and its late copy.
# Shows: it is for a broker that runs, from nobody older than whom it has seen; one copy at a time.
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
quietly broker_asks_for_controlled_shutdown broker=2
refused shutdown_request_arrives broker=1 subject=1
quietly shutdown_request_arrives broker=1 subject=2
refused controller_begins_controlled_shutdown broker=1 subject=1
refused controller_refuses_controlled_shutdown broker=1 subject=2
refused controller_stops_follower broker=1
quietly controller_finds_no_request broker=1
quietly controller_begins_controlled_shutdown broker=1 subject=2
refused controller_begins_controlled_shutdown broker=1 subject=1
quietly controller_stops_follower broker=1
refused stop_replica_is_sent_again broker=1 sender=1
----
refused shutdown_request_arrives(broker=1, subject=1)
    its ControlledShutdown is in flight — false (asked {2})
refused controller_begins_controlled_shutdown(broker=1, subject=1)
    its event thread is done with the last event — false (cache[1].stage looking)
refused controller_refuses_controlled_shutdown(broker=1, subject=2)
    its event thread is done with the last event — false (cache[1].stage looking)
refused controller_stops_follower(broker=1)
    the partitions that it led are moved — false (cache[1].stage looking)
refused controller_begins_controlled_shutdown(broker=1, subject=1)
    its event thread is done with the last event — false (cache[1].stage stopping)
refused stop_replica_is_sent_again(broker=1, sender=1)
    a request of the controller is next — false (cache[1][1].queue.end 0)

# The first StopReplica is sent again; the second follows when the replica goes offline.
quietly stop_replica_is_sent_again broker=2 sender=1
refused broker_stops_fetching broker=1 sender=1
refused stop_replica_is_sent_again broker=2 sender=1
quietly broker_stops_fetching broker=2 sender=1
quietly controller_reads_state broker=1 partition=0
quietly controller_removes_replica broker=1 replica=2 partition=0
refused controller_answers_shutdown broker=1
quietly controller_sends_removal_batch broker=1
refused stop_replica_is_sent_again broker=1 sender=1
quietly controller_answers_shutdown broker=1
refused broker_becomes_leader broker=2 sender=1 partition=0
quietly broker_becomes_leader broker=1 sender=1 partition=0
quietly broker_updates_metadata broker=1 sender=1
quietly broker_updates_metadata broker=2 sender=1
----
refused broker_stops_fetching(broker=1, sender=1)
    a request of the controller is next — false (cache[1][1].queue.end 0)
refused stop_replica_is_sent_again(broker=2, sender=1)
    no other copy is on its way — false (late[2].held true)
refused controller_answers_shutdown(broker=1)
    all is done for the leaving broker — false (cache[1].stage retiring)
refused stop_replica_is_sent_again(broker=1, sender=1)
    it is a StopReplica — false (cache.queue[1][1][0].kind leader_and_isr)
refused broker_becomes_leader(broker=2, sender=1, partition=0)
    it is a LeaderAndIsr — false (cache.queue[1][2][0].kind update_metadata)

# A newer controller is at work.
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly controller_sends_initial_update_metadata broker=2
quietly controller_starts_replica_state_machine broker=2
quietly controller_sends_election_batch broker=2
quietly broker_updates_metadata broker=2 sender=2
refused broker_stops_fetching broker=2 sender=1
refused late_stop_replica_arrives broker=2
----
refused broker_stops_fetching(broker=2, sender=1)
    the broker has seen no newer controller — false (belief[1] 1, seen[2] 2)
refused late_stop_replica_arrives(broker=2)
    the broker has seen no newer controller — false (late[2].controller 1, seen[2] 2)

# The broker crashes.
quietly broker_crashes broker=2
refused broker_stops_fetching broker=2 sender=1
refused late_stop_replica_arrives broker=2
refused stop_replica_is_sent_again broker=2 sender=1
----
refused broker_stops_fetching(broker=2, sender=1)
    the process runs — false (up {1})
refused late_stop_replica_arrives(broker=2)
    the process runs — false (up {1})
refused stop_replica_is_sent_again(broker=2, sender=1)
    the process runs — false (up {1})
