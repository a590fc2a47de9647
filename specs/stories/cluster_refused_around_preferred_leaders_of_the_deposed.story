# What is refused to a controller that is deposed while it elects preferred leaders.
# Shows: it writes no state that it did not read, and none at all when another is the controller.
system cluster version 2.1 brokers 3 partitions 1 replicas 2

quietly broker_becomes_controller broker=3
quietly broker_learns_it_won broker=3
quietly controller_reads_context broker=3
quietly controller_sends_initial_update_metadata broker=3
quietly controller_starts_replica_state_machine broker=3
quietly controller_sends_election_batch broker=3
quietly broker_updates_metadata broker=1 sender=3
quietly broker_updates_metadata broker=2 sender=3
quietly broker_updates_metadata broker=3 sender=3
quietly broker_updates_metadata broker=3 sender=3
quietly older_epoch_is_refused broker=1 sender=3 partition=0
quietly broker_updates_metadata broker=1 sender=3
quietly older_epoch_is_refused broker=2 sender=3 partition=0
quietly broker_updates_metadata broker=2 sender=3
quietly controller_finds_no_request broker=3
quietly admin_asks_for_preferred_leaders
quietly controller_begins_preferred_election broker=3
quietly controller_reads_state broker=3 partition=0

# The leader drops a follower that has died.
quietly broker_crashes broker=2
quietly leader_shrinks_isr leader=1 replica=2 partition=0
refused controller_elects_preferred broker=3 leader=1 partition=0
quietly controller_write_conflicts broker=3 partition=0
quietly controller_reads_state broker=3 partition=0
----
refused controller_elects_preferred(broker=3, leader=1, partition=0)
    the state is as it was read — false (partition[0].version 1, partition[0][3].context.read 0)

# Now it is deposed. The new one finds the request, and who leads as asked for already is left alone.
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly controller_sends_initial_update_metadata broker=1
quietly controller_starts_replica_state_machine broker=1
quietly controller_sends_election_batch broker=1
quietly controller_begins_preferred_election broker=1
refused controller_elects_preferred broker=3 leader=1 partition=0
refused controller_sends_preferred_batch broker=3
refused controller_write_conflicts broker=3 partition=0
quietly controller_sends_preferred_batch broker=1
quietly controller_deletes_preferred_request broker=1
----
refused controller_elects_preferred(broker=3, leader=1, partition=0)
    the epoch that it won is the newest — false (belief[3] 1, zk.epoch 2)
refused controller_sends_preferred_batch(broker=3)
    no partition waits for its preferred leader — false (partition[0][3].context.due true)
refused controller_write_conflicts(broker=3, partition=0)
    the epoch that it won is the newest — false (belief[3] 1, zk.epoch 2)

# The old one comes too late.
quietly controller_write_is_fenced broker=3
check leader_unique
----
leader_unique: holds
