# What is refused at each moment while a topic is deleted and a broker is dead.
# Shows: what waits for an answer, for a broker, or for the end of a deletion.
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
quietly controller_sees_failure broker=1 failed=2
quietly controller_elects_for_failed broker=1
quietly controller_takes_replicas_offline broker=1
quietly broker_obeys_leader_and_isr broker=1 controller=1
quietly admin_deletes_topic
quietly controller_queues_deletion broker=1
quietly deletion_starts broker=1
quietly controller_stops_replicas broker=1
refused broker_cannot_delete broker=1 controller=1
refused leader_expands_isr leader=1 replica=1 partition=0
quietly controller_deletes_replicas broker=1
quietly broker_stops_replicas broker=1 controller=1
quietly controller_receives_stop_replica_response broker=1 replica=1
refused deletion_starts broker=1
quietly deletion_is_retried broker=1
quietly deletion_waits broker=1
quietly broker_starts broker=2
quietly controller_sees_start broker=1 started=2
quietly broker_obeys_leader_and_isr broker=2 controller=1
quietly deletion_starts broker=1
quietly controller_stops_replicas broker=1
quietly controller_deletes_replicas broker=1
quietly broker_stops_replicas broker=2 controller=1
quietly controller_receives_stop_replica_response broker=1 replica=2
refused deletion_starts broker=1
refused deletion_waits broker=1
refused deletion_is_retried broker=1
quietly deletion_is_complete broker=1
refused topic_znode_is_deleted broker=1
quietly partition_znode_is_deleted broker=1 partition=0
refused partition_znode_is_deleted broker=1 partition=0
quietly topic_znode_is_deleted broker=1
quietly request_is_removed broker=1
refused controller_sees_topic broker=1
refused controller_sees_topic_gone broker=1
refused controller_queues_deletion broker=1
refused controller_drops_request broker=1
----
refused broker_cannot_delete(broker=1, controller=1)
    the request is to delete — false
refused leader_expands_isr(leader=1, replica=1, partition=0)
    the state names it — false (zk[0].state.leader none)
refused deletion_starts(broker=1)
    no replica's deletion is under way or failed — false (cache[1][0][2].replica ReplicaDeletionIneligible)
refused deletion_starts(broker=1)
    some replica is not deleted yet — false
refused deletion_waits(broker=1)
    some replica is not deleted yet — false
refused deletion_is_retried(broker=1)
    some replica is not deleted yet — false
refused topic_znode_is_deleted(broker=1)
    no partition has a state — false (zk[0].state.exists true)
refused partition_znode_is_deleted(broker=1, partition=0)
    the partition has a state — false (zk[0].state.exists false)
refused controller_sees_topic(broker=1)
    the topic exists — false (zk[0][0].assignment none)
refused controller_sees_topic_gone(broker=1)
    it knows the topic — false (cache[1][0][0].known none)
refused controller_queues_deletion(broker=1)
    a deletion is requested — false (zk.requested false)
refused controller_drops_request(broker=1)
    a deletion is requested — false (zk.requested false)
