# A controller's unsent requests are lost; the next one deletes, and a disk fails to delete.
# Shows: a directory that cannot be renamed stays, and its replica is gone all the same.
system topics version 2.3 brokers 2

quietly admin_creates_topic first=1 second=none third=none count=1
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly replica_state_machine_starts broker=1
quietly partition_state_machine_starts broker=1
quietly session_expires broker=1
quietly controller_resigns broker=1
request_is_lost controller=1 broker=1
quietly admin_deletes_topic
quietly broker_reconnects broker=1
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly replica_state_machine_starts broker=1
quietly broker_obeys_leader_and_isr broker=1 controller=2
quietly partition_state_machine_starts broker=1
quietly deletion_starts broker=1
quietly controller_stops_replicas broker=1
quietly controller_deletes_replicas broker=1
broker_cannot_delete broker=1 controller=2

controller_receives_stop_replica_response broker=1 replica=1
check deleted_topics_leave_no_data
----
request_is_lost(controller=1, broker=1)
    request[1][1][0].order: lead → none
broker_cannot_delete(broker=1, controller=2)
    request[2][1][0].stop: delete → failed
    replica[1][0].role: leader → none
controller_receives_stop_replica_response(broker=1, replica=1)
    cache[1].task: waits → resumes
    cache[1][0][1].replica: ReplicaDeletionStarted → ReplicaDeletionIneligible
    cache[1].ineligible: false → true
    request[2][1][0].stop: failed → none
deleted_topics_leave_no_data: holds of every step
