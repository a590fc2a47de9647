# A leader waits for the response to its write during a reassignment.
# Shows: orders wait as well; and the orders of an older controller, of older epochs or out of turn change nothing.
system reassignment version 2.3 brokers 2 replicas 2

quietly topic_is_created first=1 second=2 third=none
quietly leader_appends leader=1
quietly leader_loses_response_to_isr_shrink leader=1 replica=2
refused leader_expand_is_refused leader=1 replica=1
refused leader_loses_response_to_isr_expand leader=1 replica=1
refused leader_expands_isr leader=1 replica=1
refused leader_loses_response_to_isr_shrink leader=1 replica=2
refused leader_shrinks_isr leader=1 replica=2
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
refused broker_becomes_follower broker=1 epoch=0 controller=1
refused leaderless_request_is_ignored broker=1 epoch=0 controller=1
refused older_controller_is_refused broker=1 epoch=0 controller=1
refused older_epoch_is_refused broker=1 epoch=0 controller=1
refused request_to_non_replica_is_refused broker=1 epoch=0 controller=1
quietly admin_requests_reassignment first=1 second=none third=none
quietly controller_begins_with_targets_in_sync broker=1
quietly controller_sets_target_in_memory broker=1
refused controller_finds_no_target_to_lead broker=1
quietly controller_keeps_leader broker=1
refused older_controller_is_refused broker=2 epoch=1 controller=1
refused older_epoch_is_refused broker=2 epoch=1 controller=1
quietly controller_skips_old_replica_outside_isr broker=1 replica=2
refused stop_of_older_controller_is_refused broker=2 controller=1
quietly older_epoch_is_refused broker=2 epoch=0 controller=1
refused broker_becomes_leader broker=2 epoch=1 controller=1
refused leaderless_request_is_ignored broker=2 epoch=1 controller=1
quietly broker_crashes broker=2
quietly controller_deletes_old_replicas broker=1
refused broker_deletes_replica broker=2 controller=1
refused stop_of_older_controller_is_refused broker=2 controller=1
quietly session_expires broker=2
quietly broker_starts broker=2
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=2
refused controller_writes_target_replicas broker=1
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly leader_finds_other_isr_write leader=1
quietly broker_becomes_leader broker=1 epoch=1 controller=2
refused broker_becomes_follower broker=1 epoch=0 controller=1
refused broker_becomes_leader broker=1 epoch=0 controller=1
refused leaderless_request_is_ignored broker=1 epoch=0 controller=1
refused older_epoch_is_refused broker=1 epoch=0 controller=1
refused request_to_non_replica_is_refused broker=1 epoch=0 controller=1
quietly controller_begins_with_targets_in_sync broker=2
quietly controller_sets_target_in_memory broker=2
quietly controller_keeps_leader broker=2
quietly broker_becomes_follower broker=2 epoch=1 controller=2
quietly follower_catches_up leader=1 follower=2
refused leader_loses_response_to_isr_expand leader=1 replica=2
refused leader_expands_isr leader=1 replica=2
quietly broker_becomes_leader broker=1 epoch=2 controller=2
refused leader_expand_is_refused leader=1 replica=2
check one_replica_set_has_all_commits
----
refused leader_expand_is_refused(leader=1, replica=1)
    none of its writes waits for a response — false (replica[1].isr_write_unanswered true)
refused leader_loses_response_to_isr_expand(leader=1, replica=1)
    none of its writes waits for a response — false (replica[1].isr_write_unanswered true)
refused leader_expands_isr(leader=1, replica=1)
    none of its writes waits for a response — false (replica[1].isr_write_unanswered true)
refused leader_loses_response_to_isr_shrink(leader=1, replica=2)
    none of its writes waits for a response — false (replica[1].isr_write_unanswered true)
refused leader_shrinks_isr(leader=1, replica=2)
    none of its writes waits for a response — false (replica[1].isr_write_unanswered true)
refused broker_becomes_follower(broker=1, epoch=0, controller=1)
    none of its writes waits for a response — false (replica[1].isr_write_unanswered true)
refused leaderless_request_is_ignored(broker=1, epoch=0, controller=1)
    none of its writes waits for a response — false (replica[1].isr_write_unanswered true)
refused older_controller_is_refused(broker=1, epoch=0, controller=1)
    none of its writes waits for a response — false (replica[1].isr_write_unanswered true)
refused older_epoch_is_refused(broker=1, epoch=0, controller=1)
    none of its writes waits for a response — false (replica[1].isr_write_unanswered true)
refused request_to_non_replica_is_refused(broker=1, epoch=0, controller=1)
    none of its writes waits for a response — false (replica[1].isr_write_unanswered true)
refused controller_finds_no_target_to_lead(broker=1)
    the leader is no target, or dead — false (cache[1].leader 1, cache[1].live {1,2}, cache[1][1].target 0)
refused older_controller_is_refused(broker=2, epoch=1, controller=1)
    it is the next of its connection — false (request[0][1].to {1,2})
refused older_epoch_is_refused(broker=2, epoch=1, controller=1)
    it is the next of its connection — false (request[0][1].to {1,2})
refused stop_of_older_controller_is_refused(broker=2, controller=1)
    all earlier requests have arrived — false (request[0][1].to {1,2}, stop[1][2].epoch 1)
refused broker_becomes_leader(broker=2, epoch=1, controller=1)
    the request lists the broker as a replica — false (request[1][1].replicas {1})
refused leaderless_request_is_ignored(broker=2, epoch=1, controller=1)
    the request lists the broker as a replica — false (request[1][1].replicas {1})
refused broker_deletes_replica(broker=2, controller=1)
    the process runs — false (up {1})
refused stop_of_older_controller_is_refused(broker=2, controller=1)
    the process runs — false (up {1})
refused controller_writes_target_replicas(broker=1)
    the epoch that it won is the newest — false (belief[1] 1, zk.epoch 2)
refused broker_becomes_follower(broker=1, epoch=0, controller=1)
    the broker has seen no newer controller — false (replica[1].controller_epoch 2)
refused broker_becomes_leader(broker=1, epoch=0, controller=1)
    the broker has seen no newer controller — false (replica[1].controller_epoch 2)
refused leaderless_request_is_ignored(broker=1, epoch=0, controller=1)
    the broker has seen no newer controller — false (replica[1].controller_epoch 2)
refused older_epoch_is_refused(broker=1, epoch=0, controller=1)
    the broker has seen no newer controller — false (replica[1].controller_epoch 2)
refused request_to_non_replica_is_refused(broker=1, epoch=0, controller=1)
    the broker has seen no newer controller — false (replica[1].controller_epoch 2)
refused leader_loses_response_to_isr_expand(leader=1, replica=2)
    the cached version is current — false (replica[1].zk_version 2, zk.version 3)
refused leader_expands_isr(leader=1, replica=2)
    the cached version is current — false (replica[1].zk_version 2, zk.version 3)
refused leader_expand_is_refused(leader=1, replica=2)
    both are in the same epoch — false (replica[1].epoch 2, replica[2].epoch 1)
one_replica_set_has_all_commits: holds
