# UpdateMetadata is late on one connection, through a failover and a crash.
# Shows: it is taken after what was sent before it, and by a process that runs.
system reassignment version 2.3 brokers 2 replicas 2

quietly topic_is_created first=1 second=none third=none
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly metadata_is_delayed broker=1 controller=1
quietly controller_reads_context broker=1
refused broker_updates_metadata broker=1 controller=1
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
refused update_of_older_controller_is_refused broker=1 controller=1
quietly admin_requests_reassignment first=1 second=2 third=none
quietly controller_begins_move broker=2
quietly admin_deletes_topic
quietly controller_writes_union_of_replicas broker=2
quietly controller_bumps_epoch broker=2
refused controller_drops_move_of_deleted_topic broker=2
quietly older_epoch_is_refused broker=1 epoch=0 controller=2
quietly broker_becomes_leader broker=1 epoch=1 controller=2
quietly broker_becomes_follower broker=2 epoch=1 controller=2
quietly leader_expands_isr leader=1 replica=2
quietly controller_sees_targets_in_sync broker=2
quietly controller_sets_target_in_memory broker=2
quietly controller_keeps_leader broker=2
quietly broker_crashes broker=1
quietly controller_deletes_old_replicas broker=2
quietly controller_writes_target_replicas broker=2
quietly controller_removes_request_entry broker=2
quietly metadata_is_delayed broker=1 controller=2
quietly controller_sends_final_update_metadata broker=2
refused broker_updates_metadata broker=1 controller=2
refused update_of_older_controller_is_refused broker=1 controller=2
check metadata_names_the_leader
----
refused broker_updates_metadata(broker=1, controller=1)
    all earlier requests have arrived — false (request[0][1].to {1}, update[1].epoch 0)
refused update_of_older_controller_is_refused(broker=1, controller=1)
    all earlier requests have arrived — false (request[0][1].to {1}, update[1].epoch 0)
refused controller_drops_move_of_deleted_topic(broker=2)
    the partition does not move already — false (cache[2].task idle, cache[2][1].target 0)
refused broker_updates_metadata(broker=1, controller=2)
    the process runs — false (up {2})
refused update_of_older_controller_is_refused(broker=1, controller=2)
    the process runs — false (up {2})
metadata_names_the_leader: holds
