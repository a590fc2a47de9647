# A controller starts to delete a topic and crashes; its successor does not resume the deletion.
# Shows: before 0.8.2 nobody went on with a deletion (KAFKA-1681); the request stays for ever.
system topics version 2.3 without deletion_resumed brokers 2 partitions 1

quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly admin_creates_topic first=2 second=none third=none count=1
quietly controller_reads_context broker=1
quietly replica_state_machine_starts broker=1
quietly partition_state_machine_starts broker=1
quietly broker_obeys_leader_and_isr broker=2 controller=1
quietly admin_deletes_topic
quietly controller_queues_deletion broker=1
deletion_starts broker=1
broker_crashes broker=1
quietly session_expires broker=1
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
controller_reads_context broker=2
quietly replica_state_machine_starts broker=2
partition_state_machine_starts broker=2

# The crashed broker comes back: it hosts nothing of the topic, so nothing is looked at again.
quietly broker_starts broker=1
controller_sees_start broker=2 started=1
quietly broker_obeys_leader_and_isr broker=2 controller=2
refused deletion_starts broker=2
show zk.requested
check requested_deletions_end
----
deletion_starts(broker=1)
    cache[1].task: resumes → stops
    cache[1][0].partition: OnlinePartition → NonExistentPartition
    cache[1].started: false → true
broker_crashes(broker=1)
    up: {1,2} → {2}
    belief[1]: 1 → 0
    cache[1].task: stops → reads_zookeeper
    cache[1].live: {1,2} → {}
    cache[1].reached: {1,2} → {}
    cache[1][0][0].known: 2 → none
    cache[1][0].led: true → false
    cache[1][0].leader: 2 → none
    cache[1][0][2].replica: OnlineReplica → NonExistentReplica
    cache[1].queued: true → false
    cache[1].started: true → false
controller_reads_context(broker=2)
    cache[2].task: reads_zookeeper → starts_replicas
    cache[2].live: {} → {2}
    cache[2].reached: {} → {2}
    cache[2][0][0].known: none → 2
    cache[2][0].led: false → true
    cache[2][0].leader: none → 2
    cache[2][0].partition: NonExistentPartition → OnlinePartition
    cache[2][0][2].replica: NonExistentReplica → OnlineReplica
    cache[2].queued: false → true
partition_state_machine_starts(broker=2)
    cache[2].task: starts_partitions → waits
controller_sees_start(broker=2, started=1)
    cache[2].live: {2} → {1,2}
    cache[2].reached: {2} → {1,2}
refused deletion_starts(broker=2)
    it looks whether a deletion can go on — false (cache[2].task waits)
zk.requested: true
requested_deletions_end: not so here — with all brokers alive a deletion that was requested comes to an end
