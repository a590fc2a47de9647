# A request for an unknown partition, a controller that loses its session, a dead process.
# Shows: each line is refused for one reason alone.
system reassignment version 2.3 brokers 2 replicas 2

quietly topic_is_created first=1 second=none third=none
quietly admin_requests_unknown_partition
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
refused controller_drops_unknown_partition broker=1
quietly controller_reads_context broker=1
quietly session_expires broker=1
refused controller_drops_unknown_partition broker=1
refused controller_sees_broker_failure broker=1 dead=1
quietly session_expires broker=2
quietly broker_reconnects broker=2
refused controller_sees_broker_startup broker=1 started=2
quietly broker_reconnects broker=1
quietly broker_crashes broker=1
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
refused broker_becomes_leader broker=1 epoch=0 controller=2
quietly controller_drops_unknown_partition broker=2
quietly admin_requests_reassignment first=1 second=2 third=none
quietly controller_begins_move broker=2
quietly controller_writes_union_of_replicas broker=2
quietly controller_bumps_epoch broker=2
refused controller_drops_request_already_assigned broker=2
check controllers_without_session_do_nothing
----
refused controller_drops_unknown_partition(broker=1)
    it waits for events, or has just begun — false (cache[1].task none)
refused controller_drops_unknown_partition(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused controller_sees_broker_failure(broker=1, dead=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused controller_sees_broker_startup(broker=1, started=2)
    it has a ZooKeeper session — false (zk.registered {2})
refused broker_becomes_leader(broker=1, epoch=0, controller=2)
    the process runs — false (up {2})
refused controller_drops_request_already_assigned(broker=2)
    the partition does not move already — false (cache[2].task idle, cache[2][1].target 0)
controllers_without_session_do_nothing: holds of every step
