# A controller is deposed while it deletes a topic: its further steps have no effect.
# Shows: brokers refuse its StopReplica once they have seen its successor, ZooKeeper its writes; the
# successor finds the request, and starts the deletion again.
system topics version 2.3 brokers 2 partitions 2

quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly admin_creates_topic first=1 second=2 third=none count=1
quietly controller_reads_context broker=1
quietly replica_state_machine_starts broker=1
quietly partition_state_machine_starts broker=1
quietly broker_obeys_leader_and_isr broker=1 controller=1
quietly broker_obeys_leader_and_isr broker=2 controller=1
quietly admin_deletes_topic
quietly controller_queues_deletion broker=1
quietly deletion_starts broker=1
quietly controller_stops_replicas broker=1
quietly controller_deletes_replicas broker=1
quietly broker_stops_replicas broker=1 controller=1

controller_node_is_deleted
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
controller_reads_context broker=2
quietly replica_state_machine_starts broker=2
broker_obeys_leader_and_isr broker=2 controller=2

# The older one hears an answer, and that a partition was added; it can do nothing about it.
refused broker_stops_replicas broker=2 controller=1
refused broker_cannot_delete broker=2 controller=1
broker_refuses_older_controller broker=2 controller=1
quietly admin_adds_partition partition=1 first=1 second=2 third=none
refused controller_undoes_addition broker=1
controller_receives_stop_replica_response broker=1 replica=1
refused deletion_is_retried broker=1
deletion_waits broker=1
controller_resigns broker=1

# The successor undoes the addition, and deletes what is left.
quietly partition_state_machine_starts broker=2
quietly deletion_starts broker=2
quietly controller_stops_replicas broker=2
quietly controller_deletes_replicas broker=2
controller_undoes_addition broker=2
quietly broker_obeys_leader_and_isr broker=1 controller=2
quietly broker_stops_replicas broker=1 controller=2
quietly broker_stops_replicas broker=2 controller=2
quietly controller_receives_stop_replica_response broker=2 replica=1
quietly deletion_waits broker=2
quietly controller_receives_stop_replica_response broker=2 replica=2
deletion_is_complete broker=2
quietly partition_znode_is_deleted broker=2 partition=0
topic_znode_is_deleted broker=2
check deleted_topics_leave_no_data
check deposed_controllers_write_nothing
----
controller_node_is_deleted()
    zk.controller: 1 → none
controller_reads_context(broker=2)
    cache[2].task: reads_zookeeper → starts_replicas
    cache[2].live: {} → {1,2}
    cache[2].reached: {} → {1,2}
    cache[2][0][0].known: none → 1
    cache[2][0][1].known: none → 2
    cache[2][0].led: false → true
    cache[2][0].partition: NonExistentPartition → OfflinePartition
    cache[2][0][1].replica: NonExistentReplica → OnlineReplica
    cache[2][0][2].replica: NonExistentReplica → OnlineReplica
    cache[2].queued: false → true
broker_obeys_leader_and_isr(broker=2, controller=2)
    request[2][2][0].order: leaderless → none
    seen[2]: 1 → 2
refused broker_stops_replicas(broker=2, controller=1)
    it has seen no newer controller — false (seen[2] 2)
refused broker_cannot_delete(broker=2, controller=1)
    it has seen no newer controller — false (seen[2] 2)
broker_refuses_older_controller(broker=2, controller=1)
    request[1][2][0].stop: delete → none
refused controller_undoes_addition(broker=1)
    the epoch that it won is the newest — false (belief[1] 1, zk.epoch 2)
controller_receives_stop_replica_response(broker=1, replica=1)
    cache[1].task: waits → resumes
    cache[1][0][1].replica: ReplicaDeletionStarted → ReplicaDeletionSuccessful
    request[1][1][0].stop: deleted → none
refused deletion_is_retried(broker=1)
    no replica's deletion is under way — false (cache[1][0][2].replica ReplicaDeletionStarted)
deletion_waits(broker=1)
    cache[1].task: resumes → waits
controller_resigns(broker=1)
    belief[1]: 1 → 0
    cache[1].task: waits → reads_zookeeper
    cache[1].fired.partitions: true → false
    cache[1].live: {1,2} → {}
    cache[1].reached: {1,2} → {}
    cache[1][0][0].known: 1 → none
    cache[1][0][1].known: 2 → none
    cache[1][0].led: true → false
    cache[1][0][1].replica: ReplicaDeletionSuccessful → NonExistentReplica
    cache[1][0][2].replica: ReplicaDeletionStarted → NonExistentReplica
    cache[1].queued: true → false
    cache[1].started: true → false
controller_undoes_addition(broker=2)
    zk[1][0].assignment: 1 → none
    zk[1][1].assignment: 2 → none
deletion_is_complete(broker=2)
    cache[2].task: resumes → unregisters
    cache[2].fired.partitions: true → false
    cache[2][0][0].known: 1 → none
    cache[2][0][1].known: 2 → none
    cache[2][0].led: true → false
    cache[2][0][1].replica: ReplicaDeletionSuccessful → NonExistentReplica
    cache[2][0][2].replica: ReplicaDeletionSuccessful → NonExistentReplica
topic_znode_is_deleted(broker=2)
    zk[0][0].assignment: 1 → none
    zk[0][1].assignment: 2 → none
    cache[2].task: unregisters → removes_request
    cache[2].fired.topics: false → true
deleted_topics_leave_no_data: holds of every step
deposed_controllers_write_nothing: holds of every step
