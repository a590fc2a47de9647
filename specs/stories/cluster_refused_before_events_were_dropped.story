# What is refused where a controller that resigned still handles its queued events.
# Shows: it acts in the old epoch, from event to event (KAFKA-4447).
system cluster version 2.3 without events_dropped brokers 2 partitions 1 replicas 2

quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly controller_node_is_deleted
quietly controller_sends_initial_update_metadata broker=1
quietly controller_starts_replica_state_machine broker=1
refused controller_resigns_and_keeps_its_queue broker=1
quietly controller_sends_election_batch broker=1
----
refused controller_resigns_and_keeps_its_queue(broker=1)
    its event thread is done with the last event — false (cache[1].stage onlining)

# /controller is gone, and the event waits.
quietly controller_finds_no_request broker=1
quietly controller_resigns_and_keeps_its_queue broker=1
refused controller_resigns_and_keeps_its_queue broker=1
quietly broker_becomes_controller broker=2
----
refused controller_resigns_and_keeps_its_queue(broker=1)
    a ControllerChange is next in its queue — false (cache[1].events.end 0)

# Broker 2 has an event of a controllership that it has again.
quietly controller_node_is_deleted
refused controller_resigns_and_keeps_its_queue broker=2
refused reply_to_registration_is_lost broker=1
quietly reply_to_registration_is_lost broker=2
refused broker_becomes_controller broker=2
refused broker_learns_it_won broker=2
quietly broker_loses_controller_election broker=2
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly controller_sends_initial_update_metadata broker=2
quietly controller_starts_replica_state_machine broker=2
quietly controller_sends_election_batch broker=2
refused controller_resigns_and_keeps_its_queue broker=2
quietly session_expires broker=2
refused controller_is_still_active broker=2
refused controller_resigns broker=2
refused controller_resigns_and_keeps_its_queue broker=2
----
refused controller_resigns_and_keeps_its_queue(broker=2)
    the broker believes it is the controller — false (belief[2] 0)
refused reply_to_registration_is_lost(broker=1)
    the broker won and has not learned that yet — false (campaign[1] 0)
refused broker_becomes_controller(broker=2)
    it has learned the outcome of its registration — false (campaign[2] 2)
refused broker_learns_it_won(broker=2)
    the reply arrives, or the broker finds itself — false (reply_lost[2] true, zk.controller none)
refused controller_resigns_and_keeps_its_queue(broker=2)
    its event thread is done with the last event — false (cache[2].stage looking)
refused controller_is_still_active(broker=2)
    it has a ZooKeeper session — false (zk.registered {1})
refused controller_resigns(broker=2)
    it has a ZooKeeper session — false (zk.registered {1})
refused controller_resigns_and_keeps_its_queue(broker=2)
    it has a ZooKeeper session — false (zk.registered {1})
