# A controller is deposed at its start, and while it handles failed and started brokers.
# Shows: none of its batches is written any more; one that writes nothing is done. Who takes over reads
# what is there and begins again.
system topics version 2.3 brokers 2 partitions 1

quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly replica_state_machine_starts broker=2
quietly partition_state_machine_starts broker=2
quietly admin_creates_topic first=1 second=2 third=none count=1
quietly controller_sees_topic broker=2
quietly controller_creates_new_partitions broker=2
quietly controller_creates_new_replicas broker=2
quietly controller_brings_partitions_online broker=2
quietly controller_brings_new_replicas_online broker=2
quietly session_expires broker=1
quietly controller_node_is_deleted
quietly controller_resigns broker=2
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly broker_reconnects broker=1
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=1
refused replica_state_machine_starts broker=2
refused controller_resigns broker=2
----
refused replica_state_machine_starts(broker=2)
    the epoch that it won is the newest — false (belief[2] 2, cache[2][0].led true, cache[2][0][1].replica ReplicaDeletionIneligible, zk.epoch 3, zk[0].state.epoch 1, zk[0].state.exists true, zk[0].state.isr {1,2}, zk[0][0].assignment 1)
refused controller_resigns(broker=2)
    it waits for events, or its session is over — false (cache[2].task starts_replicas, zk.registered {1,2})

quietly controller_node_is_deleted
quietly controller_write_is_fenced broker=2
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly replica_state_machine_starts broker=1
quietly partition_state_machine_starts broker=1
quietly controller_resigns broker=1
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly replica_state_machine_starts broker=2
quietly partition_state_machine_starts broker=2
quietly session_expires broker=1
quietly controller_sees_failure broker=2 failed=1
quietly broker_reconnects broker=1
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=1
refused controller_elects_for_failed broker=2
----
refused controller_elects_for_failed(broker=2)
    the epoch that it won is the newest — false (belief[2] 4, cache[2].live {2}, cache[2].queued false, cache[2][0].partition OfflinePartition, cache[2][0][1].known 2, zk.epoch 5, zk[0].state.epoch 1, zk[0].state.exists true, zk[0].state.isr {1,2}, zk[0][0].assignment 1)

quietly controller_write_is_fenced broker=2
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly replica_state_machine_starts broker=1
quietly partition_state_machine_starts broker=1
quietly session_expires broker=2
quietly controller_sees_failure broker=1 failed=2
quietly controller_elects_for_failed broker=1
quietly broker_reconnects broker=2
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=2
refused controller_takes_replicas_offline broker=1
----
refused controller_takes_replicas_offline(broker=1)
    the epoch that it won is the newest — false (belief[1] 5, cache[1].gone 2, cache[1][0].led true, cache[1][0][1].known 2, cache[1][0][2].replica OnlineReplica, zk.epoch 6, zk[0].state.epoch 1, zk[0].state.exists true, zk[0].state.isr {1,2}, zk[0][0].assignment 1)

quietly controller_write_is_fenced broker=1
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly replica_state_machine_starts broker=2
quietly partition_state_machine_starts broker=2
quietly session_expires broker=1
quietly controller_sees_failure broker=2 failed=1
quietly controller_elects_for_failed broker=2
quietly controller_takes_replicas_offline broker=2
quietly broker_reconnects broker=1
quietly controller_sees_start broker=2 started=1
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=1
controller_elects_for_started broker=2
check deposed_controllers_write_nothing
----
controller_elects_for_started(broker=2)
    cache[2].task: elects_for_started → waits
deposed_controllers_write_nothing: holds of every step
