# What is refused to a controller that is deposed before it deletes a request.
# Shows: the deletion is fenced, as every write of a controller is.
system cluster version 2.1 brokers 2 partitions 1 replicas 2

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
quietly controller_reads_state broker=2 partition=0
refused controller_elects_preferred broker=2 leader=2 partition=0
quietly controller_elects_preferred broker=2 leader=1 partition=0
quietly controller_sends_preferred_batch broker=2

# Broker 1 becomes controller. It finds the request, and leaves alone who leads as asked for already.
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly controller_sends_initial_update_metadata broker=1
quietly controller_starts_replica_state_machine broker=1
quietly controller_sends_election_batch broker=1
quietly controller_begins_preferred_election broker=1
quietly controller_sends_preferred_batch broker=1
refused controller_deletes_preferred_request broker=2
quietly controller_deletes_preferred_request broker=1
quietly controller_write_is_fenced broker=2
----
refused controller_elects_preferred(broker=2, leader=2, partition=0)
    it stands first in the assignment — false (partition[0].replicas {1,2}, partition[0][1].place 0, partition[0][2].place 1)
refused controller_deletes_preferred_request(broker=2)
    the epoch that it won is the newest — false (belief[2] 1, zk.epoch 2)
