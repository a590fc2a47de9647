# What is refused to a controller that reads a state of a newer controller.
# Shows: before writes were fenced (2.1) the state itself names who wrote it, and is left alone.
system cluster version 2.0 brokers 3 partitions 1 replicas 2

quietly broker_becomes_controller broker=3
quietly broker_learns_it_won broker=3
refused controller_reads_context broker=1
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
quietly session_expires broker=1
quietly controller_finds_no_request broker=3
quietly controller_sees_dead_brokers broker=3
----
refused controller_reads_context(broker=1)
    the broker believes it is the controller — false (belief[1] 0)

# Broker 3 is to elect a leader in place of broker 1, and is deposed; broker 2 does it.
quietly controller_node_is_deleted
refused broker_becomes_controller broker=1
quietly broker_becomes_controller broker=2
refused controller_elects_leader broker=2 leader=1 partition=0
quietly broker_learns_it_won broker=2
refused controller_reads_context broker=3
quietly controller_reads_context broker=2
quietly controller_sends_initial_update_metadata broker=2
quietly controller_starts_replica_state_machine broker=2
quietly controller_reads_state broker=2 partition=0
refused controller_elects_leader broker=3 leader=1 partition=0
quietly controller_elects_leader broker=2 leader=2 partition=0
refused controller_sends_election_batch broker=3
refused leader_isr_write_is_refused leader=1 partition=0
quietly controller_sends_election_batch broker=2
refused controller_finds_a_newer_controller broker=3 partition=0
quietly controller_reads_state broker=3 partition=0
refused controller_elects_leader broker=3 leader=2 partition=0
refused controller_finds_a_newer_controller broker=1 partition=0
refused controller_finds_replica_not_in_isr broker=3 replica=1 partition=0
quietly controller_finds_a_newer_controller broker=3 partition=0
----
refused broker_becomes_controller(broker=1)
    the broker has a session — false (zk.registered {2,3})
refused controller_elects_leader(broker=2, leader=1, partition=0)
    the broker believes it is the controller — false (belief[2] 0)
refused controller_reads_context(broker=3)
    it has read nothing yet — false (cache[3].stage electing)
refused controller_elects_leader(broker=3, leader=1, partition=0)
    it has read the state — false (partition[0][3].context.read none)
refused controller_sends_election_batch(broker=3)
    no partition waits for an election — false (partition[0][3].context.due true)
refused leader_isr_write_is_refused(leader=1, partition=0)
    it has a ZooKeeper session — false (zk.registered {2,3})
refused controller_finds_a_newer_controller(broker=3, partition=0)
    it has read the state — false (partition[0][3].context.read none)
refused controller_elects_leader(broker=3, leader=2, partition=0)
    no newer controller has written the state — false (belief[3] 1, partition[0][1].state.controller 2)
refused controller_finds_a_newer_controller(broker=1, partition=0)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_finds_replica_not_in_isr(broker=3, replica=1, partition=0)
    it takes replicas offline — false (cache[3].stage electing)

# The deposed one goes on in memory, and its requests are refused.
quietly broker_updates_metadata broker=2 sender=2
refused broker_finds_leader_not_in_metadata_cache broker=2 sender=2 partition=0
quietly broker_updates_metadata broker=3 sender=2
quietly broker_updates_metadata broker=3 sender=2
quietly broker_updates_metadata broker=3 sender=2
quietly older_epoch_is_refused broker=2 sender=2 partition=0
quietly broker_updates_metadata broker=2 sender=2
refused broker_becomes_leader broker=3 sender=2 partition=0
quietly broker_becomes_leader broker=2 sender=2 partition=0
quietly broker_updates_metadata broker=2 sender=2
quietly controller_sends_election_batch broker=3
----
refused broker_finds_leader_not_in_metadata_cache(broker=2, sender=2, partition=0)
    the leader epoch is newer than the broker's — false (partition[0][0].state.epoch 0, partition[0][2].replica.version 0)
refused broker_becomes_leader(broker=3, sender=2, partition=0)
    a request of the controller is next — false (cache[2][3].queue.end 0)
