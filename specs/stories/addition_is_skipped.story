# Up to 1.1, partitions added to a topic that is being deleted are skipped, and stay in ZooKeeper.
# Shows: the controller passes over them when their turn comes, and only for such a topic.
system topics version 1.1 brokers 2 partitions 2

quietly admin_creates_topic first=1 second=none third=none count=1
quietly admin_deletes_topic
refused controller_skips_addition broker=1
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly admin_adds_partition partition=1 first=1 second=none third=none
refused controller_skips_addition broker=1
quietly replica_state_machine_starts broker=1
quietly partition_state_machine_starts broker=1
quietly deletion_starts broker=1
quietly controller_stops_replicas broker=1
quietly controller_deletes_replicas broker=1
quietly session_expires broker=1
refused controller_skips_addition broker=1

# The next controller finds both partitions in ZooKeeper, and both are to go.
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
show cache[2].known
----
refused controller_skips_addition(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_skips_addition(broker=1)
    it is not in the middle of another event — false (cache[1].task starts_replicas)
refused controller_skips_addition(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
cache[2][0][0].known: 1
cache[2][1][0].known: 1
