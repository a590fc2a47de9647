# StopReplica is handled after earlier requests, and not from an older controller.
# Shows: UpdateMetadata is late, and an old replica is notified of its end by one controller after the other.
system reassignment version 2.3 brokers 2 replicas 1

quietly topic_is_created first=1 second=none third=none
quietly admin_requests_reassignment first=2 second=none third=none
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly controller_begins_move broker=1
quietly controller_writes_union_of_replicas broker=1
quietly controller_bumps_epoch broker=1
quietly older_epoch_is_refused broker=1 epoch=0 controller=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly broker_becomes_follower broker=2 epoch=1 controller=1
quietly leader_expands_isr leader=1 replica=2
quietly controller_sees_targets_in_sync broker=1
quietly controller_sets_target_in_memory broker=1

# The leader moves; the old one is notified late of the leader.
quietly controller_moves_leader_to_target broker=1 leader=2
quietly metadata_is_delayed broker=1 controller=1
quietly controller_takes_old_replica_offline broker=1 replica=1
refused broker_stops_replica broker=1 controller=1
refused stop_of_older_controller_is_refused broker=1 controller=1
quietly broker_updates_metadata broker=1 controller=1
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly broker_becomes_follower broker=1 epoch=3 controller=2
refused broker_stops_replica broker=1 controller=1
stop_of_older_controller_is_refused broker=1 controller=1
quietly controller_resigns broker=1

# The next controller comes as far as the deletion, and is deposed as well.
quietly controller_begins_with_targets_in_sync broker=2
quietly controller_sets_target_in_memory broker=2
quietly controller_keeps_leader broker=2
quietly request_to_non_replica_is_refused broker=1 epoch=4 controller=2
quietly metadata_is_delayed broker=1 controller=2
quietly controller_skips_old_replica_outside_isr broker=2 replica=1
quietly controller_deletes_old_replicas broker=2
refused broker_deletes_replica broker=1 controller=2
quietly broker_updates_metadata broker=1 controller=2
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly broker_becomes_follower broker=1 epoch=4 controller=3
refused broker_deletes_replica broker=1 controller=2
stop_of_older_controller_is_refused broker=1 controller=2
check one_replica_set_has_all_commits
----
refused broker_stops_replica(broker=1, controller=1)
    and the UpdateMetadata that was — false (stop[1][1].epoch 3, update[1].epoch 3, update[1].to {1})
refused stop_of_older_controller_is_refused(broker=1, controller=1)
    and the UpdateMetadata that was — false (stop[1][1].epoch 3, update[1].epoch 3, update[1].to {1})
refused broker_stops_replica(broker=1, controller=1)
    the broker has seen no newer controller — false (replica[1].controller_epoch 2)
stop_of_older_controller_is_refused(broker=1, controller=1)
    stop[1][1].what: stop → none
    stop[1][1].epoch: 3 → 0
refused broker_deletes_replica(broker=1, controller=2)
    and the UpdateMetadata that was — false (stop[2][1].epoch 4, update[2].epoch 4, update[2].to {1})
refused broker_deletes_replica(broker=1, controller=2)
    the broker has seen no newer controller — false (replica[1].controller_epoch 3)
stop_of_older_controller_is_refused(broker=1, controller=2)
    stop[2][1].what: delete → none
    stop[2][1].epoch: 4 → 0
one_replica_set_has_all_commits: holds
