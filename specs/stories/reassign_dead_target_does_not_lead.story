# The only target loses its session, and keeps fetching: it is in the ISR, and may not lead.
# Shows: step 7 finds no target to lead. That is logged, and step 8 takes the old replicas offline
# all the same: nobody leads.
system reassignment version 2.3 brokers 3

quietly topic_is_created first=1 second=2 third=none
quietly leader_appends leader=1
quietly leader_shrinks_isr leader=1 replica=2
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly admin_requests_two_reassignments first=3 second=none third=none
refused controller_completes_other_reassignment broker=2
quietly controller_begins_move broker=2
quietly controller_writes_union_of_replicas broker=2
quietly controller_bumps_epoch broker=2
quietly older_epoch_is_refused broker=1 epoch=0 controller=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly broker_becomes_follower broker=3 epoch=1 controller=1
quietly session_expires broker=3
quietly controller_sees_broker_failure broker=2 dead=3
quietly follower_catches_up leader=1 follower=3
quietly leader_expands_isr leader=1 replica=3
quietly controller_sees_targets_in_sync broker=2
quietly controller_sets_target_in_memory broker=2
refused controller_loses_response_to_epoch_bump broker=2
refused controller_loses_response_to_leader_change broker=2 leader=3
refused controller_takes_old_replica_offline broker=2 replica=1
refused controller_loses_response_to_isr_removal broker=2 replica=1
controller_finds_no_target_to_lead broker=2
refused controller_takes_old_replica_offline broker=2 replica=2
refused controller_loses_response_to_isr_removal broker=2 replica=2
controller_takes_old_replica_offline broker=2 replica=1
controller_skips_old_replica_outside_isr broker=2 replica=2
check leader_in_isr
----
refused controller_completes_other_reassignment(broker=2)
    the request has been taken up — false (zk[3].requested 0)
refused controller_loses_response_to_epoch_bump(broker=2)
    the leader stays — false (cache[2].leader 1, cache[2].task leading)
refused controller_loses_response_to_leader_change(broker=2, leader=3)
    the first live target of the ISR is chosen — false (cache[2].live {1,2})
refused controller_takes_old_replica_offline(broker=2, replica=1)
    old replicas are to go offline — false (cache[2].task leading)
refused controller_loses_response_to_isr_removal(broker=2, replica=1)
    it is about to write the partition's state — false (cache[2].task leading)
controller_finds_no_target_to_lead(broker=2)
    cache[2].task: leading → leaving
refused controller_takes_old_replica_offline(broker=2, replica=2)
    it is in the ISR that the controller read — false (cache[2].isr {1,3})
refused controller_loses_response_to_isr_removal(broker=2, replica=2)
    it is in the ISR that the controller read — false (cache[2].isr {1,3})
controller_takes_old_replica_offline(broker=2, replica=1)
    zk.leader: 1 → none
    zk.leader_epoch: 1 → 2
    zk.isr: {1,3} → {3}
    zk.version: 3 → 4
    cache[2].leader: 1 → none
    cache[2].isr: {1,3} → {3}
    cache[2].version: 3 → 4
    cache[2].epoch: 1 → 2
    cache[2].leaving: {1,2} → {2}
    cache[2].unsent: false → true
controller_skips_old_replica_outside_isr(broker=2, replica=2)
    cache[2].leaving: {2} → {}
    cache[2].unsent: true → false
    stop[1][1].what: none → stop
    stop[1][2].what: none → stop
    stop[1][1].epoch: 0 → 2
    stop[1][2].epoch: 0 → 2
    metadata[1].leader: 1 → none
    metadata[2].leader: 1 → none
leader_in_isr: holds
