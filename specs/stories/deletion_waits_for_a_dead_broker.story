# A topic is deleted while a broker is dead: the deletion waits until it restarts.
# Shows: the dead replica is ineligible, and with it the topic; a broker that starts makes it
# eligible again. No data is left, so a topic of that name may come (with the condition that no
# replica was reassigned away meanwhile).
system topics version 2.3 brokers 2 partitions 1

quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly admin_creates_topic first=1 second=2 third=none count=1
quietly controller_reads_context broker=1
quietly replica_state_machine_starts broker=1
quietly partition_state_machine_starts broker=1
quietly broker_obeys_leader_and_isr broker=1 controller=1
quietly broker_obeys_leader_and_isr broker=2 controller=1
quietly broker_crashes broker=2
quietly session_expires broker=2
controller_sees_failure broker=1 failed=2
quietly controller_elects_for_failed broker=1
controller_takes_replicas_offline broker=1
quietly broker_obeys_leader_and_isr broker=1 controller=1

# The request is a znode with the topic's name. A second one is refused.
admin_deletes_topic
refused admin_deletes_topic
controller_queues_deletion broker=1
deletion_starts broker=1
controller_stops_replicas broker=1
controller_deletes_replicas broker=1
broker_stops_replicas broker=1 controller=1
controller_receives_stop_replica_response broker=1 replica=1

# The one that failed goes offline, to be tried again; but the topic is ineligible, and waits.
deletion_is_retried broker=1
refused deletion_starts broker=1
deletion_waits broker=1
show zk.requested

# The broker starts. First it is sent what it hosts, as any broker is; then the deletion goes on.
quietly broker_starts broker=2
controller_sees_start broker=1 started=2
quietly broker_obeys_leader_and_isr broker=2 controller=1
quietly deletion_starts broker=1
quietly controller_stops_replicas broker=1
controller_deletes_replicas broker=1
broker_stops_replicas broker=2 controller=1
quietly controller_receives_stop_replica_response broker=1 replica=2
deletion_is_complete broker=1
partition_znode_is_deleted broker=1 partition=0
topic_znode_is_deleted broker=1
request_is_removed broker=1
check deleted_topics_leave_no_data
check state_changes_are_valid
check no_leader_and_isr_for_topics_being_deleted
----
controller_sees_failure(broker=1, failed=2)
    cache[1].task: waits → elects_for_failed
    cache[1].live: {1,2} → {1}
    cache[1].reached: {1,2} → {1}
    cache[1].gone: none → 2
controller_takes_replicas_offline(broker=1)
    zk[0].state.isr: {1,2} → {1}
    cache[1].task: takes_offline → waits
    cache[1].gone: 2 → none
    cache[1][0][2].replica: OnlineReplica → OfflineReplica
    request[1][1][0].order: none → lead
admin_deletes_topic()
    zk.requested: false → true
    cache[1].fired.deletions: false → true
refused admin_deletes_topic()
    it is not marked for deletion already — false (zk.requested true)
controller_queues_deletion(broker=1)
    cache[1].task: waits → resumes
    cache[1].fired.deletions: true → false
    cache[1].queued: false → true
deletion_starts(broker=1)
    cache[1].task: resumes → stops
    cache[1][0].partition: OnlinePartition → NonExistentPartition
    cache[1][0][2].replica: OfflineReplica → ReplicaDeletionIneligible
    cache[1].started: false → true
controller_stops_replicas(broker=1)
    zk[0].state.leader: 1 → none
    cache[1].task: stops → deletes
    cache[1][0].leader: 1 → none
    cache[1][0][1].replica: OnlineReplica → OfflineReplica
    request[1][1][0].stop: none → stop
controller_deletes_replicas(broker=1)
    cache[1].task: deletes → waits
    cache[1][0][1].replica: OfflineReplica → ReplicaDeletionStarted
    cache[1].ineligible: false → true
    request[1][1][0].stop: stop → delete
broker_stops_replicas(broker=1, controller=1)
    request[1][1][0].stop: delete → deleted
    replica[1][0].role: leader → none
    replica[1][0].directory: current → none
controller_receives_stop_replica_response(broker=1, replica=1)
    cache[1].task: waits → resumes
    cache[1][0][1].replica: ReplicaDeletionStarted → ReplicaDeletionSuccessful
    request[1][1][0].stop: deleted → none
deletion_is_retried(broker=1)
    cache[1][0][2].replica: ReplicaDeletionIneligible → OfflineReplica
refused deletion_starts(broker=1)
    the topic is eligible — false (cache[1].ineligible true)
deletion_waits(broker=1)
    cache[1].task: resumes → waits
zk.requested: true
controller_sees_start(broker=1, started=2)
    cache[1].task: waits → resumes
    cache[1].live: {1} → {1,2}
    cache[1].reached: {1} → {1,2}
    cache[1][0][2].replica: OfflineReplica → OnlineReplica
    cache[1].ineligible: true → false
    request[1][2][0].order: none → leaderless
controller_deletes_replicas(broker=1)
    cache[1].task: deletes → waits
    cache[1][0][2].replica: OfflineReplica → ReplicaDeletionStarted
    request[1][2][0].stop: stop → delete
broker_stops_replicas(broker=2, controller=1)
    request[1][2][0].stop: delete → deleted
    replica[2][0].directory: current → none
deletion_is_complete(broker=1)
    cache[1].task: resumes → unregisters
    cache[1][0][0].known: 1 → none
    cache[1][0][1].known: 2 → none
    cache[1][0].led: true → false
    cache[1][0][1].replica: ReplicaDeletionSuccessful → NonExistentReplica
    cache[1][0][2].replica: ReplicaDeletionSuccessful → NonExistentReplica
partition_znode_is_deleted(broker=1, partition=0)
    zk[0].state.exists: true → false
    zk[0].state.isr: {1} → {}
    zk[0].state.epoch: 1 → 0
topic_znode_is_deleted(broker=1)
    zk[0][0].assignment: 1 → none
    zk[0][1].assignment: 2 → none
    cache[1].task: unregisters → removes_request
    cache[1].fired.topics: false → true
request_is_removed(broker=1)
    zk.requested: true → false
    cache[1].task: removes_request → waits
    cache[1].fired.deletions: false → true
    cache[1].queued: true → false
    cache[1].started: true → false
deleted_topics_leave_no_data: holds of every step
state_changes_are_valid: holds of every step
no_leader_and_isr_for_topics_being_deleted: holds of every step
