# What is refused while brokers become controller, and lose it.
# Shows: what a broker must have heard, and be, to act as the controller, and what its fence stops.
system cluster version 2.4 brokers 2 partitions 1 replicas 2

refused controller_node_is_deleted
refused late_stop_replica_arrives broker=1
quietly broker_becomes_controller broker=1
quietly controller_node_is_deleted
refused broker_loses_controller_election broker=1
quietly reply_to_registration_is_lost broker=1
refused reply_to_registration_is_lost broker=1
quietly broker_loses_controller_election broker=1
refused controller_resigns broker=1
----
refused controller_node_is_deleted()
    /controller exists — false (zk.controller none)
refused late_stop_replica_arrives(broker=1)
    a copy is on its way — false (late[1].held false)
refused broker_loses_controller_election(broker=1)
    its reply was lost — false (reply_lost[1] false)
refused reply_to_registration_is_lost(broker=1)
    the reply is on its way — false (reply_lost[1] true)
refused controller_resigns(broker=1)
    the broker believes it is the controller — false (belief[1] 0)

# Broker 1 wins once more, and hears of its first controllership when it has the second.
quietly broker_becomes_controller broker=1
refused controller_is_still_active broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly controller_sends_initial_update_metadata broker=1
quietly controller_starts_replica_state_machine broker=1
refused controller_is_still_active broker=1
quietly controller_sends_election_batch broker=1
refused controller_resigns broker=1
quietly controller_finds_no_request broker=1
refused controller_resigns broker=1
quietly controller_is_still_active broker=1
refused broker_updates_metadata broker=1 sender=2
refused controller_is_still_active broker=1
quietly broker_updates_metadata broker=1 sender=1
refused broker_updates_metadata broker=1 sender=1
quietly broker_updates_metadata broker=2 sender=1
quietly older_epoch_is_refused broker=1 sender=1 partition=0
refused older_epoch_is_refused broker=1 sender=1 partition=0
quietly broker_updates_metadata broker=1 sender=1
refused older_epoch_is_refused broker=1 sender=1 partition=0
quietly older_epoch_is_refused broker=2 sender=1 partition=0
quietly broker_updates_metadata broker=2 sender=1
----
refused controller_is_still_active(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_is_still_active(broker=1)
    its event thread is done with the last event — false (cache[1].stage onlining)
refused controller_resigns(broker=1)
    its event thread is done with the last event — false (cache[1].stage looking)
refused controller_resigns(broker=1)
    /controller is not its own any more — false (zk.controller 1)
refused broker_updates_metadata(broker=1, sender=2)
    a request of the controller is next — false (cache[2][1].queue.end 0)
refused controller_is_still_active(broker=1)
    a ControllerChange is next in its queue — false (cache[1].events.end 0)
refused broker_updates_metadata(broker=1, sender=1)
    it is an UpdateMetadata — false (cache.queue[1][1][0].kind leader_and_isr)
refused older_epoch_is_refused(broker=1, sender=1, partition=0)
    it is a LeaderAndIsr — false (cache.queue[1][1][0].kind update_metadata)
refused older_epoch_is_refused(broker=1, sender=1, partition=0)
    a request of the controller is next — false (cache[1][1].queue.end 0)

# /controller is deleted, and broker 2 wins.
quietly controller_node_is_deleted
refused broker_becomes_controller broker=1
refused controller_is_still_active broker=1
quietly broker_becomes_controller broker=2
refused broker_learns_it_won broker=1
refused controller_reads_isr_changes broker=1
quietly broker_learns_it_won broker=2
quietly controller_resigns broker=1
quietly controller_reads_context broker=2
----
refused broker_becomes_controller(broker=1)
    it does not believe it is the controller — false (belief[1] 2)
refused controller_is_still_active(broker=1)
    /controller is its own — false (zk.controller none)
refused broker_learns_it_won(broker=1)
    the broker won and has not learned that yet — false (campaign[1] 0)
refused controller_reads_isr_changes(broker=1)
    the epoch that it won is the newest — false (belief[1] 2, zk.epoch 3)

# Broker 2 is deposed in the middle of its failover.
quietly controller_sends_initial_update_metadata broker=2
refused broker_becomes_controller broker=1
quietly controller_node_is_deleted
refused controller_resigns broker=2
quietly broker_becomes_controller broker=1
refused controller_write_is_fenced broker=1
quietly broker_learns_it_won broker=1
refused controller_write_is_fenced broker=1
quietly controller_starts_replica_state_machine broker=2
quietly controller_sends_election_batch broker=2
refused controller_finds_no_request broker=2
quietly controller_write_is_fenced broker=2
----
refused broker_becomes_controller(broker=1)
    /controller does not exist — false (zk.controller 2)
refused controller_resigns(broker=2)
    its event thread is done with the last event — false (cache[2].stage restoring)
refused controller_write_is_fenced(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_write_is_fenced(broker=1)
    a newer controller epoch was won — false (belief[1] 4, zk.epoch 4)
refused controller_finds_no_request(broker=2)
    its epoch is the newest, or its failover is over — false (belief[2] 3, cache[2].stage looking, zk.epoch 4)

# Broker 1 is deposed before it has read anything.
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly session_expires broker=1
refused controller_finds_brokers_unchanged broker=1
refused controller_write_is_fenced broker=1
refused controller_reads_context broker=1
refused session_expires broker=1
quietly broker_reconnects broker=1
----
refused controller_finds_brokers_unchanged(broker=1)
    it has a ZooKeeper session — false (cache[1].stage starting, zk.registered {2})
refused controller_write_is_fenced(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused controller_reads_context(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused session_expires(broker=1)
    the broker is registered — false (zk.registered {2})

# Nodes outlive their session; a process dies.
quietly controller_reads_context broker=2
refused controller_sends_initial_update_metadata broker=1
quietly controller_sends_initial_update_metadata broker=2
refused controller_starts_replica_state_machine broker=1
quietly controller_starts_replica_state_machine broker=2
refused controller_sends_removal_batch broker=1
refused controller_sends_election_batch broker=1
quietly controller_sends_election_batch broker=2
quietly broker_updates_metadata broker=1 sender=2
quietly broker_updates_metadata broker=2 sender=2
quietly older_epoch_is_refused broker=1 sender=2 partition=0
quietly broker_updates_metadata broker=1 sender=2
quietly older_epoch_is_refused broker=2 sender=2 partition=0
quietly broker_updates_metadata broker=2 sender=2
quietly session_ends_before_its_nodes broker=1
refused broker_replaces_its_old_registration broker=2
refused session_ends_before_its_nodes broker=1
quietly broker_replaces_its_old_registration broker=1
quietly session_ends_before_its_nodes broker=1
quietly broker_crashes broker=1
refused broker_crashes broker=1
refused broker_replaces_its_old_registration broker=1
refused broker_starts broker=1
refused node_of_expired_session_is_deleted broker=2
quietly node_of_expired_session_is_deleted broker=1
refused broker_reconnects broker=1
quietly broker_starts broker=1
refused broker_finds_leader_not_in_metadata_cache broker=1 sender=1 partition=0
----
refused controller_sends_initial_update_metadata(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_starts_replica_state_machine(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_sends_removal_batch(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_sends_election_batch(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused broker_replaces_its_old_registration(broker=2)
    a node of its last session is there — false (zk.outlived {1})
refused session_ends_before_its_nodes(broker=1)
    its node is that of its session — false (zk.outlived {1})
refused broker_crashes(broker=1)
    the process runs — false (up {2})
refused broker_replaces_its_old_registration(broker=1)
    its process runs — false (up {2})
refused broker_starts(broker=1)
    the old registration is gone — false (zk.registered {1,2})
refused node_of_expired_session_is_deleted(broker=2)
    a node of an ended session is there — false (zk.outlived {1})
refused broker_reconnects(broker=1)
    the process runs — false (up {2})
refused broker_finds_leader_not_in_metadata_cache(broker=1, sender=1, partition=0)
    a request of the controller is next — false (cache[1][1].queue.end 0)

# Broker 2 loses its session, and goes on with what it has in memory.
quietly session_expires broker=2
refused broker_reconnects broker=1
refused broker_starts broker=2
refused controller_sees_bounced_brokers broker=2
quietly broker_reconnects broker=2
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly controller_sends_initial_update_metadata broker=1
quietly controller_starts_replica_state_machine broker=1
quietly controller_sends_election_batch broker=1
quietly broker_updates_metadata broker=1 sender=1
refused broker_finds_leader_not_in_metadata_cache broker=1 sender=1 partition=0
quietly broker_updates_metadata broker=2 sender=1
quietly broker_becomes_leader broker=1 sender=1 partition=0
quietly broker_updates_metadata broker=1 sender=1
quietly older_epoch_is_refused broker=2 sender=1 partition=0
quietly broker_updates_metadata broker=2 sender=1
----
refused broker_reconnects(broker=1)
    its session has expired — false (zk.registered {1})
refused broker_starts(broker=2)
    the process does not run — false (up {1,2})
refused controller_sees_bounced_brokers(broker=2)
    it has a ZooKeeper session — false (cache[2].stage looking, zk.registered {1})
refused broker_finds_leader_not_in_metadata_cache(broker=1, sender=1, partition=0)
    it names another the leader, or none — false (partition[0][0].state.leader 1)

# It is over.
quietly session_expires broker=1
refused controller_begins_preferred_election broker=1
refused controller_deletes_preferred_request broker=1
refused controller_finds_endpoints_unchanged broker=1 subject=1
refused controller_finds_no_isr_change broker=1
refused controller_finds_no_request broker=1
refused controller_reads_endpoints broker=1 subject=1
refused controller_reads_isr_changes broker=1
----
refused controller_begins_preferred_election(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused controller_deletes_preferred_request(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused controller_finds_endpoints_unchanged(broker=1, subject=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused controller_finds_no_isr_change(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused controller_finds_no_request(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused controller_reads_endpoints(broker=1, subject=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused controller_reads_isr_changes(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
