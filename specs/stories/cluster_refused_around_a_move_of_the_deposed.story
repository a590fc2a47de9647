# What is refused to a controller that is deposed while it moves a leader.
# Shows: what it read is not written, for the epoch is checked, and the state by its version.
system cluster version 2.3 brokers 3 partitions 1 replicas 2

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
quietly broker_asks_for_controlled_shutdown broker=1
quietly shutdown_request_arrives broker=3 subject=1
quietly controller_finds_no_request broker=3
quietly controller_begins_controlled_shutdown broker=3 subject=1
quietly controller_reads_state broker=3 partition=0

# The leader drops its follower, after the state was read; the write conflicts, and it reads again.
quietly broker_crashes broker=2
refused broker_asks_for_controlled_shutdown broker=2
quietly leader_shrinks_isr leader=1 replica=2 partition=0
refused controller_moves_leader broker=3 leader=2 partition=0
quietly controller_write_conflicts broker=3 partition=0
quietly controller_reads_state broker=3 partition=0
----
refused broker_asks_for_controlled_shutdown(broker=2)
    the process runs — false (up {1,3})
refused controller_moves_leader(broker=3, leader=2, partition=0)
    the state is as it was read — false (partition[0].version 1, partition[0][3].context.read 0)

# It is deposed.
quietly controller_node_is_deleted
refused broker_becomes_controller broker=2
quietly broker_becomes_controller broker=1
refused controller_moves_leader broker=3 leader=1 partition=0
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly controller_sends_initial_update_metadata broker=1
quietly controller_starts_replica_state_machine broker=1
quietly controller_sends_election_batch broker=1
quietly session_expires broker=3
refused broker_asks_for_controlled_shutdown broker=3
refused controller_moves_leader broker=3 leader=1 partition=0
refused controller_write_conflicts broker=3 partition=0
----
refused broker_becomes_controller(broker=2)
    its process runs — false (up {1,3})
refused controller_moves_leader(broker=3, leader=1, partition=0)
    the epoch that it won is the newest — false (belief[3] 1, zk.epoch 2)
refused broker_asks_for_controlled_shutdown(broker=3)
    it is registered — false (zk.registered {1,2})
refused controller_moves_leader(broker=3, leader=1, partition=0)
    it has a ZooKeeper session — false (zk.registered {1,2})
refused controller_write_conflicts(broker=3, partition=0)
    it has a ZooKeeper session — false (zk.registered {1,2})
