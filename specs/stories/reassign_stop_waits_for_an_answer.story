# An old leader waits for the response to its ISR write when it is told to stop and to delete.
# Shows: all else about the partition waits until it has read its write back.
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

# It drops the target, so that nobody is there to lead, and it is to go all the same.
quietly leader_appends leader=1
quietly leader_loses_response_to_isr_shrink leader=1 replica=2
controller_write_conflicts broker=1
quietly controller_takes_old_replica_offline broker=1 replica=1
refused broker_stops_replica broker=1 controller=1
refused stop_of_older_controller_is_refused broker=1 controller=1
quietly controller_deletes_old_replicas broker=1
refused broker_deletes_replica broker=1 controller=1
check isr_holds_committed
----
controller_write_conflicts(broker=1)
    cache[1].task: leading → leaving
    cache[1].isr: {1,2} → {1}
    cache[1].version: 2 → 3
refused broker_stops_replica(broker=1, controller=1)
    none of its writes waits for a response — false (replica[1].isr_write_unanswered true)
refused stop_of_older_controller_is_refused(broker=1, controller=1)
    none of its writes waits for a response — false (replica[1].isr_write_unanswered true)
refused broker_deletes_replica(broker=1, controller=1)
    none of its writes waits for a response — false (replica[1].isr_write_unanswered true)
isr_holds_committed: holds
