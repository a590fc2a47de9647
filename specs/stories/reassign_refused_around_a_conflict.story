# What is refused while the leader changes the ISR between the controller's read and write.
# Shows: conditional writes, of the controller and of the leader, and who may be dropped or taken
# back; each line is refused for one reason alone.
system reassignment version 2.3 brokers 3

quietly topic_is_created first=1 second=2 third=none
quietly admin_requests_reassignment first=1 second=3 third=none
quietly broker_becomes_controller broker=3
quietly broker_learns_it_won broker=3
quietly controller_reads_context broker=3
quietly controller_begins_move broker=3
quietly controller_writes_union_of_replicas broker=3
quietly leader_appends leader=1
quietly leader_shrinks_isr leader=1 replica=2
refused controller_bumps_epoch broker=3
refused controller_loses_response_to_epoch_bump broker=3
quietly controller_write_conflicts broker=3
quietly controller_bumps_epoch broker=3
quietly older_epoch_is_refused broker=1 epoch=0 controller=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly broker_becomes_follower broker=3 epoch=1 controller=1
quietly older_epoch_is_refused broker=2 epoch=0 controller=1
quietly broker_becomes_follower broker=2 epoch=1 controller=1
quietly follower_catches_up leader=1 follower=3
quietly leader_expands_isr leader=1 replica=3
quietly controller_sees_targets_in_sync broker=3
quietly controller_sets_target_in_memory broker=3
refused controller_skips_old_replica_outside_isr broker=3 replica=2
quietly follower_catches_up leader=1 follower=2
quietly leader_expands_isr leader=1 replica=2
refused controller_keeps_leader broker=3
quietly controller_write_conflicts broker=3
quietly controller_keeps_leader broker=3
refused broker_becomes_follower broker=2 epoch=2 controller=1
quietly broker_becomes_leader broker=1 epoch=2 controller=1
quietly leader_appends leader=1
quietly leader_shrinks_isr leader=1 replica=2
refused controller_takes_old_replica_offline broker=3 replica=2
refused controller_loses_response_to_isr_removal broker=3 replica=2
refused controller_write_conflicts broker=3
----
refused controller_bumps_epoch(broker=3)
    the version that it read is current — false (cache[3].version 0, zk.version 1)
refused controller_loses_response_to_epoch_bump(broker=3)
    the version that it read is current — false (cache[3].version 0, zk.version 1)
refused controller_skips_old_replica_outside_isr(broker=3, replica=2)
    old replicas are to go offline — false (cache[3].task leading)
refused controller_keeps_leader(broker=3)
    the version that it read is current — false (cache[3].version 3, zk.version 4)
refused broker_becomes_follower(broker=2, epoch=2, controller=1)
    the request lists the broker as a replica — false (request[2][1].replicas {1,3})
refused controller_takes_old_replica_offline(broker=3, replica=2)
    the version that it read is current — false (cache[3].version 5, zk.version 6)
refused controller_loses_response_to_isr_removal(broker=3, replica=2)
    the version that it read is current — false (cache[3].version 5, zk.version 6)
refused controller_write_conflicts(broker=3)
    it is about to write the partition's state — false (cache[3].task leaving)

refused controller_loses_response_to_isr_removal broker=3 replica=2
----
refused controller_loses_response_to_isr_removal(broker=3, replica=2)
    the version that it read is current — false (cache[3].version 5, zk.version 6)
