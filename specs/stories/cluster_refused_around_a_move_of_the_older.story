# What is refused to an older controller that moves a leader which a newer one has moved.
# Shows: before writes were fenced (2.1) the state that it reads names a newer controller epoch.
system cluster version 2.0 brokers 3 partitions 1 replicas 2

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

# Broker 3 is deposed; broker 2 elects in place of broker 1, whose session has expired.
quietly controller_node_is_deleted
quietly session_expires broker=1
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
refused shutdown_request_arrives broker=2 subject=1
quietly controller_reads_context broker=2
quietly controller_sends_initial_update_metadata broker=2
quietly controller_starts_replica_state_machine broker=2
quietly controller_reads_state broker=2 partition=0
quietly controller_elects_leader broker=2 leader=2 partition=0
quietly controller_sends_election_batch broker=2
quietly controller_reads_state broker=3 partition=0
refused controller_moves_leader broker=3 leader=2 partition=0
----
refused shutdown_request_arrives(broker=2, subject=1)
    its ControlledShutdown is in flight — false (asked {})
refused controller_moves_leader(broker=3, leader=2, partition=0)
    no newer controller has written the state — false (belief[3] 1, partition[0][1].state.controller 2)

# The state is not for broker 3 any more.
quietly controller_finds_a_newer_controller broker=3 partition=0
check leader_unique
----
leader_unique: holds
