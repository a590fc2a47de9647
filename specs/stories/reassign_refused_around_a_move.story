# What is refused at each moment of a move.
# Shows: what needs a controllership, a task, a request in flight, a leader, or somebody in the ISR; each
# line is refused for one reason alone.
system reassignment version 2.3 brokers 3

refused topic_is_created first=1 second=none third=2
refused topic_is_created first=1 second=1 third=none
refused topic_is_created first=1 second=2 third=1
refused admin_requests_reassignment first=1 second=none third=none
refused admin_requests_two_reassignments first=1 second=none third=none
refused admin_requests_unknown_partition
refused admin_withdraws_request
refused admin_deletes_topic
refused broker_reconnects broker=1
refused reply_to_registration_is_lost broker=1
refused broker_learns_it_won broker=1
refused controller_resigns broker=1
refused controller_node_is_deleted
refused request_to_non_replica_is_refused broker=1 epoch=0 controller=1
refused broker_stops_replica broker=1 controller=1
refused broker_deletes_replica broker=1 controller=1
refused metadata_is_delayed broker=1 controller=1
refused broker_updates_metadata broker=1 controller=1
refused leader_appends leader=1
quietly topic_is_created first=1 second=none third=none
refused topic_is_created first=1 second=none third=none
refused admin_requests_reassignment first=1 second=none third=2
refused admin_requests_reassignment first=1 second=1 third=none
refused admin_requests_reassignment first=1 second=2 third=1
refused admin_requests_two_reassignments first=1 second=none third=2
refused admin_requests_two_reassignments first=1 second=1 third=none
refused admin_requests_two_reassignments first=1 second=2 third=1
refused controller_reads_context broker=1
refused older_epoch_is_refused broker=1 epoch=0 controller=1
refused leader_shrinks_isr leader=1 replica=2
refused leader_loses_response_to_isr_shrink leader=1 replica=2
refused leader_finds_other_isr_write leader=1
quietly admin_requests_reassignment first=2 second=none third=none
refused admin_requests_reassignment first=1 second=none third=none
refused admin_requests_two_reassignments first=1 second=none third=none
refused admin_requests_unknown_partition
----
refused topic_is_created(first=1, second=none, third=2)
    there is no third replica without a second — false
refused topic_is_created(first=1, second=1, third=none)
    the second replica is another — false
refused topic_is_created(first=1, second=2, third=1)
    the third replica is another — false
refused admin_requests_reassignment(first=1, second=none, third=none)
    there is a topic — false
refused admin_requests_two_reassignments(first=1, second=none, third=none)
    there is a topic — false
refused admin_requests_unknown_partition()
    there is a topic — false
refused admin_withdraws_request()
    a move is asked for — false
refused admin_deletes_topic()
    there is a topic — false
refused broker_reconnects(broker=1)
    its session has expired — false (zk.registered {1,2,3})
refused reply_to_registration_is_lost(broker=1)
    the broker won and has not learned that yet — false (campaign[1] 0)
refused broker_learns_it_won(broker=1)
    the broker won and has not learned that yet — false (campaign[1] 0)
refused controller_resigns(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_node_is_deleted()
    /controller exists — false (zk.controller none)
refused request_to_non_replica_is_refused(broker=1, epoch=0, controller=1)
    the request is in flight — false (request[0][1].to {})
refused broker_stops_replica(broker=1, controller=1)
    StopReplica is in flight — false (stop[1][1].what none)
refused broker_deletes_replica(broker=1, controller=1)
    StopReplica with delete is in flight — false (stop[1][1].what none)
refused metadata_is_delayed(broker=1, controller=1)
    there was such a controller — false (zk.epoch 0)
refused broker_updates_metadata(broker=1, controller=1)
    UpdateMetadata is in flight — false (update[1].to {})
refused leader_appends(leader=1)
    the broker believes it leads — false (replica[1].role none)
refused topic_is_created(first=1, second=none, third=none)
    there is no such topic — false (zk[1].assignment 0)
refused admin_requests_reassignment(first=1, second=none, third=2)
    there is no third replica without a second — false
refused admin_requests_reassignment(first=1, second=1, third=none)
    the second replica is another — false
refused admin_requests_reassignment(first=1, second=2, third=1)
    the third replica is another — false
refused admin_requests_two_reassignments(first=1, second=none, third=2)
    there is no third replica without a second — false
refused admin_requests_two_reassignments(first=1, second=1, third=none)
    the second replica is another — false
refused admin_requests_two_reassignments(first=1, second=2, third=1)
    the third replica is another — false
refused controller_reads_context(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused older_epoch_is_refused(broker=1, epoch=0, controller=1)
    the request is in flight — false (request[0][1].to {})
refused leader_shrinks_isr(leader=1, replica=2)
    the replica is in the leader's ISR — false (replica[1].isr {1})
refused leader_loses_response_to_isr_shrink(leader=1, replica=2)
    the replica is in the leader's ISR — false (replica[1].isr {1})
refused leader_finds_other_isr_write(leader=1)
    its write was not answered — false (replica[1].isr_write_unanswered false)
refused admin_requests_reassignment(first=1, second=none, third=none)
    no other request is there — false (zk[2].requested 0)
refused admin_requests_two_reassignments(first=1, second=none, third=none)
    no other request is there — false (zk[2].requested 0)
refused admin_requests_unknown_partition()
    no other request is there — false (zk[2].requested 0)

quietly broker_becomes_controller broker=3
refused broker_becomes_controller broker=1
quietly broker_learns_it_won broker=3
refused controller_resigns broker=3
refused controller_sees_broker_startup broker=3 started=1
refused controller_begins_move broker=3
refused controller_writes_union_of_replicas broker=3
refused controller_bumps_epoch broker=3
refused controller_sets_target_in_memory broker=3
refused controller_finds_no_target_to_lead broker=3
refused controller_deletes_old_replicas broker=3
refused controller_writes_target_replicas broker=3
refused controller_removes_request_entry broker=3
refused controller_sends_final_update_metadata broker=3
quietly controller_reads_context broker=3
refused controller_reads_context broker=3
refused controller_sees_broker_failure broker=3 dead=1
refused controller_elects_leader broker=3 leader=1
refused controller_begins_with_targets_in_sync broker=3
refused controller_drops_request_already_assigned broker=3
refused controller_drops_move_of_deleted_topic broker=3
refused controller_drops_unknown_partition broker=3
refused controller_completes_other_reassignment broker=3
refused broker_becomes_leader broker=1 epoch=0 controller=1
refused broker_becomes_follower broker=1 epoch=0 controller=1
refused older_controller_is_refused broker=1 epoch=0 controller=1
quietly controller_begins_move broker=3
refused controller_write_is_fenced broker=3
quietly controller_writes_union_of_replicas broker=3
refused controller_write_conflicts broker=3
quietly controller_bumps_epoch broker=3
refused controller_begins_move broker=3
refused controller_sees_broker_failure broker=3 dead=1
refused controller_sees_broker_startup broker=3 started=1
refused controller_drops_unknown_partition broker=3
refused controller_completes_other_reassignment broker=3
refused controller_sees_targets_in_sync broker=3
refused broker_becomes_leader broker=1 epoch=1 controller=1
refused leaderless_request_is_ignored broker=1 epoch=1 controller=1
----
refused broker_becomes_controller(broker=1)
    /controller does not exist — false (zk.controller 3)
refused controller_resigns(broker=3)
    /controller is not its own any more — false (zk.controller 3)
refused controller_sees_broker_startup(broker=3, started=1)
    it waits for events — false (cache[3].task none)
refused controller_begins_move(broker=3)
    it waits for events, or has just begun — false (cache[3].task none)
refused controller_writes_union_of_replicas(broker=3)
    a move begins — false (cache[3].task none)
refused controller_bumps_epoch(broker=3)
    the epoch is to be raised — false (cache[3].task none)
refused controller_sets_target_in_memory(broker=3)
    every target was in the ISR — false (cache[3].task none)
refused controller_finds_no_target_to_lead(broker=3)
    the leader is to be a target — false (cache[3].task none)
refused controller_deletes_old_replicas(broker=3)
    the old replicas are to go offline — false (cache[3].task none)
refused controller_writes_target_replicas(broker=3)
    the old replicas are deleted — false (cache[3].task none)
refused controller_removes_request_entry(broker=3)
    the target is the assignment — false (cache[3].task none)
refused controller_sends_final_update_metadata(broker=3)
    the move is done — false (cache[3].task none)
refused controller_reads_context(broker=3)
    it has not read the cluster — false (cache[3].task beginning)
refused controller_sees_broker_failure(broker=3, dead=1)
    it waits for events — false (cache[3].task beginning)
refused controller_elects_leader(broker=3, leader=1)
    the partition has no live leader — false (cache[3].task beginning)
refused controller_begins_with_targets_in_sync(broker=3)
    every target is in the ISR — false (cache[3].task beginning, cache[3][2].target 0, zk.isr {1}, zk[2].requested 0)
refused controller_drops_request_already_assigned(broker=3)
    that is the assignment already — false (cache[3].task beginning, cache[3][1].assignment 0, cache[3][1].target none, zk[1].requested none)
refused controller_drops_move_of_deleted_topic(broker=3)
    the topic is queued for deletion — false (cache[3].deleting false)
refused controller_drops_unknown_partition(broker=3)
    the request names an unknown partition — false (cache[3].other none, cache[3].task beginning, cache[3][2].target 0, zk.other none)
refused controller_completes_other_reassignment(broker=3)
    it waits for events — false (cache[3].task beginning)
refused broker_becomes_leader(broker=1, epoch=0, controller=1)
    the leader epoch is newer than the broker's — false (replica[1].epoch 0)
refused broker_becomes_follower(broker=1, epoch=0, controller=1)
    the leader epoch is newer than the broker's — false (replica[1].epoch 0)
refused older_controller_is_refused(broker=1, epoch=0, controller=1)
    the broker has seen a newer controller — false (replica[1].controller_epoch 0)
refused controller_write_is_fenced(broker=3)
    a newer controller epoch was won — false (belief[3] 1, zk.epoch 1)
refused controller_write_conflicts(broker=3)
    the version that it read is out of date — false (cache[3].version 0, zk.version 0)
refused controller_begins_move(broker=3)
    the partition does not move already — false (cache[3].task idle, cache[3][2].target 0)
refused controller_sees_broker_failure(broker=3, dead=1)
    the broker is not registered — false (zk.registered {1,2,3})
refused controller_sees_broker_startup(broker=3, started=1)
    the controller does not reach the broker — false (cache[3].reached {1,2,3})
refused controller_drops_unknown_partition(broker=3)
    the request names an unknown partition — false (cache[3].other none, cache[3].task idle, zk.other none)
refused controller_completes_other_reassignment(broker=3)
    the request names another partition — false (zk.other none)
refused controller_sees_targets_in_sync(broker=3)
    every target is in the registered ISR — false (cache[3][2].target 0, zk.isr {1})
refused broker_becomes_leader(broker=1, epoch=1, controller=1)
    it is the next of its connection — false (request[0][1].to {1})
refused leaderless_request_is_ignored(broker=1, epoch=1, controller=1)
    it is the next of its connection — false (request[0][1].to {1})

refused broker_becomes_leader broker=2 epoch=1 controller=1
refused leaderless_request_is_ignored broker=2 epoch=1 controller=1
refused request_to_non_replica_is_refused broker=2 epoch=1 controller=1
refused older_epoch_is_refused broker=2 epoch=1 controller=1
refused leader_shrink_is_refused leader=1 replica=2
refused leader_finds_own_isr_write leader=1
quietly older_epoch_is_refused broker=1 epoch=0 controller=1
refused broker_becomes_follower broker=1 epoch=1 controller=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly broker_becomes_follower broker=2 epoch=1 controller=1
refused leader_expand_is_refused leader=1 replica=2
quietly follower_catches_up leader=1 follower=2
refused follower_catches_up leader=1 follower=2
quietly leader_expands_isr leader=1 replica=2
refused controller_begins_with_targets_in_sync broker=3
refused controller_write_conflicts broker=3
refused leader_shrinks_isr leader=1 replica=2
refused leader_loses_response_to_isr_shrink leader=1 replica=2
refused leader_expands_isr leader=1 replica=2
refused leader_loses_response_to_isr_expand leader=1 replica=2
quietly controller_sees_targets_in_sync broker=3
refused controller_sees_targets_in_sync broker=3
refused controller_moves_leader_to_target broker=3 leader=2
refused controller_loses_response_to_leader_change broker=3 leader=2
quietly leader_appends leader=1
refused follower_catches_up leader=1 follower=1
refused leader_shrinks_isr leader=1 replica=1
refused leader_loses_response_to_isr_shrink leader=1 replica=1
refused leader_shrink_is_refused leader=1 replica=2
quietly leader_shrinks_isr leader=1 replica=2
refused leader_expands_isr leader=1 replica=2
refused leader_loses_response_to_isr_expand leader=1 replica=2
quietly controller_sets_target_in_memory broker=3
refused controller_moves_leader_to_target broker=3 leader=2
refused controller_loses_response_to_leader_change broker=3 leader=2
----
refused broker_becomes_leader(broker=2, epoch=1, controller=1)
    the request names the broker the leader — false (request[1][1].leader 1)
refused leaderless_request_is_ignored(broker=2, epoch=1, controller=1)
    the request names no leader — false (request[1][1].leader 1)
refused request_to_non_replica_is_refused(broker=2, epoch=1, controller=1)
    the request does not list the broker — false (request[1][1].replicas {1,2})
refused older_epoch_is_refused(broker=2, epoch=1, controller=1)
    the broker knows this leader epoch or a newer one — false (replica[2].epoch none)
refused leader_shrink_is_refused(leader=1, replica=2)
    the replica is in the leader's ISR — false (replica[1].isr {1})
refused leader_finds_own_isr_write(leader=1)
    its write was not answered — false (replica[1].isr_write_unanswered false)
refused broker_becomes_follower(broker=1, epoch=1, controller=1)
    the request names another broker the leader — false (request[1][1].leader 1)
refused leader_expand_is_refused(leader=1, replica=2)
    the cached version is out of date — false (replica[1].zk_version 1, zk.version 1)
refused follower_catches_up(leader=1, follower=2)
    it lacks records, or credit for them — false (replica[1].caught_up {1,2})
refused controller_begins_with_targets_in_sync(broker=3)
    the partition does not move already — false (cache[3].task idle, cache[3][2].target 0)
refused controller_write_conflicts(broker=3)
    it is about to write the partition's state — false (cache[3].task idle)
refused leader_shrinks_isr(leader=1, replica=2)
    it is not known to be caught up — false (replica[1].caught_up {1,2})
refused leader_loses_response_to_isr_shrink(leader=1, replica=2)
    it is not known to be caught up — false (replica[1].caught_up {1,2})
refused leader_expands_isr(leader=1, replica=2)
    the replica is not in the leader's ISR — false (replica[1].isr {1,2})
refused leader_loses_response_to_isr_expand(leader=1, replica=2)
    the replica is not in the leader's ISR — false (replica[1].isr {1,2})
refused controller_sees_targets_in_sync(broker=3)
    it waits for events — false (cache[3].task adopting)
refused controller_moves_leader_to_target(broker=3, leader=2)
    the leader is to be a target — false (cache[3].task adopting)
refused controller_loses_response_to_leader_change(broker=3, leader=2)
    it is about to write the partition's state — false (cache[3].task adopting)
refused follower_catches_up(leader=1, follower=1)
    the replica follows — false (replica[1].role leader)
refused leader_shrinks_isr(leader=1, replica=1)
    a leader never drops itself — false
refused leader_loses_response_to_isr_shrink(leader=1, replica=1)
    a leader never drops itself — false
refused leader_shrink_is_refused(leader=1, replica=2)
    the cached version is out of date — false (replica[1].zk_version 2, zk.version 2)
refused leader_expands_isr(leader=1, replica=2)
    its log is the leader's — false (log[1] {0}, log[2] {})
refused leader_loses_response_to_isr_expand(leader=1, replica=2)
    its log is the leader's — false (log[1] {0}, log[2] {})
refused controller_moves_leader_to_target(broker=3, leader=2)
    the version that it read is current — false (cache[3].version 2, zk.version 3)
refused controller_loses_response_to_leader_change(broker=3, leader=2)
    the version that it read is current — false (cache[3].version 2, zk.version 3)

quietly controller_write_conflicts broker=3
refused controller_loses_response_to_epoch_bump broker=3
refused controller_keeps_leader broker=3
refused controller_moves_leader_to_target broker=3 leader=1
refused controller_loses_response_to_leader_change broker=3 leader=1
refused controller_skips_old_replica_outside_isr broker=3 replica=1
refused controller_skips_old_replica_outside_isr broker=3 replica=2
refused controller_deletes_old_replicas broker=3
quietly controller_takes_old_replica_offline broker=3 replica=1
refused controller_takes_old_replica_offline broker=3 replica=1
refused controller_loses_response_to_isr_removal broker=3 replica=1
refused stop_of_older_controller_is_refused broker=1 controller=1
refused leader_shrink_is_refused leader=1 replica=1
refused leader_expand_is_refused leader=1 replica=2
quietly controller_deletes_old_replicas broker=3
quietly broker_deletes_replica broker=1 controller=1
refused broker_becomes_leader broker=1 epoch=1 controller=1
----
refused controller_loses_response_to_epoch_bump(broker=3)
    it is about to write the partition's state — false (cache[3].task leaving)
refused controller_keeps_leader(broker=3)
    the leader is to be a target — false (cache[3].task leaving)
refused controller_moves_leader_to_target(broker=3, leader=1)
    the leader is to be a target — false (cache[3].task leaving)
refused controller_loses_response_to_leader_change(broker=3, leader=1)
    it is about to write the partition's state — false (cache[3].task leaving)
refused controller_skips_old_replica_outside_isr(broker=3, replica=1)
    it is not in the registered ISR — false (zk.isr {1})
refused controller_skips_old_replica_outside_isr(broker=3, replica=2)
    the replica is one of them — false (cache[3].leaving {1})
refused controller_deletes_old_replicas(broker=3)
    all old replicas are offline — false (cache[3].leaving {1})
refused controller_takes_old_replica_offline(broker=3, replica=1)
    the replica is one of them — false (cache[3].leaving {})
refused controller_loses_response_to_isr_removal(broker=3, replica=1)
    the replica is to go offline — false (cache[3].leaving {})
refused stop_of_older_controller_is_refused(broker=1, controller=1)
    the broker has seen a newer controller — false (replica[1].controller_epoch 1)
refused leader_shrink_is_refused(leader=1, replica=1)
    a leader never drops itself — false
refused leader_expand_is_refused(leader=1, replica=2)
    its log is the leader's — false (log[1] {0}, log[2] {})
refused broker_becomes_leader(broker=1, epoch=1, controller=1)
    the request is in flight — false (request[1][1].to {})
