# A controller is deposed before it retries a deletion: the fence refuses the write.
# Shows: a replica that could not be deleted goes offline and out of the ISR, which is a write.
system topics version 2.3 brokers 2 partitions 1

quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly admin_creates_topic first=2 second=1 third=none count=1
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

# Broker 2 is gone before it answers, and its replica is ineligible; broker 1 has answered.
quietly session_expires broker=2
controller_sees_failure broker=1 failed=2
quietly deletion_waits broker=1
controller_receives_stop_replica_response broker=1 replica=1

# Now it would try again; but by then broker 2 is back, and is the controller.
quietly broker_reconnects broker=2
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=2
refused deletion_is_retried broker=1
controller_write_is_fenced broker=1
check deposed_controllers_write_nothing
----
controller_sees_failure(broker=1, failed=2)
    cache[1].task: waits → resumes
    cache[1].live: {1,2} → {1}
    cache[1].reached: {1,2} → {1}
    cache[1][0][2].replica: ReplicaDeletionStarted → ReplicaDeletionIneligible
    cache[1].ineligible: false → true
    request[1][2][0].stop: delete → none
controller_receives_stop_replica_response(broker=1, replica=1)
    cache[1].task: waits → resumes
    cache[1][0][1].replica: ReplicaDeletionStarted → ReplicaDeletionSuccessful
    request[1][1][0].stop: deleted → none
refused deletion_is_retried(broker=1)
    the epoch that it won is the newest — false (belief[1] 1, cache[1][0].led true, cache[1][0][2].replica ReplicaDeletionIneligible, zk.epoch 2, zk[0].state.epoch 1, zk[0].state.exists true, zk[0].state.isr {2}, zk[0][0].assignment 2)
controller_write_is_fenced(broker=1)
    belief[1]: 1 → 0
    cache[1].task: resumes → reads_zookeeper
    cache[1].live: {1} → {}
    cache[1].reached: {1} → {}
    cache[1][0][0].known: 2 → none
    cache[1][0][1].known: 1 → none
    cache[1][0].led: true → false
    cache[1][0][1].replica: ReplicaDeletionSuccessful → NonExistentReplica
    cache[1][0][2].replica: ReplicaDeletionIneligible → NonExistentReplica
    cache[1].queued: true → false
    cache[1].started: true → false
    cache[1].ineligible: true → false
deposed_controllers_write_nothing: holds of every step
