# What is refused while the controller replaces a leader that has only lost its session.
# Shows: a state is written as it was read; the leader, in a new session, drops a replica first.
system cluster version 2.3 brokers 3 partitions 1 replicas 3

quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly controller_sends_initial_update_metadata broker=2
quietly controller_starts_replica_state_machine broker=2
quietly controller_sends_election_batch broker=2
quietly broker_updates_metadata broker=1 sender=2
quietly broker_updates_metadata broker=2 sender=2
quietly broker_updates_metadata broker=3 sender=2
quietly older_epoch_is_refused broker=1 sender=2 partition=0
quietly broker_updates_metadata broker=1 sender=2
quietly older_epoch_is_refused broker=2 sender=2 partition=0
quietly broker_updates_metadata broker=2 sender=2
quietly older_epoch_is_refused broker=3 sender=2 partition=0
quietly broker_updates_metadata broker=3 sender=2
quietly session_expires broker=1
quietly controller_finds_no_request broker=2
quietly controller_sees_dead_brokers broker=2
quietly controller_reads_state broker=2 partition=0

# Broker 1 is back before broker 2 writes, and drops broker 3, which has just died.
quietly broker_reconnects broker=1
quietly broker_crashes broker=3
refused controller_write_conflicts broker=2 partition=0
refused leader_shrinks_isr leader=1 replica=1 partition=0
refused leader_shrinks_isr leader=1 replica=2 partition=0
refused leader_shrinks_isr leader=2 replica=1 partition=0
quietly leader_shrinks_isr leader=1 replica=3 partition=0
refused controller_elects_leader broker=2 leader=2 partition=0
quietly controller_write_conflicts broker=2 partition=0
refused controller_write_conflicts broker=2 partition=0
quietly controller_reads_state broker=2 partition=0
----
refused controller_write_conflicts(broker=2, partition=0)
    the state is not as it was read — false (partition[0].version 0, partition[0][2].context.read 0)
refused leader_shrinks_isr(leader=1, replica=1, partition=0)
    a leader never drops itself — false
refused leader_shrinks_isr(leader=1, replica=2, partition=0)
    the replica lags behind — false (partition[0].complete {1,2,3}, partition[0][0].state.epoch 0, partition[0][0].state.leader 1, partition[0][1].replica.version 0, partition[0][2].replica.fetching true, up {1,2})
refused leader_shrinks_isr(leader=2, replica=1, partition=0)
    the broker believes it leads — false (partition[0][0].state.leader 1)
refused controller_elects_leader(broker=2, leader=2, partition=0)
    the state is as it was read — false (partition[0].version 1, partition[0][2].context.read 0)
refused controller_write_conflicts(broker=2, partition=0)
    it has read the state — false (partition[0][2].context.read none)

# It reads once more, and elects.
quietly controller_elects_leader broker=2 leader=2 partition=0
quietly controller_sends_election_batch broker=2
refused broker_answers_kafka_storage_error broker=3 sender=2 partition=0
refused broker_finds_leader_not_in_metadata_cache broker=3 sender=2 partition=0
quietly controller_reads_state broker=2 partition=0
quietly controller_finds_replica_not_in_isr broker=2 replica=1 partition=0
refused controller_sees_new_brokers broker=2
quietly controller_sends_removal_batch broker=2
----
refused broker_answers_kafka_storage_error(broker=3, sender=2, partition=0)
    the process runs — false (up {1,2})
refused broker_finds_leader_not_in_metadata_cache(broker=3, sender=2, partition=0)
    the process runs — false (up {1,2})
refused controller_sees_new_brokers(broker=2)
    a BrokerChange is next in its queue, or is worked on — false (cache[2].stage removing)

# Broker 3 is seen to be gone, and broker 1 to be back.
quietly session_expires broker=3
refused broker_becomes_follower broker=3 sender=2 partition=0
refused broker_becomes_leader broker=3 sender=2 partition=0
refused older_epoch_is_refused broker=3 sender=2 partition=0
quietly controller_sees_new_brokers broker=2
quietly controller_sends_update_metadata_for_new_brokers broker=2
quietly controller_brings_replicas_online broker=2
quietly controller_sends_election_batch broker=2
quietly broker_updates_metadata broker=1 sender=2
quietly broker_becomes_leader broker=2 sender=2 partition=0
refused leader_shrinks_isr leader=1 replica=2 partition=0
quietly broker_updates_metadata broker=2 sender=2
quietly broker_becomes_follower broker=1 sender=2 partition=0
quietly broker_updates_metadata broker=1 sender=2
quietly older_epoch_is_refused broker=2 sender=2 partition=0
quietly broker_updates_metadata broker=2 sender=2
quietly broker_updates_metadata broker=2 sender=2
quietly broker_updates_metadata broker=2 sender=2
quietly controller_sees_dead_brokers broker=2
quietly controller_reads_state broker=2 partition=0
quietly controller_finds_replica_not_in_isr broker=2 replica=3 partition=0
quietly controller_sends_removal_batch broker=2
quietly controller_sends_update_metadata_for_dead_brokers broker=2
quietly older_epoch_is_refused broker=1 sender=2 partition=0
quietly broker_updates_metadata broker=1 sender=2
quietly broker_updates_metadata broker=1 sender=2
quietly older_epoch_is_refused broker=2 sender=2 partition=0
quietly broker_updates_metadata broker=2 sender=2
quietly broker_updates_metadata broker=2 sender=2
----
refused broker_becomes_follower(broker=3, sender=2, partition=0)
    the process runs — false (up {1,2})
refused broker_becomes_leader(broker=3, sender=2, partition=0)
    the process runs — false (up {1,2})
refused older_epoch_is_refused(broker=3, sender=2, partition=0)
    the process runs — false (up {1,2})
refused leader_shrinks_isr(leader=1, replica=2, partition=0)
    the cached version is current — false (partition[0].version 2, partition[0][1].replica.version 1)
