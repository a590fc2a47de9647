# A broker's session ends, and it registers again before the controller reads the registrations.
# Shows: one event takes it for failed and then for started, by the registration that it read.
system topics version 2.3 brokers 2 partitions 1

quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly replica_state_machine_starts broker=1
quietly partition_state_machine_starts broker=1
quietly admin_creates_topic first=1 second=2 third=none count=1
quietly controller_sees_topic broker=1
quietly controller_creates_new_partitions broker=1
quietly controller_creates_new_replicas broker=1
quietly controller_brings_partitions_online broker=1
quietly controller_brings_new_replicas_online broker=1
quietly broker_obeys_leader_and_isr broker=1 controller=1
quietly broker_obeys_leader_and_isr broker=2 controller=1
quietly session_expires broker=2
quietly broker_reconnects broker=2
refused controller_starts_bounced_broker broker=1 started=2
controller_sees_failure broker=1 failed=2
quietly controller_elects_for_failed broker=1
controller_takes_replicas_offline broker=1
refused controller_sees_start broker=1 started=2
refused controller_starts_bounced_broker broker=1 started=1
controller_starts_bounced_broker broker=1 started=2
quietly controller_elects_for_started broker=1
quietly broker_obeys_leader_and_isr broker=2 controller=1
leader_expands_isr leader=1 replica=2 partition=0

# Once more; this time the controller's own session ends before the broker is started.
quietly session_expires broker=2
quietly broker_reconnects broker=2
quietly controller_sees_failure broker=1 failed=2
quietly controller_elects_for_failed broker=1
quietly controller_takes_replicas_offline broker=1
quietly session_expires broker=1
refused controller_starts_bounced_broker broker=1 started=2
----
refused controller_starts_bounced_broker(broker=1, started=2)
    what it was missed for is done — false (cache[1].task waits)
controller_sees_failure(broker=1, failed=2)
    cache[1].task: waits → elects_for_failed
    cache[1].live: {1,2} → {1}
    cache[1].reached: {1} → {1,2}
    cache[1].gone: none → 2
    cache[1].returns: none → 2
controller_takes_replicas_offline(broker=1)
    zk[0].state.isr: {1,2} → {1}
    cache[1].task: takes_offline → starts_returned
    cache[1].gone: 2 → none
    cache[1][0][2].replica: OnlineReplica → OfflineReplica
    request[1][1][0].order: none → lead
refused controller_sees_start(broker=1, started=2)
    it is not in the middle of another event — false (cache[1].task starts_returned)
refused controller_starts_bounced_broker(broker=1, started=1)
    it is the broker that was missed — false (cache[1].returns 2)
controller_starts_bounced_broker(broker=1, started=2)
    cache[1].task: starts_returned → elects_for_started
    cache[1].live: {1} → {1,2}
    cache[1].returns: 2 → none
    cache[1][0][2].replica: OfflineReplica → OnlineReplica
    request[1][2][0].order: none → follow
leader_expands_isr(leader=1, replica=2, partition=0)
    zk[0].state.isr: {1} → {1,2}
refused controller_starts_bounced_broker(broker=1, started=2)
    it has a ZooKeeper session — false (zk.registered {2})
