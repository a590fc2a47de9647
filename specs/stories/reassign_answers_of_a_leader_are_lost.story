# A leader's ISR writes get no response: it reads one back, the other is overwritten by then.
# Shows: a registration that is not heard of is over; a StopReplica and another partition's move are done after that.
system reassignment version 2.3 brokers 2 replicas 2

quietly topic_is_created first=1 second=2 third=none
quietly leader_appends leader=1
quietly leader_loses_response_to_isr_shrink leader=1 replica=2
leader_finds_own_isr_write leader=1
quietly follower_catches_up leader=1 follower=2
leader_loses_response_to_isr_expand leader=1 replica=2
quietly broker_becomes_controller broker=1
quietly session_expires broker=1
quietly reply_to_registration_is_lost broker=1
broker_loses_controller_election broker=1
quietly admin_requests_two_reassignments first=1 second=none third=none
quietly broker_reconnects broker=1
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly controller_begins_with_targets_in_sync broker=1
quietly controller_sets_target_in_memory broker=1
quietly controller_keeps_leader broker=1
quietly leader_finds_other_isr_write leader=1
leader_expand_is_refused leader=1 replica=2
quietly controller_takes_old_replica_offline broker=1 replica=2
quietly older_epoch_is_refused broker=2 epoch=0 controller=2
quietly request_to_non_replica_is_refused broker=2 epoch=1 controller=2
broker_stops_replica broker=2 controller=2
quietly controller_deletes_old_replicas broker=1
quietly controller_writes_target_replicas broker=1
quietly controller_removes_request_entry broker=1
quietly controller_sends_final_update_metadata broker=1
controller_completes_other_reassignment broker=1
check isr_holds_committed
----
leader_finds_own_isr_write(leader=1)
    replica[1].isr: {1,2} → {1}
    replica[1].zk_version: 0 → 1
    replica[1].isr_write_unanswered: true → false
    committed: {} → {0}
leader_loses_response_to_isr_expand(leader=1, replica=2)
    zk.isr: {1} → {1,2}
    zk.version: 1 → 2
    replica[1].isr_write_unanswered: false → true
broker_loses_controller_election(broker=1)
    campaign[1]: 1 → 0
    reply_lost[1]: true → false
leader_expand_is_refused(leader=1, replica=2)
    nothing changes
broker_stops_replica(broker=2, controller=2)
    stop[2][2].what: stop → none
    stop[2][2].epoch: 2 → 0
    replica[2].role: follower → stopped
controller_completes_other_reassignment(broker=1)
    zk.other: moving → none
    cache[1].other: moving → none
isr_holds_committed: holds
