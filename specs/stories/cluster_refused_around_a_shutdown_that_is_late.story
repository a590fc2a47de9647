# What is refused of a ControlledShutdown whose broker is gone when it is handled.
# Shows: the controller must take who asked for alive.
system cluster version 2.3 brokers 2 partitions 1 replicas 2

quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly controller_sends_initial_update_metadata broker=2
quietly controller_starts_replica_state_machine broker=2
quietly controller_sends_election_batch broker=2
quietly broker_updates_metadata broker=1 sender=2
quietly broker_updates_metadata broker=2 sender=2
quietly older_epoch_is_refused broker=1 sender=2 partition=0
quietly broker_updates_metadata broker=1 sender=2
quietly older_epoch_is_refused broker=2 sender=2 partition=0
quietly broker_updates_metadata broker=2 sender=2
quietly broker_asks_for_controlled_shutdown broker=1
quietly session_expires broker=1
quietly controller_finds_no_request broker=2
quietly controller_sees_dead_brokers broker=2
quietly controller_reads_state broker=2 partition=0
quietly controller_elects_leader broker=2 leader=2 partition=0
quietly controller_sends_election_batch broker=2
quietly controller_reads_state broker=2 partition=0
quietly controller_finds_replica_not_in_isr broker=2 replica=1 partition=0
refused controller_refuses_controlled_shutdown broker=2 subject=1
quietly controller_sends_removal_batch broker=2
quietly shutdown_request_arrives broker=2 subject=1
refused controller_begins_controlled_shutdown broker=2 subject=1
refused controller_refuses_controlled_shutdown broker=1 subject=1
----
refused controller_refuses_controlled_shutdown(broker=2, subject=1)
    its event thread is done with the last event — false (cache[2].stage removing)
refused controller_begins_controlled_shutdown(broker=2, subject=1)
    the controller counts the sender as live — false (cache[2].live {2})
refused controller_refuses_controlled_shutdown(broker=1, subject=1)
    the broker believes it is the controller — false (belief[1] 0)

# It is dead to the controller.
quietly controller_refuses_controlled_shutdown broker=2 subject=1
refused controller_refuses_controlled_shutdown broker=2 subject=1
quietly broker_becomes_leader broker=2 sender=2 partition=0
quietly broker_updates_metadata broker=2 sender=2
quietly older_epoch_is_refused broker=2 sender=2 partition=0
quietly broker_updates_metadata broker=2 sender=2
----
refused controller_refuses_controlled_shutdown(broker=2, subject=1)
    a ControlledShutdown of the broker is next in its queue — false (cache.events[2][0].kind controller_change, cache.events[2][0].subject none, cache[2].events.end 0)
