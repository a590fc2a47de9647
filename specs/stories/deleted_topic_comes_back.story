# A broker was down while its topic was deleted, and leads the next one of that name with old data.
# Shows: a topic is known by its name alone up to 2.7. A deletion waits for a dead broker, unless
# its replica was reassigned away before; then nothing removes what lies there. (KIP-516)
system topics version 2.3 without dead_brokers_keep_their_replicas brokers 2 partitions 1

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
quietly controller_sees_failure broker=1 failed=2
quietly controller_elects_for_failed broker=1
quietly controller_takes_replicas_offline broker=1
quietly broker_obeys_leader_and_isr broker=1 controller=1
dead_replica_is_reassigned broker=1 replica=2

# Now the deletion need not wait for broker 2.
quietly admin_deletes_topic
quietly controller_queues_deletion broker=1
quietly deletion_starts broker=1
quietly controller_stops_replicas broker=1
quietly controller_deletes_replicas broker=1
quietly broker_stops_replicas broker=1 controller=1
quietly controller_receives_stop_replica_response broker=1 replica=1
quietly deletion_is_complete broker=1
quietly partition_znode_is_deleted broker=1 partition=0
quietly topic_znode_is_deleted broker=1
quietly request_is_removed broker=1
show replica

# A topic of the same name, and broker 2 is back to lead it.
quietly broker_starts broker=2
admin_creates_topic first=2 second=1 third=none count=1
quietly controller_sees_start broker=1 started=2
quietly controller_sees_topic broker=1
quietly controller_creates_new_partitions broker=1
quietly controller_creates_new_replicas broker=1
controller_brings_partitions_online broker=1
broker_obeys_leader_and_isr broker=2 controller=1
check deleted_data_is_never_served
check deleted_data_returns_only_after_reassignment
----
dead_replica_is_reassigned(broker=1, replica=2)
    zk[0][1].assignment: 2 → none
    cache[1][0][1].known: 2 → none
    cache[1][0][2].replica: OfflineReplica → NonExistentReplica
    left_behind: false → true
replica[1][0].directory: none
replica[2][0].directory: current
admin_creates_topic(first=2, second=1, third=none, count=1)
    zk[0][0].assignment: none → 2
    zk[0][1].assignment: none → 1
    replica[2][0].directory: current → stale
controller_brings_partitions_online(broker=1)
    zk[0].state.exists: false → true
    zk[0].state.leader: none → 2
    zk[0].state.isr: {} → {1,2}
    zk[0].state.epoch: 0 → 1
    cache[1].task: elects_new → enlists
    cache[1][0].led: false → true
    cache[1][0].leader: none → 2
    cache[1][0].partition: NewPartition → OnlinePartition
    request[1][1][0].order: none → follow
    request[1][2][0].order: none → lead
broker_obeys_leader_and_isr(broker=2, controller=1)
    request[1][2][0].order: lead → none
    seen[2]: 0 → 1
    replica[2][0].role: none → leader
    risen: false → true
deleted_data_is_never_served: broken — no broker is made leader of a partition over what an earlier topic of that name left
    (risen true)
deleted_data_returns_only_after_reassignment: holds
