# A reassignment is requested, cancelled and cleaned up while sessions end.
# Shows: a running move stands in the topic's znode, and no other request is written beside it.
system reassignment version 2.4 brokers 2 replicas 2

quietly topic_is_created first=1 second=none third=none
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1

quietly session_expires broker=1
refused controller_is_asked_to_reassign broker=1 first=1 second=2 third=none
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
refused controller_is_asked_to_reassign broker=2 first=1 second=2 third=none
quietly controller_removes_dead_replica broker=2 dead=1
quietly controller_is_asked_to_reassign broker=2 first=1 second=2 third=none
refused admin_requests_reassignment first=1 second=none third=none
refused admin_requests_two_reassignments first=1 second=none third=none
refused admin_requests_unknown_partition
refused controller_cancels_move broker=2
quietly controller_bumps_epoch broker=2
quietly session_expires broker=2
refused controller_cancels_move broker=2
quietly broker_reconnects broker=1
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly controller_elects_leader broker=1 leader=1
quietly controller_bumps_epoch broker=1
quietly controller_cancels_move broker=1
refused controller_deletes_cancelled_adding_replicas broker=1
quietly controller_skips_old_replica_outside_isr broker=1 replica=2
quietly session_expires broker=1
refused controller_deletes_cancelled_adding_replicas broker=1
check controllers_without_session_do_nothing
----
refused controller_is_asked_to_reassign(broker=1, first=1, second=2, third=none)
    it has a ZooKeeper session — false (zk.registered {2})
refused controller_is_asked_to_reassign(broker=2, first=1, second=2, third=none)
    it waits for events — false (cache[2].task removing)
refused admin_requests_reassignment(first=1, second=none, third=none)
    the topic's znode has no reassignment — false (zk.adding {2})
refused admin_requests_two_reassignments(first=1, second=none, third=none)
    the topic's znode has no reassignment — false (zk.adding {2})
refused admin_requests_unknown_partition()
    the topic's znode has no reassignment — false (zk.adding {2})
refused controller_cancels_move(broker=2)
    it waits for events — false (cache[2].task bumping)
refused controller_cancels_move(broker=2)
    it has a ZooKeeper session — false (zk.registered {})
refused controller_deletes_cancelled_adding_replicas(broker=1)
    replicas that are not needed are offline — false (cache[1].leaving {2})
refused controller_deletes_cancelled_adding_replicas(broker=1)
    it has a ZooKeeper session — false (zk.registered {})
controllers_without_session_do_nothing: holds of every step
