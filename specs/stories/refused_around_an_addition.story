# What is refused at each moment while a partition is added to a topic that is being deleted.
# Shows: for most steps of the system a moment at which it is not possible, and the reason why.
system topics version 2.3 brokers 2 partitions 2

refused admin_creates_topic first=1 second=none third=1 count=1
refused admin_creates_topic first=1 second=none third=2 count=1
refused admin_adds_partition partition=0 first=1 second=none third=2
refused broker_starts broker=1
refused broker_reconnects broker=1
refused reply_to_registration_is_lost broker=1
refused broker_learns_it_won broker=1
refused broker_loses_controller_election broker=1
refused controller_resigns broker=1
refused controller_node_is_deleted
refused controller_write_is_fenced broker=1
refused controller_reads_context broker=1
refused replica_state_machine_starts broker=1
refused partition_state_machine_starts broker=1
refused controller_sees_topic broker=1
refused controller_sees_topic_gone broker=1
refused controller_finds_no_new_topic broker=1
refused controller_sees_partitions broker=1
refused controller_undoes_addition broker=1
refused controller_finds_no_new_partition broker=1
refused controller_creates_new_partitions broker=1
refused controller_creates_new_replicas broker=1
refused controller_brings_partitions_online broker=1
refused controller_brings_new_replicas_online broker=1
refused controller_sees_failure broker=1 failed=1
refused controller_elects_for_failed broker=1
refused controller_takes_replicas_offline broker=1
refused controller_sees_start broker=1 started=1
refused controller_elects_for_started broker=1
refused controller_queues_deletion broker=1
refused controller_drops_request broker=1
refused controller_sees_no_request broker=1
refused deletion_starts broker=1
refused controller_stops_replicas broker=1
refused controller_deletes_replicas broker=1
refused controller_receives_stop_replica_response broker=1 replica=1
refused deletion_waits broker=1
refused deletion_is_retried broker=1
refused deletion_is_complete broker=1
refused partition_znode_is_deleted broker=1 partition=0
refused topic_znode_is_deleted broker=1
refused request_is_removed broker=1
refused broker_obeys_leader_and_isr broker=1 controller=1
refused broker_refuses_older_controller broker=1 controller=1
refused broker_stops_replicas broker=1 controller=1
refused broker_cannot_delete broker=1 controller=1
refused leader_expands_isr leader=1 replica=1 partition=0
refused request_is_lost controller=1 broker=1
quietly broker_becomes_controller broker=1
refused broker_loses_controller_election broker=1
quietly broker_learns_it_won broker=1
refused controller_resigns broker=1
refused controller_write_is_fenced broker=1
refused replica_state_machine_starts broker=1
refused partition_state_machine_starts broker=1
refused controller_sees_topic broker=1
refused controller_sees_topic_gone broker=1
refused controller_finds_no_new_topic broker=1
refused controller_sees_partitions broker=1
refused controller_undoes_addition broker=1
refused controller_finds_no_new_partition broker=1
refused controller_creates_new_partitions broker=1
refused controller_creates_new_replicas broker=1
refused controller_brings_partitions_online broker=1
refused controller_brings_new_replicas_online broker=1
refused controller_sees_failure broker=1 failed=1
refused controller_elects_for_failed broker=1
refused controller_takes_replicas_offline broker=1
refused controller_sees_start broker=1 started=1
refused controller_elects_for_started broker=1
refused controller_queues_deletion broker=1
refused controller_drops_request broker=1
refused controller_sees_no_request broker=1
refused deletion_starts broker=1
refused controller_stops_replicas broker=1
refused controller_deletes_replicas broker=1
refused controller_receives_stop_replica_response broker=1 replica=1
refused deletion_waits broker=1
refused deletion_is_retried broker=1
refused deletion_is_complete broker=1
refused partition_znode_is_deleted broker=1 partition=0
refused topic_znode_is_deleted broker=1
refused request_is_removed broker=1
quietly admin_creates_topic first=2 second=none third=none count=1
refused admin_adds_partition partition=0 first=1 second=none third=none
quietly controller_reads_context broker=1
refused controller_write_is_fenced broker=1
refused controller_reads_context broker=1
quietly replica_state_machine_starts broker=1
quietly partition_state_machine_starts broker=1
refused controller_sees_topic broker=1
refused controller_sees_topic_gone broker=1
refused controller_finds_no_new_topic broker=1
refused controller_sees_partitions broker=1
refused controller_undoes_addition broker=1
refused controller_finds_no_new_partition broker=1
refused controller_sees_failure broker=1 failed=1
refused controller_sees_start broker=1 started=1
refused controller_queues_deletion broker=1
refused controller_drops_request broker=1
refused controller_sees_no_request broker=1
refused controller_receives_stop_replica_response broker=1 replica=1
refused broker_refuses_older_controller broker=2 controller=1
refused request_is_lost controller=1 broker=2
quietly admin_deletes_topic
refused controller_drops_request broker=1
refused controller_sees_no_request broker=1
quietly controller_queues_deletion broker=1
refused deletion_waits broker=1
refused deletion_is_retried broker=1
refused deletion_is_complete broker=1
quietly deletion_starts broker=1
quietly controller_stops_replicas broker=1
refused broker_stops_replicas broker=2 controller=1
refused broker_cannot_delete broker=2 controller=1
quietly controller_deletes_replicas broker=1
quietly admin_adds_partition partition=1 first=2 second=none third=none
refused controller_finds_no_new_partition broker=1
----
refused admin_creates_topic(first=1, second=none, third=1, count=1)
    no broker is twice in the list — false
refused admin_creates_topic(first=1, second=none, third=2, count=1)
    the list has no gap — false
refused admin_adds_partition(partition=0, first=1, second=none, third=2)
    the list has no gap — false
refused broker_starts(broker=1)
    the process does not run — false (up {1,2})
refused broker_reconnects(broker=1)
    its session has expired — false (zk.registered {1,2})
refused reply_to_registration_is_lost(broker=1)
    the broker won and has not learned that yet — false (campaign[1] 0)
refused broker_learns_it_won(broker=1)
    the broker won and has not learned that yet — false (campaign[1] 0)
refused broker_loses_controller_election(broker=1)
    the broker won and has not learned that yet — false (campaign[1] 0)
refused controller_resigns(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_node_is_deleted()
    /controller exists — false (zk.controller none)
refused controller_write_is_fenced(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_reads_context(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused replica_state_machine_starts(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused partition_state_machine_starts(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_sees_topic(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_sees_topic_gone(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_finds_no_new_topic(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_sees_partitions(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_undoes_addition(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_finds_no_new_partition(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_creates_new_partitions(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_creates_new_replicas(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_brings_partitions_online(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_brings_new_replicas_online(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_sees_failure(broker=1, failed=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_elects_for_failed(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_takes_replicas_offline(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_sees_start(broker=1, started=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_elects_for_started(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_queues_deletion(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_drops_request(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_sees_no_request(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused deletion_starts(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_stops_replicas(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_deletes_replicas(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_receives_stop_replica_response(broker=1, replica=1)
    the broker believes it is the controller — false (belief[1] 0)
refused deletion_waits(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused deletion_is_retried(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused deletion_is_complete(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused partition_znode_is_deleted(broker=1, partition=0)
    the broker believes it is the controller — false (belief[1] 0)
refused topic_znode_is_deleted(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused request_is_removed(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused broker_obeys_leader_and_isr(broker=1, controller=1)
    a LeaderAndIsr is under way to it — false
refused broker_refuses_older_controller(broker=1, controller=1)
    a request is under way to it — false
refused broker_stops_replicas(broker=1, controller=1)
    a StopReplica is under way to it — false
refused broker_cannot_delete(broker=1, controller=1)
    a StopReplica is under way to it — false
refused leader_expands_isr(leader=1, replica=1, partition=0)
    the broker believes it leads — false (replica[1][0].role none)
refused request_is_lost(controller=1, broker=1)
    something is under way to the broker — false
refused broker_loses_controller_election(broker=1)
    its reply was lost — false (reply_lost[1] false)
refused controller_resigns(broker=1)
    /controller is not its own any more — false (zk.controller 1)
refused controller_write_is_fenced(broker=1)
    it is about to write — false (belief[1] 1, cache[1].gone none, cache[1].outdated false, cache[1].queued false, cache[1].task reads_zookeeper, zk[0][0].assignment none)
refused replica_state_machine_starts(broker=1)
    it has read ZooKeeper — false (cache[1].task reads_zookeeper)
refused partition_state_machine_starts(broker=1)
    its replica state machine has started — false (cache[1].task reads_zookeeper)
refused controller_sees_topic(broker=1)
    it is not in the middle of another event — false (cache[1].task reads_zookeeper)
refused controller_sees_topic_gone(broker=1)
    it is not in the middle of another event — false (cache[1].task reads_zookeeper)
refused controller_finds_no_new_topic(broker=1)
    it is not in the middle of another event — false (cache[1].task reads_zookeeper)
refused controller_sees_partitions(broker=1)
    it is not in the middle of another event — false (cache[1].task reads_zookeeper)
refused controller_undoes_addition(broker=1)
    it is not in the middle of another event — false (cache[1].task reads_zookeeper)
refused controller_finds_no_new_partition(broker=1)
    it is not in the middle of another event — false (cache[1].task reads_zookeeper)
refused controller_creates_new_partitions(broker=1)
    it has read the new partitions — false (cache[1].task reads_zookeeper)
refused controller_creates_new_replicas(broker=1)
    the new partitions are in the state machine — false (cache[1].task reads_zookeeper)
refused controller_brings_partitions_online(broker=1)
    the new replicas are in the state machine — false (cache[1].task reads_zookeeper)
refused controller_brings_new_replicas_online(broker=1)
    the states were written — false (cache[1].task reads_zookeeper)
refused controller_sees_failure(broker=1, failed=1)
    it is not in the middle of another event — false (cache[1].task reads_zookeeper)
refused controller_elects_for_failed(broker=1)
    a broker failed — false (cache[1].task reads_zookeeper)
refused controller_takes_replicas_offline(broker=1)
    its partitions were given to others — false (cache[1].task reads_zookeeper)
refused controller_sees_start(broker=1, started=1)
    it is not in the middle of another event — false (cache[1].task reads_zookeeper)
refused controller_elects_for_started(broker=1)
    a broker started — false (cache[1].task reads_zookeeper)
refused controller_queues_deletion(broker=1)
    it is not in the middle of another event — false (cache[1].task reads_zookeeper)
refused controller_drops_request(broker=1)
    it is not in the middle of another event — false (cache[1].task reads_zookeeper)
refused controller_sees_no_request(broker=1)
    it is not in the middle of another event — false (cache[1].task reads_zookeeper)
refused deletion_starts(broker=1)
    it looks whether a deletion can go on — false (cache[1].task reads_zookeeper)
refused controller_stops_replicas(broker=1)
    the deletion has started — false (cache[1].task reads_zookeeper)
refused controller_deletes_replicas(broker=1)
    the live replicas were stopped — false (cache[1].task reads_zookeeper)
refused controller_receives_stop_replica_response(broker=1, replica=1)
    it is not in the middle of another event — false (cache[1].task reads_zookeeper)
refused deletion_waits(broker=1)
    it looks whether a deletion can go on — false (cache[1].task reads_zookeeper)
refused deletion_is_retried(broker=1)
    it looks whether a deletion can go on — false (cache[1].task reads_zookeeper)
refused deletion_is_complete(broker=1)
    it looks whether a deletion can go on — false (cache[1].task reads_zookeeper)
refused partition_znode_is_deleted(broker=1, partition=0)
    the deletion is complete — false (cache[1].task reads_zookeeper)
refused topic_znode_is_deleted(broker=1)
    the deletion is complete — false (cache[1].task reads_zookeeper)
refused request_is_removed(broker=1)
    the topic's node was removed — false (cache[1].task reads_zookeeper)
refused admin_adds_partition(partition=0, first=1, second=none, third=none)
    there is no such partition yet — false (zk[0][0].assignment 2)
refused controller_write_is_fenced(broker=1)
    it is about to write — false (belief[1] 1, cache[1].gone none, cache[1].outdated false, cache[1].queued false, cache[1].task starts_replicas, zk[0][0].assignment 2)
refused controller_reads_context(broker=1)
    it has not read ZooKeeper yet — false (cache[1].task starts_replicas)
refused controller_sees_topic(broker=1)
    its watch of /brokers/topics fired — false (cache[1].fired.topics false)
refused controller_sees_topic_gone(broker=1)
    its watch of /brokers/topics fired — false (cache[1].fired.topics false)
refused controller_finds_no_new_topic(broker=1)
    its watch of /brokers/topics fired — false (cache[1].fired.topics false)
refused controller_sees_partitions(broker=1)
    its watch of the topic's node fired — false (cache[1].fired.partitions false)
refused controller_undoes_addition(broker=1)
    its watch of the topic's node fired — false (cache[1].fired.partitions false)
refused controller_finds_no_new_partition(broker=1)
    its watch of the topic's node fired — false (cache[1].fired.partitions false)
refused controller_sees_failure(broker=1, failed=1)
    its registration is gone — false (cache[1].reached {1,2}, zk.registered {1,2})
refused controller_sees_start(broker=1, started=1)
    it is dead, as far as the controller knows — false (cache[1].live {1,2})
refused controller_queues_deletion(broker=1)
    its watch of /admin/delete_topics fired — false (cache[1].fired.deletions false)
refused controller_drops_request(broker=1)
    its watch of /admin/delete_topics fired — false (cache[1].fired.deletions false)
refused controller_sees_no_request(broker=1)
    its watch of /admin/delete_topics fired — false (cache[1].fired.deletions false)
refused controller_receives_stop_replica_response(broker=1, replica=1)
    the broker answered — false (belief[1] 1)
refused broker_refuses_older_controller(broker=2, controller=1)
    it has seen a newer controller — false (seen[2] 0)
refused request_is_lost(controller=1, broker=2)
    the sender is not the controller any more — false (belief[1] 1)
refused controller_drops_request(broker=1)
    it does not know the topic — false (cache[1][0][0].known 2)
refused controller_sees_no_request(broker=1)
    no deletion is requested — false (zk.requested true)
refused deletion_waits(broker=1)
    it must wait for an answer or a broker — false (cache[1].ineligible false)
refused deletion_is_retried(broker=1)
    a replica could not be deleted — false
refused deletion_is_complete(broker=1)
    every replica is deleted — false (cache[1][0][0].known 2, cache[1][0][2].replica OnlineReplica)
refused broker_stops_replicas(broker=2, controller=1)
    nothing was sent to it before that — false (request[1][2][0].order lead)
refused broker_cannot_delete(broker=2, controller=1)
    nothing was sent to it before that — false (request[1][2][0].order lead)
refused controller_finds_no_new_partition(broker=1)
    it knows every partition — false (cache[1][1][0].known none, zk[1][0].assignment 2)
