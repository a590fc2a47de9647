# A topic is deleted by the next controller while the last one does not know that it is deposed.
# Shows: the watches of both fire: one forgets the topic, and who deleted it learns nothing new.
system topics version 2.3 brokers 2

quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly admin_creates_topic first=2 second=none third=none count=1
quietly controller_reads_context broker=1
quietly replica_state_machine_starts broker=1
quietly partition_state_machine_starts broker=1
quietly broker_obeys_leader_and_isr broker=2 controller=1
quietly admin_deletes_topic
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly replica_state_machine_starts broker=2
quietly partition_state_machine_starts broker=2
quietly deletion_starts broker=2
quietly controller_stops_replicas broker=2
quietly controller_deletes_replicas broker=2
quietly broker_obeys_leader_and_isr broker=2 controller=2
quietly broker_stops_replicas broker=2 controller=2
quietly controller_receives_stop_replica_response broker=2 replica=2
quietly deletion_is_complete broker=2
quietly partition_znode_is_deleted broker=2 partition=0
topic_znode_is_deleted broker=2
controller_sees_topic_gone broker=1
request_is_removed broker=2
controller_sees_no_request broker=1
controller_sees_no_request broker=2
controller_finds_no_new_topic broker=2
check deleted_topics_leave_no_data
check topics_are_deleted_only_on_request
----
topic_znode_is_deleted(broker=2)
    zk[0][0].assignment: 2 → none
    cache[2].task: unregisters → removes_request
    cache[1].fired.topics: false → true
    cache[2].fired.topics: false → true
controller_sees_topic_gone(broker=1)
    cache[1].fired.topics: true → false
    cache[1][0][0].known: 2 → none
    cache[1][0].led: true → false
    cache[1][0].leader: 2 → none
    cache[1][0].partition: OnlinePartition → NonExistentPartition
    cache[1][0][2].replica: OnlineReplica → NonExistentReplica
request_is_removed(broker=2)
    zk.requested: true → false
    cache[2].task: removes_request → waits
    cache[2].fired.deletions: false → true
    cache[2].queued: true → false
    cache[2].started: true → false
controller_sees_no_request(broker=1)
    cache[1].fired.deletions: true → false
controller_sees_no_request(broker=2)
    cache[2].fired.deletions: true → false
controller_finds_no_new_topic(broker=2)
    cache[2].fired.topics: true → false
deleted_topics_leave_no_data: holds of every step
topics_are_deleted_only_on_request: holds of every step
