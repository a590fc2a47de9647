# What is refused to a controller whose preferred election a newer one has held.
# Shows: before writes were fenced (2.1) the state names the newer one.
system cluster version 2.0 brokers 2 partitions 1 replicas 2

quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly controller_sends_initial_update_metadata broker=2
quietly controller_starts_replica_state_machine broker=2
quietly controller_sends_election_batch broker=2
quietly broker_updates_metadata broker=1 sender=2
quietly broker_updates_metadata broker=2 sender=2
quietly older_epoch_is_refused broker=1 sender=2 partition=0
quietly broker_updates_metadata broker=1 sender=2
quietly older_epoch_is_refused broker=2 sender=2 partition=0
quietly broker_updates_metadata broker=2 sender=2
quietly controller_finds_no_request broker=2
quietly admin_asks_for_preferred_leaders
quietly controller_begins_preferred_election broker=2
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly controller_sends_initial_update_metadata broker=1
quietly controller_starts_replica_state_machine broker=1
quietly controller_sends_election_batch broker=1
quietly controller_begins_preferred_election broker=1
quietly controller_sends_preferred_batch broker=1
quietly controller_deletes_preferred_request broker=1
quietly admin_asks_for_preferred_leaders
quietly controller_begins_preferred_election broker=1
quietly controller_reads_state broker=1 partition=0
quietly controller_elects_preferred broker=1 leader=1 partition=0
quietly controller_sends_preferred_batch broker=1
quietly controller_deletes_preferred_request broker=1

# Broker 2 reads what broker 1 wrote.
quietly controller_reads_state broker=2 partition=0
refused controller_elects_preferred broker=2 leader=1 partition=0
quietly controller_finds_a_newer_controller broker=2 partition=0
----
refused controller_elects_preferred(broker=2, leader=1, partition=0)
    no newer controller has written the state — false (belief[2] 1, partition[0][1].state.controller 2)
