# A topic is created and deleted at once; the deletion is handled first, and the topic stays.
# Shows: the controller takes a request for a topic that it does not know yet for a mistake, and
# says so in its log only. The two watches are of two nodes; what is read is what is there by then.
system topics version 2.3 brokers 2 partitions 1

quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly replica_state_machine_starts broker=1
quietly partition_state_machine_starts broker=1
admin_creates_topic first=2 second=none third=none count=1
admin_deletes_topic
refused controller_queues_deletion broker=1
controller_drops_request broker=1
controller_sees_topic broker=1
check idle_controller_knows_zookeeper
----
admin_creates_topic(first=2, second=none, third=none, count=1)
    zk[0][0].assignment: none → 2
    cache[1].fired.topics: false → true
admin_deletes_topic()
    zk.requested: false → true
    cache[1].fired.deletions: false → true
refused controller_queues_deletion(broker=1)
    it knows the topic — false (cache[1][0][0].known none)
controller_drops_request(broker=1)
    zk.requested: true → false
controller_sees_topic(broker=1)
    cache[1].task: waits → makes_partitions
    cache[1].fired.topics: true → false
    cache[1][0][0].known: none → 2
idle_controller_knows_zookeeper: holds
