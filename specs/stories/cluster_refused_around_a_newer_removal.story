# What is refused to a controller that would remove a replica that a newer one has removed.
# Shows: the state names a newer controller epoch, and no write conflicts for it either.
system cluster version 2.0 brokers 3 partitions 1 replicas 2

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
quietly session_expires broker=2
quietly controller_finds_no_request broker=3
quietly controller_sees_dead_brokers broker=3
quietly controller_reads_state broker=3 partition=0

# Broker 3 is deposed, and broker 1 is asked for preferred leaders.
quietly controller_node_is_deleted
quietly admin_asks_for_preferred_leaders
refused admin_asks_for_preferred_leaders
quietly broker_becomes_controller broker=1
refused controller_deletes_preferred_request broker=1
refused controller_elects_preferred broker=1 leader=1 partition=0
refused controller_write_conflicts broker=1 partition=0
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly controller_sends_initial_update_metadata broker=1
quietly controller_starts_replica_state_machine broker=1
refused controller_begins_preferred_election broker=1
quietly controller_sends_election_batch broker=1
quietly controller_begins_preferred_election broker=1
quietly controller_sends_preferred_batch broker=1
quietly controller_deletes_preferred_request broker=1
quietly admin_asks_for_preferred_leaders
quietly controller_begins_preferred_election broker=1
quietly controller_reads_state broker=1 partition=0
refused controller_elects_preferred broker=3 leader=1 partition=0
refused controller_moves_leader broker=1 leader=1 partition=0
quietly controller_elects_preferred broker=1 leader=1 partition=0
refused controller_sends_preferred_batch broker=3
quietly controller_sends_preferred_batch broker=1
refused controller_deletes_preferred_request broker=3
quietly controller_deletes_preferred_request broker=1
refused controller_write_conflicts broker=1 partition=0
----
refused admin_asks_for_preferred_leaders()
    no such request is there — false (partition[0].wanted true)
refused controller_deletes_preferred_request(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_elects_preferred(broker=1, leader=1, partition=0)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_write_conflicts(broker=1, partition=0)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_begins_preferred_election(broker=1)
    the request's event is next in its queue, or its failover is over but for this — false (cache.events[1][0].kind controller_change, cache[1].events.end 0, cache[1].stage onlining)
refused controller_elects_preferred(broker=3, leader=1, partition=0)
    it elects preferred leaders — false (cache[3].stage removing_followers)
refused controller_moves_leader(broker=1, leader=1, partition=0)
    it moves what a leaving broker leads — false (cache[1].stage preferring)
refused controller_sends_preferred_batch(broker=3)
    it elects preferred leaders — false (cache[3].stage removing_followers)
refused controller_deletes_preferred_request(broker=3)
    the request is worked on — false (cache[3].stage removing_followers)
refused controller_write_conflicts(broker=1, partition=0)
    it is about to write the state — false (cache[1].stage idle, partition[0][1].context.due false)

# What broker 3 read is old. It reads again.
quietly controller_write_conflicts broker=3 partition=0
refused controller_reads_state broker=1 partition=0
quietly controller_reads_state broker=3 partition=0
refused controller_begins_preferred_election broker=1
refused controller_finds_no_request broker=3
refused controller_removes_replica broker=3 replica=2 partition=0
----
refused controller_reads_state(broker=1, partition=0)
    it is about to write the state — false (cache[1].stage idle, partition[0][1].context.due false)
refused controller_begins_preferred_election(broker=1)
    a request is there — false
refused controller_finds_no_request(broker=3)
    the request's event is next in its queue, or its failover is over but for this — false (cache.events[3][0].kind controller_change, cache[3].stage removing_followers)
refused controller_removes_replica(broker=3, replica=2, partition=0)
    no newer controller has written the state — false (belief[3] 1, partition[0][1].state.controller 2)

# Broker 1 is asked once more.
quietly controller_finds_no_request broker=1
refused controller_begins_preferred_election broker=1
refused controller_finds_no_request broker=1
quietly admin_asks_for_preferred_leaders
refused controller_finds_no_request broker=1
quietly controller_begins_preferred_election broker=1
quietly controller_reads_state broker=1 partition=0
refused controller_finds_a_newer_controller broker=1 partition=0
quietly controller_elects_preferred broker=1 leader=1 partition=0
refused controller_write_conflicts broker=3 partition=0
quietly controller_sends_preferred_batch broker=1
quietly controller_deletes_preferred_request broker=1
refused controller_finds_a_newer_controller broker=1 partition=0
quietly controller_skips_isr_removal broker=3 replica=2 partition=0
----
refused controller_begins_preferred_election(broker=1)
    the request's event is next in its queue, or its failover is over but for this — false (cache.events[1][0].kind controller_change, cache[1].events.end 0, cache[1].stage idle)
refused controller_finds_no_request(broker=1)
    the request's event is next in its queue, or its failover is over but for this — false (cache.events[1][0].kind controller_change, cache[1].events.end 0, cache[1].stage idle)
refused controller_finds_no_request(broker=1)
    no request is there — false (partition[0].wanted true)
refused controller_finds_a_newer_controller(broker=1, partition=0)
    a newer controller has written the state — false (belief[1] 2, partition[0][1].state.controller 2)
refused controller_write_conflicts(broker=3, partition=0)
    no newer controller has written the state — false (belief[3] 1, partition[0][1].state.controller 2)
refused controller_finds_a_newer_controller(broker=1, partition=0)
    it is about to elect a leader — false (cache[1].stage idle, partition[0][1].context.due false)
