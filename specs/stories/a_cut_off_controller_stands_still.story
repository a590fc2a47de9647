# A controller without a ZooKeeper session cannot write, whatever its next task is.
# Shows: ZooKeeper tells it nothing and does nothing for it, until it has another session; and then
# it is no controller any more.
system topics version 2.3 brokers 2 partitions 1

quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
session_expires broker=1
refused controller_reads_context broker=1
refused controller_write_is_fenced broker=1
refused replica_state_machine_starts broker=1
refused partition_state_machine_starts broker=1
refused controller_sees_topic broker=1
refused controller_sees_topic_gone broker=1
refused controller_finds_no_new_topic broker=1
refused controller_sees_partitions broker=1
refused controller_undoes_addition broker=1
refused controller_finds_no_new_partition broker=1
refused controller_creates_new_partitions broker=1
refused controller_creates_new_replicas broker=1
refused controller_brings_partitions_online broker=1
refused controller_brings_new_replicas_online broker=1
refused controller_elects_for_failed broker=1
refused controller_takes_replicas_offline broker=1
refused controller_elects_for_started broker=1
refused controller_queues_deletion broker=1
refused controller_drops_request broker=1
refused controller_sees_no_request broker=1
refused deletion_starts broker=1
refused controller_stops_replicas broker=1
refused controller_deletes_replicas broker=1
refused deletion_waits broker=1
refused deletion_is_retried broker=1
refused deletion_is_complete broker=1
refused topic_znode_is_deleted broker=1
refused request_is_removed broker=1
refused controller_sees_failure broker=1 failed=2
refused controller_sees_start broker=1 started=2
refused controller_receives_stop_replica_response broker=1 replica=2
refused partition_znode_is_deleted broker=1 partition=0
broker_reconnects broker=1
refused controller_reads_context broker=1
----
session_expires(broker=1)
    zk.controller: 1 → none
    zk.registered: {1,2} → {2}
refused controller_reads_context(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused controller_write_is_fenced(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused replica_state_machine_starts(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused partition_state_machine_starts(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused controller_sees_topic(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused controller_sees_topic_gone(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused controller_finds_no_new_topic(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused controller_sees_partitions(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused controller_undoes_addition(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused controller_finds_no_new_partition(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused controller_creates_new_partitions(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused controller_creates_new_replicas(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused controller_brings_partitions_online(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused controller_brings_new_replicas_online(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused controller_elects_for_failed(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused controller_takes_replicas_offline(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused controller_elects_for_started(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused controller_queues_deletion(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused controller_drops_request(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused controller_sees_no_request(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused deletion_starts(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused controller_stops_replicas(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused controller_deletes_replicas(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused deletion_waits(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused deletion_is_retried(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused deletion_is_complete(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused topic_znode_is_deleted(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused request_is_removed(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused controller_sees_failure(broker=1, failed=2)
    it has a ZooKeeper session — false (zk.registered {2})
refused controller_sees_start(broker=1, started=2)
    it has a ZooKeeper session — false (zk.registered {2})
refused controller_receives_stop_replica_response(broker=1, replica=2)
    it has a ZooKeeper session — false (zk.registered {2})
refused partition_znode_is_deleted(broker=1, partition=0)
    it has a ZooKeeper session — false (zk.registered {2})
broker_reconnects(broker=1)
    zk.registered: {2} → {1,2}
    belief[1]: 1 → 0
refused controller_reads_context(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
