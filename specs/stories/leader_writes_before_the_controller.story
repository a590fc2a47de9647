# A leader adds a follower to the ISR between a controller's read of the state and its write.
# Shows: the controller's write names the version that it read and fails; it reads once more, and
# takes out of the ISR who is there by now. Else the state would keep a replica that is deleted.
system topics version 2.3 brokers 4 partitions 1

quietly broker_becomes_controller broker=4
quietly broker_learns_it_won broker=4
quietly controller_reads_context broker=4
quietly replica_state_machine_starts broker=4
quietly partition_state_machine_starts broker=4
quietly admin_creates_topic first=1 second=2 third=3 count=1
quietly controller_sees_topic broker=4
quietly controller_creates_new_partitions broker=4
quietly controller_creates_new_replicas broker=4
quietly controller_brings_partitions_online broker=4
quietly controller_brings_new_replicas_online broker=4
quietly broker_obeys_leader_and_isr broker=1 controller=1
quietly broker_obeys_leader_and_isr broker=2 controller=1
quietly broker_obeys_leader_and_isr broker=3 controller=1

# Broker 2 was away for a moment, follows again, and is not back in the ISR.
quietly session_expires broker=2
quietly controller_sees_failure broker=4 failed=2
refused leader_expands_isr_before_controller_writes leader=1 replica=2 partition=0 broker=4
quietly controller_elects_for_failed broker=4
controller_takes_replicas_offline broker=4
quietly broker_reconnects broker=2
quietly controller_sees_start broker=4 started=2
quietly controller_elects_for_started broker=4
refused leader_expands_isr_before_controller_writes leader=1 replica=2 partition=0 broker=4
quietly broker_obeys_leader_and_isr broker=1 controller=1
quietly broker_obeys_leader_and_isr broker=2 controller=1

# The topic is to be deleted: the controller has read the ISR {1,3}, and is to take 3 out.
quietly admin_deletes_topic
quietly controller_queues_deletion broker=4
quietly deletion_starts broker=4
refused controller_write_conflicts broker=4
refused leader_expands_isr_before_controller_writes leader=1 replica=2 partition=0 broker=1
leader_expands_isr_before_controller_writes leader=1 replica=2 partition=0 broker=4
refused controller_stops_replicas broker=4
controller_write_conflicts broker=4
controller_stops_replicas broker=4
check state_writes_are_conditional
----
refused leader_expands_isr_before_controller_writes(leader=1, replica=2, partition=0, broker=4)
    it is not in the ISR — false (zk[0].state.isr {1,2,3})
controller_takes_replicas_offline(broker=4)
    zk[0].state.isr: {1,2,3} → {1,3}
    cache[4].task: takes_offline → waits
    cache[4].gone: 2 → none
    cache[4][0][2].replica: OnlineReplica → OfflineReplica
    request[1][1][0].order: none → lead
    request[1][3][0].order: none → follow
refused leader_expands_isr_before_controller_writes(leader=1, replica=2, partition=0, broker=4)
    the controller has read the state to write it — false (belief[4] 1, cache[4].gone none, cache[4].task waits, cache[4][0].followed false, cache[4][0].leader 1, cache[4][0].led true, cache[4][0].partition OnlinePartition, zk[0].state.epoch 1, zk[0].state.exists true, zk[0][0].assignment 1)
refused controller_write_conflicts(broker=4)
    the version that it read is out of date — false (cache[4].outdated false)
refused leader_expands_isr_before_controller_writes(leader=1, replica=2, partition=0, broker=1)
    the controller has read the state to write it — false (belief[1] 0, cache[1].gone none, cache[1].task reads_zookeeper, cache[1][0].followed false, cache[1][0].leader none, cache[1][0].led false, cache[1][0].partition NonExistentPartition, cache[1][0][1].known none, zk[0].state.epoch 1, zk[0].state.exists true, zk[0][0].assignment 1)
leader_expands_isr_before_controller_writes(leader=1, replica=2, partition=0, broker=4)
    zk[0].state.isr: {1,3} → {1,2,3}
    cache[4].outdated: false → true
refused controller_stops_replicas(broker=4)
    the version that it read is current — false (cache[4].outdated true)
controller_write_conflicts(broker=4)
    cache[4].outdated: true → false
controller_stops_replicas(broker=4)
    zk[0].state.leader: 1 → none
    zk[0].state.isr: {1,2,3} → {1}
    cache[4].task: stops → deletes
    cache[4][0].leader: 1 → none
    cache[4][0][1].replica: OnlineReplica → OfflineReplica
    cache[4][0][2].replica: OnlineReplica → OfflineReplica
    cache[4][0][3].replica: OnlineReplica → OfflineReplica
    request[1][1][0].stop: none → stop
    request[1][2][0].stop: none → stop
    request[1][3][0].stop: none → stop
state_writes_are_conditional: holds of every step
