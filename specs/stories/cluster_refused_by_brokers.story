# What a broker refuses of its controllers' requests.
# Shows: a request is for one broker, about some partitions, in the order of its queue, from nobody
# older than the newest controller that the broker has seen.
system cluster version 2.3 brokers 2 partitions 2 replicas 1

refused log_directory_fails broker=1 partition=1
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly controller_sends_initial_update_metadata broker=1
quietly controller_starts_replica_state_machine broker=1
quietly controller_sends_election_batch broker=1
quietly broker_updates_metadata broker=1 sender=1
refused broker_becomes_follower broker=1 sender=1 partition=1
refused broker_becomes_leader broker=1 sender=1 partition=1
refused broker_finds_leader_not_in_metadata_cache broker=1 sender=1 partition=1
----
refused log_directory_fails(broker=1, partition=1)
    it has a replica of the partition — false (partition[1].replicas {2})
refused broker_becomes_follower(broker=1, sender=1, partition=1)
    it names the partition — false (cache.queue[1][1][0][1].about none)
refused broker_becomes_leader(broker=1, sender=1, partition=1)
    it names the partition — false (cache.queue[1][1][0][1].about none)
refused broker_finds_leader_not_in_metadata_cache(broker=1, sender=1, partition=1)
    it names the partition — false (cache.queue[1][1][0][1].about none)

# A LeaderAndIsr of broker 1 is next, and broker 2 is the controller by now.
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
refused controller_sends_initial_update_metadata broker=1
quietly controller_sends_initial_update_metadata broker=2
refused controller_starts_replica_state_machine broker=1
quietly controller_starts_replica_state_machine broker=2
refused controller_sends_removal_batch broker=1
refused controller_sends_election_batch broker=1
quietly controller_sends_election_batch broker=2
quietly broker_updates_metadata broker=1 sender=2
refused broker_becomes_follower broker=1 sender=1 partition=0
refused broker_becomes_leader broker=1 sender=1 partition=0
refused broker_answers_kafka_storage_error broker=1 sender=1 partition=0
refused broker_finds_leader_not_in_metadata_cache broker=1 sender=1 partition=1
refused older_controller_is_refused broker=1 sender=2
refused older_epoch_is_refused broker=1 sender=1 partition=0
quietly older_controller_is_refused broker=1 sender=1
refused broker_updates_metadata broker=1 sender=1
quietly older_epoch_is_refused broker=1 sender=2 partition=0
----
refused controller_sends_initial_update_metadata(broker=1)
    no broker is sent the live brokers yet — false (cache[1].stage looking)
refused controller_starts_replica_state_machine(broker=1)
    all brokers are sent the live brokers — false (cache[1].stage looking)
refused controller_sends_removal_batch(broker=1)
    it takes replicas offline — false (cache[1].stage looking)
refused controller_sends_election_batch(broker=1)
    it brings offline partitions online — false (cache[1].stage looking)
refused broker_becomes_follower(broker=1, sender=1, partition=0)
    the broker has seen no newer controller — false (belief[1] 1, seen[1] 2)
refused broker_becomes_leader(broker=1, sender=1, partition=0)
    the broker has seen no newer controller — false (belief[1] 1, seen[1] 2)
refused broker_answers_kafka_storage_error(broker=1, sender=1, partition=0)
    the broker has seen no newer controller — false (belief[1] 1, seen[1] 2)
refused broker_finds_leader_not_in_metadata_cache(broker=1, sender=1, partition=1)
    the broker has seen no newer controller — false (belief[1] 1, seen[1] 2)
refused older_controller_is_refused(broker=1, sender=2)
    the broker has seen a newer controller — false (belief[2] 2, seen[1] 2)
refused older_epoch_is_refused(broker=1, sender=1, partition=0)
    the broker has seen no newer controller — false (belief[1] 1, seen[1] 2)
refused broker_updates_metadata(broker=1, sender=1)
    the broker has seen no newer controller — false (belief[1] 1, seen[1] 2)

# Broker 2 has heard nothing yet, and crashes.
quietly broker_crashes broker=2
refused broker_updates_metadata broker=2 sender=1
refused older_controller_is_refused broker=1 sender=2
refused older_controller_is_refused broker=2 sender=1
----
refused broker_updates_metadata(broker=2, sender=1)
    the process runs — false (up {1})
refused older_controller_is_refused(broker=1, sender=2)
    a request of the controller is next — false (cache[2][1].queue.end 0)
refused older_controller_is_refused(broker=2, sender=1)
    the process runs — false (up {1})
