# A response about a failed log directory is handled after the directory was repaired.
# Shows: a response names no registration; believed too late, it stops a replica that works, and
# nobody starts it again. (LeaderAndIsrResponseReceived until 2.8; found by exploring, no JIRA known)
system cluster version 2.3 without responses_fenced brokers 2 partitions 1 replicas 2

quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly controller_sends_initial_update_metadata broker=1
quietly controller_starts_replica_state_machine broker=1
quietly controller_sends_election_batch broker=1
quietly broker_updates_metadata broker=1 sender=1
quietly older_epoch_is_refused broker=1 sender=1 partition=0
quietly broker_updates_metadata broker=1 sender=1
quietly broker_updates_metadata broker=2 sender=1

# The session of broker 2 has just expired when it answers: the BrokerChange is before the response.
log_directory_fails broker=2 partition=0
quietly session_expires broker=2
broker_answers_kafka_storage_error broker=2 sender=1 partition=0
quietly broker_crashes broker=2
log_directory_is_repaired broker=2 partition=0
quietly broker_starts broker=2
show cache[1].events
----
log_directory_fails(broker=2, partition=0)
    failure_unreported: {} → {2}
    partition[0].failed: {} → {2}
    partition[0][2].replica.version: 0 → none
    partition[0][2].replica.fetching: true → false
broker_answers_kafka_storage_error(broker=2, sender=1, partition=0)
    cache[1].events: [kind broker_change subject none] → [kind broker_change subject none, kind leader_and_isr_response subject 2]
    cache[1][2].queue: [kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1,2} endpoints {}] → [kind update_metadata about {0: 0} alive {1,2} endpoints {}]
    partition[0][1].context.refusing: {} → {2}
log_directory_is_repaired(broker=2, partition=0)
    partition[0].failed: {2} → {}
cache[1].events: [kind broker_change subject none, kind leader_and_isr_response subject 2]

# It is seen to have bounced: it leaves the ISR, and is instated with all that it has.
quietly controller_finds_no_request broker=1
controller_sees_bounced_brokers broker=1
quietly controller_reads_state broker=1 partition=0
quietly controller_removes_replica broker=1 replica=2 partition=0
quietly controller_sends_removal_batch broker=1
quietly controller_sends_update_metadata_for_dead_brokers broker=1
quietly controller_sends_update_metadata_for_new_brokers broker=1
quietly controller_brings_replicas_online broker=1
quietly controller_sends_election_batch broker=1
quietly broker_updates_metadata broker=2 sender=1
broker_becomes_follower broker=2 sender=1 partition=0
quietly broker_updates_metadata broker=2 sender=1
----
controller_sees_bounced_brokers(broker=1)
    cache[1].stage: idle → removing_followers
    cache[1].live: {1,2} → {1}
    cache[1].reached: {1} → {1,2}
    cache[1].watched: {1} → {1,2}
    cache[1].started: {} → {2}
    cache[1].events: [kind broker_change subject none, kind leader_and_isr_response subject 2] → [kind leader_and_isr_response subject 2]
    partition[0][1].context.gone: {} → {2}
broker_becomes_follower(broker=2, sender=1, partition=0)
    cache[1][2].queue: [kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1,2} endpoints {}] → [kind update_metadata about {0: 1} alive {1,2} endpoints {}]
    partition[0][2].replica.version: none → 1
    partition[0][2].replica.fetching: false → true
    partition[0][1].context.obeying: {} → {2}

# Now the old response is heard.
controller_marks_replicas_offline broker=1 subject=2
quietly controller_reads_state broker=1 partition=0
quietly controller_finds_replica_not_in_isr broker=1 replica=2 partition=0
quietly controller_sends_removal_batch broker=1
quietly controller_sends_update_metadata_for_dead_brokers broker=1
quietly broker_updates_metadata broker=2 sender=1
broker_stops_fetching broker=2 sender=1
quietly broker_updates_metadata broker=2 sender=1
controller_finds_log_dirs_unchanged broker=1 subject=2
----
controller_marks_replicas_offline(broker=1, subject=2)
    cache[1].stage: idle → removing_followers
    cache[1].subject: none → 2
    partition[0][1].context.gone: {} → {2}
    partition[0][1].context.lost: {} → {2}
    partition[0][1].context.refusing: {2} → {}
broker_stops_fetching(broker=2, sender=1)
    cache[1][2].queue: [kind stop_replica about {0: 1} alive {} endpoints {}, kind update_metadata about {} alive {1,2} endpoints {}] → [kind update_metadata about {} alive {1,2} endpoints {}]
    partition[0][2].replica.fetching: true → false
controller_finds_log_dirs_unchanged(broker=1, subject=2)
    cache[1].events: [kind leader_and_isr_response subject 2] → []
    partition[0][1].context.lost: {2} → {}
    partition[0][1].context.obeying: {2} → {}

quietly broker_becomes_leader broker=1 sender=1 partition=0
quietly broker_updates_metadata broker=1 sender=1
quietly broker_updates_metadata broker=1 sender=1
quietly broker_updates_metadata broker=1 sender=1
quietly broker_updates_metadata broker=1 sender=1
quietly older_epoch_is_refused broker=1 sender=1 partition=0
quietly broker_updates_metadata broker=1 sender=1
quietly broker_updates_metadata broker=1 sender=1
check idle_partitions_have_leaders
----
idle_partitions_have_leaders: broken — when nothing is under way, a partition with a live ISR member has a live leader in the registered epoch, which knows the registered ISR, and every other live replica fetches from it, except brokers that have requested a controlled shutdown
    (belief[1] 1, cache[1].events.end 0, cache[1].stage idle, leaving[1] stays, partition[0].failed {}, partition[0].version 1, partition[0][1].state.isr {1}, partition[0][1].state.leader 1, up {1,2}, zk.controller 1, zk.epoch 1, zk.registered {1,2})
