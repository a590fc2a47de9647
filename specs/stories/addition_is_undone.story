# A partition is added to a topic that is being deleted, and removed from its znode again.
# Shows: from 2.0 the controller writes the node without it (KAFKA-6612), so that what it knows and
# what is in ZooKeeper are one topic.
system topics version 2.3 brokers 2 partitions 2

quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly admin_creates_topic first=2 second=none third=none count=1
quietly controller_reads_context broker=1
quietly replica_state_machine_starts broker=1
quietly partition_state_machine_starts broker=1
quietly admin_deletes_topic
quietly controller_queues_deletion broker=1
quietly deletion_starts broker=1
quietly controller_stops_replicas broker=1
quietly controller_deletes_replicas broker=1
admin_adds_partition partition=1 first=2 second=none third=none
refused controller_sees_partitions broker=1
controller_undoes_addition broker=1

# Its own write tells it once more, which brings nothing new.
refused controller_undoes_addition broker=1
controller_finds_no_new_partition broker=1
check idle_controller_knows_zookeeper
----
admin_adds_partition(partition=1, first=2, second=none, third=none)
    zk[1][0].assignment: none → 2
    cache[1].fired.partitions: false → true
refused controller_sees_partitions(broker=1)
    the topic is not queued for deletion — false (cache[1].queued true)
controller_undoes_addition(broker=1)
    zk[1][0].assignment: 2 → none
refused controller_undoes_addition(broker=1)
    there are partitions that it does not know — false
controller_finds_no_new_partition(broker=1)
    cache[1].fired.partitions: true → false
idle_controller_knows_zookeeper: holds
