# A deposed controller handles no request, removes none, and elects no leader.
# Shows: the fence is before every write, of the request too.
system reassignment version 2.3 brokers 2 replicas 2

quietly topic_is_created first=1 second=none third=none
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly admin_requests_reassignment first=1 second=none third=none
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=2
refused controller_drops_request_already_assigned broker=1
quietly admin_withdraws_request
quietly admin_requests_two_reassignments first=1 second=none third=none
refused controller_completes_other_reassignment broker=1
quietly admin_withdraws_request
quietly admin_requests_unknown_partition
refused controller_drops_unknown_partition broker=1
quietly controller_resigns broker=1
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly controller_drops_unknown_partition broker=2
quietly admin_requests_reassignment first=1 second=2 third=none
quietly controller_begins_move broker=2
quietly controller_writes_union_of_replicas broker=2
quietly controller_bumps_epoch broker=2
quietly older_epoch_is_refused broker=1 epoch=0 controller=2
quietly broker_becomes_leader broker=1 epoch=1 controller=2
quietly broker_becomes_follower broker=2 epoch=1 controller=2
quietly leader_expands_isr leader=1 replica=2
quietly controller_sees_targets_in_sync broker=2
quietly controller_sets_target_in_memory broker=2
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=1
refused controller_keeps_leader broker=2
quietly controller_resigns broker=2
quietly broker_learns_it_won broker=1
quietly admin_deletes_topic
quietly controller_reads_context broker=1
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=2
refused controller_drops_move_of_deleted_topic broker=1
check deposed_controllers_write_nothing
check other_request_is_kept
----
refused controller_drops_request_already_assigned(broker=1)
    the epoch that it won is the newest — false (belief[1] 1, zk.epoch 2)
refused controller_completes_other_reassignment(broker=1)
    the epoch that it won is the newest — false (belief[1] 1, zk.epoch 2)
refused controller_drops_unknown_partition(broker=1)
    the epoch that it won is the newest — false (belief[1] 1, zk.epoch 2)
refused controller_keeps_leader(broker=2)
    the epoch that it won is the newest — false (belief[2] 2, zk.epoch 3)
refused controller_drops_move_of_deleted_topic(broker=1)
    the epoch that it won is the newest — false (belief[1] 3, zk.epoch 4)
deposed_controllers_write_nothing: holds of every step
other_request_is_kept: holds
