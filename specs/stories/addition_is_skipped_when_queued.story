# A partition is added, and the topic deleted: up to 1.1 the order of the two events decides.
# Shows: before the deletion is queued the partition is created; after it, skipped, and once only.
system topics version 1.1 brokers 2 partitions 2

quietly admin_creates_topic first=1 second=none third=none count=1
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly admin_adds_partition partition=1 first=1 second=none third=none
quietly replica_state_machine_starts broker=1
quietly partition_state_machine_starts broker=1
refused controller_skips_addition broker=1
quietly admin_deletes_topic
quietly controller_queues_deletion broker=1
quietly deletion_starts broker=1
quietly controller_stops_replicas broker=1
quietly controller_deletes_replicas broker=1
controller_skips_addition broker=1
refused controller_skips_addition broker=1
show zk.assignment
show cache[1].known
----
refused controller_skips_addition(broker=1)
    the topic is queued for deletion — false (cache[1].queued false)
controller_skips_addition(broker=1)
    cache[1].fired.partitions: true → false
refused controller_skips_addition(broker=1)
    its watch of the topic's node fired — false (cache[1].fired.partitions false)
zk[0][0].assignment: 1
zk[1][0].assignment: 1
cache[1][0][0].known: 1
