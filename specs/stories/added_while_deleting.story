# A partition is added to a topic that is being deleted, and the deletion never ends.
# Shows: up to 1.1 the controller skipped it and ZooKeeper kept it (KAFKA-6612); the next controller
# found a partition without a state, whose replicas it could not take offline (KAFKA-6650).
system topics version 1.1 brokers 2 partitions 2

quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly admin_creates_topic first=2 second=none third=none count=1
quietly controller_reads_context broker=1
quietly replica_state_machine_starts broker=1
quietly partition_state_machine_starts broker=1
quietly broker_obeys_leader_and_isr broker=2 controller=1
quietly admin_deletes_topic
quietly controller_queues_deletion broker=1
quietly deletion_starts broker=1
quietly controller_stops_replicas broker=1
quietly controller_deletes_replicas broker=1

# Nothing stops an administrator.
admin_adds_partition partition=1 first=2 second=none third=none
controller_skips_addition broker=1
check idle_controller_knows_zookeeper

# The controller crashes before the answer; the next one reads both partitions.
quietly broker_stops_replicas broker=2 controller=1
quietly broker_crashes broker=1
quietly session_expires broker=1
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
controller_reads_context broker=2
quietly replica_state_machine_starts broker=2
quietly broker_obeys_leader_and_isr broker=2 controller=2
partition_state_machine_starts broker=2
quietly deletion_starts broker=2
controller_stops_replicas broker=2
controller_deletes_replicas broker=2
quietly broker_stops_replicas broker=2 controller=2
quietly controller_receives_stop_replica_response broker=2 replica=2

# One replica is deleted. The other is online and stays so, however often it is tried.
quietly deletion_starts broker=2
controller_stops_replicas broker=2
controller_deletes_replicas broker=2
refused deletion_is_complete broker=2
show cache[2].replica
show zk.requested
----
admin_adds_partition(partition=1, first=2, second=none, third=none)
    zk[1][0].assignment: none → 2
    cache[1].fired.partitions: false → true
controller_skips_addition(broker=1)
    cache[1].fired.partitions: true → false
idle_controller_knows_zookeeper: broken — a controller without pending notifications knows what is in ZooKeeper: the topic with each of its partitions, and whether its deletion is requested, if it watches such requests
    (belief[1] 1, cache[1].fired.deletions false, cache[1].fired.partitions false, cache[1].fired.topics false, cache[1].task waits, cache[1][1][0].known none, zk.epoch 1, zk.registered {1,2}, zk[1][0].assignment 2)
controller_reads_context(broker=2)
    cache[2].task: reads_zookeeper → starts_replicas
    cache[2].live: {} → {2}
    cache[2].reached: {} → {2}
    cache[2][0][0].known: none → 2
    cache[2][1][0].known: none → 2
    cache[2][0].led: false → true
    cache[2][0].partition: NonExistentPartition → OfflinePartition
    cache[2][1].partition: NonExistentPartition → NewPartition
    cache[2][0][2].replica: NonExistentReplica → OnlineReplica
    cache[2][1][2].replica: NonExistentReplica → OnlineReplica
    cache[2].queued: false → true
partition_state_machine_starts(broker=2)
    cache[2].task: starts_partitions → resumes
controller_stops_replicas(broker=2)
    zk[0].state.epoch: 1 → 2
    cache[2].task: stops → deletes
    cache[2][0][2].replica: OnlineReplica → OfflineReplica
    request[2][2][0].stop: none → stop
    request[2][2][1].stop: none → stop
controller_deletes_replicas(broker=2)
    cache[2].task: deletes → waits
    cache[2][0][2].replica: OfflineReplica → ReplicaDeletionStarted
    request[2][2][0].stop: stop → delete
controller_stops_replicas(broker=2)
    cache[2].task: stops → deletes
    request[2][2][1].stop: none → stop
controller_deletes_replicas(broker=2)
    cache[2].task: deletes → waits
refused deletion_is_complete(broker=2)
    it looks whether a deletion can go on — false (cache[2].task waits)
cache[2][0][1].replica: NonExistentReplica
cache[2][0][2].replica: ReplicaDeletionSuccessful
cache[2][1][1].replica: NonExistentReplica
cache[2][1][2].replica: OnlineReplica
zk.requested: true
