# A deposed controller sends a restarted broker the state of a topic that is being deleted.
# Shows: the broker makes a directory anew that nobody deletes, and the next topic of that name begins
# with it. Broker epochs (KIP-380) do not help: the deposed controller reads the new registration. In
# Kafka its BrokerChange must be queued before its ControllerChange; here a controller looks at either
# first. With topic ids the broker refuses (KIP-516, 2.8).
system topics version 2.3 brokers 3 partitions 1

# Broker 1 is the controller, and broker 3 has the topic's one replica.
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly admin_creates_topic first=3 second=none third=none count=1
quietly controller_reads_context broker=1
quietly replica_state_machine_starts broker=1
quietly partition_state_machine_starts broker=1
quietly broker_obeys_leader_and_isr broker=3 controller=1

# Broker 2 deposes broker 1, and deletes the topic on broker 3.
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly admin_deletes_topic
quietly controller_reads_context broker=2
quietly replica_state_machine_starts broker=2
quietly partition_state_machine_starts broker=2
quietly deletion_starts broker=2
quietly controller_stops_replicas broker=2
quietly controller_deletes_replicas broker=2
quietly broker_obeys_leader_and_isr broker=3 controller=2
quietly broker_stops_replicas broker=3 controller=2
quietly controller_receives_stop_replica_response broker=2 replica=3
quietly deletion_is_complete broker=2

# Before it is out of ZooKeeper broker 3 starts again, and broker 1 sees that.
quietly broker_crashes broker=3
quietly session_expires broker=3
quietly broker_starts broker=3
controller_sees_failure broker=1 failed=3
controller_elects_for_failed broker=1
controller_takes_replicas_offline broker=1
controller_starts_bounced_broker broker=1 started=3
broker_obeys_leader_and_isr broker=3 controller=1

# The topic is gone, and its directory is not.
quietly partition_znode_is_deleted broker=2 partition=0
topic_znode_is_deleted broker=2
quietly request_is_removed broker=2
quietly controller_sees_failure broker=2 failed=3
quietly controller_starts_bounced_broker broker=2 started=3

# A topic of the same name begins with it.
admin_creates_topic first=3 second=none third=none count=1
quietly controller_sees_topic broker=2
quietly controller_creates_new_partitions broker=2
quietly controller_creates_new_replicas broker=2
quietly controller_brings_partitions_online broker=2
broker_obeys_leader_and_isr broker=3 controller=2
check deleted_data_is_never_served
check deleted_data_returns_only_after_reassignment
----
controller_sees_failure(broker=1, failed=3)
    cache[1].task: waits → elects_for_failed
    cache[1].live: {1,2,3} → {1,2}
    cache[1].reached: {1,2} → {1,2,3}
    cache[1].gone: none → 3
    cache[1].returns: none → 3
    cache[1][0].partition: OnlinePartition → OfflinePartition
controller_elects_for_failed(broker=1)
    cache[1].task: elects_for_failed → takes_offline
controller_takes_replicas_offline(broker=1)
    cache[1].task: takes_offline → starts_returned
    cache[1].gone: 3 → none
controller_starts_bounced_broker(broker=1, started=3)
    cache[1].task: starts_returned → elects_for_started
    cache[1].live: {1,2} → {1,2,3}
    cache[1].returns: 3 → none
    request[1][3][0].order: none → lead
broker_obeys_leader_and_isr(broker=3, controller=1)
    request[1][3][0].order: lead → none
    seen[3]: 0 → 1
    replica[3][0].role: none → leader
    replica[3][0].directory: none → current
topic_znode_is_deleted(broker=2)
    zk[0][0].assignment: 3 → none
    cache[2].task: unregisters → removes_request
    cache[1].fired.topics: false → true
    cache[2].fired.topics: false → true
admin_creates_topic(first=3, second=none, third=none, count=1)
    zk[0][0].assignment: none → 3
    replica[3][0].directory: current → stale
broker_obeys_leader_and_isr(broker=3, controller=2)
    request[2][3][0].order: lead → none
    seen[3]: 1 → 2
    risen: false → true
deleted_data_is_never_served: broken — no broker is made leader of a partition over what an earlier topic of that name left
    (risen true)
deleted_data_returns_only_after_reassignment: broken — a deleted topic comes back under its successor's name only if a replica was reassigned away from a broker while that broker was dead
    (left_behind false, risen true)
