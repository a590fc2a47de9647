# A controller without a session takes no step of a reassignment, and a leader writes no ISR.
# Shows: ZooKeeper tells them nothing and does nothing for them, whatever they were about to do.
system reassignment version 2.3 brokers 2 replicas 2

refused broker_becomes_follower broker=1 epoch=0 controller=1
refused controller_write_is_fenced broker=1
refused follower_catches_up leader=1 follower=1
refused leader_expand_is_refused leader=1 replica=1
refused leader_loses_response_to_isr_expand leader=1 replica=1
refused leader_expands_isr leader=1 replica=1
refused leader_finds_other_isr_write leader=1
refused leader_finds_own_isr_write leader=1
refused leader_shrink_is_refused leader=1 replica=2
refused leader_loses_response_to_isr_shrink leader=1 replica=2
refused leader_shrinks_isr leader=1 replica=2
quietly topic_is_created first=1 second=none third=none
refused leader_expand_is_refused leader=1 replica=2
refused leader_loses_response_to_isr_expand leader=1 replica=2
refused leader_expands_isr leader=1 replica=2
quietly session_expires broker=1
refused leader_expand_is_refused leader=1 replica=1
refused leader_loses_response_to_isr_expand leader=1 replica=1
refused leader_expands_isr leader=1 replica=1
refused leader_shrink_is_refused leader=1 replica=2
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
refused controller_sees_broker_failure broker=2 dead=1
quietly session_expires broker=2
refused controller_sets_target_in_memory broker=2
refused controller_writes_union_of_replicas broker=2
refused controller_begins_move broker=2
refused controller_begins_with_targets_in_sync broker=2
refused controller_removes_request_entry broker=2
refused controller_deletes_old_replicas broker=2
refused controller_drops_move_of_deleted_topic broker=2
refused controller_drops_request_already_assigned broker=2
refused controller_elects_leader broker=2 leader=1
refused controller_finds_no_target_to_lead broker=2
refused controller_keeps_leader broker=2
refused controller_loses_response_to_leader_change broker=2 leader=1
refused controller_moves_leader_to_target broker=2 leader=1
refused controller_completes_other_reassignment broker=2
refused controller_skips_old_replica_outside_isr broker=2 replica=1
refused controller_loses_response_to_isr_removal broker=2 replica=1
refused controller_removes_dead_replica broker=2 dead=1
refused controller_sees_targets_in_sync broker=2
refused controller_writes_target_replicas broker=2
refused controller_takes_old_replica_offline broker=2 replica=1
refused controller_sends_final_update_metadata broker=2
refused controller_write_conflicts broker=2
quietly broker_reconnects broker=1
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
refused controller_begins_move broker=1
refused controller_drops_request_already_assigned broker=1
refused leaderless_request_is_ignored broker=1 epoch=0 controller=2
refused request_to_non_replica_is_refused broker=1 epoch=0 controller=2
check controllers_without_session_do_nothing
----
refused broker_becomes_follower(broker=1, epoch=0, controller=1)
    the request is in flight — false (request[0][1].to {})
refused controller_write_is_fenced(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused follower_catches_up(leader=1, follower=1)
    the broker believes it leads — false (replica[1].role none)
refused leader_expand_is_refused(leader=1, replica=1)
    the broker believes it leads — false (replica[1].role none)
refused leader_loses_response_to_isr_expand(leader=1, replica=1)
    the broker believes it leads — false (replica[1].role none)
refused leader_expands_isr(leader=1, replica=1)
    the broker believes it leads — false (replica[1].role none)
refused leader_finds_other_isr_write(leader=1)
    the broker believes it leads — false (replica[1].role none)
refused leader_finds_own_isr_write(leader=1)
    the broker believes it leads — false (replica[1].role none)
refused leader_shrink_is_refused(leader=1, replica=2)
    the broker believes it leads — false (replica[1].role none)
refused leader_loses_response_to_isr_shrink(leader=1, replica=2)
    the broker believes it leads — false (replica[1].role none)
refused leader_shrinks_isr(leader=1, replica=2)
    the broker believes it leads — false (replica[1].role none)
refused leader_expand_is_refused(leader=1, replica=2)
    the replica follows — false (replica[2].role none)
refused leader_loses_response_to_isr_expand(leader=1, replica=2)
    the replica follows — false (replica[2].role none)
refused leader_expands_isr(leader=1, replica=2)
    the replica follows — false (replica[2].role none)
refused leader_expand_is_refused(leader=1, replica=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused leader_loses_response_to_isr_expand(leader=1, replica=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused leader_expands_isr(leader=1, replica=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused leader_shrink_is_refused(leader=1, replica=2)
    it has a ZooKeeper session — false (zk.registered {2})
refused controller_sees_broker_failure(broker=2, dead=1)
    it waits for events — false (cache[2].task none)
refused controller_sets_target_in_memory(broker=2)
    it has a ZooKeeper session — false (zk.registered {})
refused controller_writes_union_of_replicas(broker=2)
    it has a ZooKeeper session — false (zk.registered {})
refused controller_begins_move(broker=2)
    it has a ZooKeeper session — false (zk.registered {})
refused controller_begins_with_targets_in_sync(broker=2)
    it has a ZooKeeper session — false (zk.registered {})
refused controller_removes_request_entry(broker=2)
    it has a ZooKeeper session — false (zk.registered {})
refused controller_deletes_old_replicas(broker=2)
    it has a ZooKeeper session — false (zk.registered {})
refused controller_drops_move_of_deleted_topic(broker=2)
    it has a ZooKeeper session — false (zk.registered {})
refused controller_drops_request_already_assigned(broker=2)
    it has a ZooKeeper session — false (zk.registered {})
refused controller_elects_leader(broker=2, leader=1)
    it has a ZooKeeper session — false (zk.registered {})
refused controller_finds_no_target_to_lead(broker=2)
    it has a ZooKeeper session — false (zk.registered {})
refused controller_keeps_leader(broker=2)
    it has a ZooKeeper session — false (zk.registered {})
refused controller_loses_response_to_leader_change(broker=2, leader=1)
    it has a ZooKeeper session — false (zk.registered {})
refused controller_moves_leader_to_target(broker=2, leader=1)
    it has a ZooKeeper session — false (zk.registered {})
refused controller_completes_other_reassignment(broker=2)
    it has a ZooKeeper session — false (zk.registered {})
refused controller_skips_old_replica_outside_isr(broker=2, replica=1)
    it has a ZooKeeper session — false (zk.registered {})
refused controller_loses_response_to_isr_removal(broker=2, replica=1)
    it has a ZooKeeper session — false (zk.registered {})
refused controller_removes_dead_replica(broker=2, dead=1)
    it has a ZooKeeper session — false (zk.registered {})
refused controller_sees_targets_in_sync(broker=2)
    it has a ZooKeeper session — false (zk.registered {})
refused controller_writes_target_replicas(broker=2)
    it has a ZooKeeper session — false (zk.registered {})
refused controller_takes_old_replica_offline(broker=2, replica=1)
    it has a ZooKeeper session — false (zk.registered {})
refused controller_sends_final_update_metadata(broker=2)
    it has a ZooKeeper session — false (zk.registered {})
refused controller_write_conflicts(broker=2)
    it has a ZooKeeper session — false (zk.registered {})
refused controller_begins_move(broker=1)
    the request names the partition — false (cache[1].task idle)
refused controller_drops_request_already_assigned(broker=1)
    the request names the partition — false (cache[1].task idle)
refused leaderless_request_is_ignored(broker=1, epoch=0, controller=2)
    the leader epoch is newer than the broker's — false (replica[1].epoch 0)
refused request_to_non_replica_is_refused(broker=1, epoch=0, controller=2)
    the leader epoch is newer than the broker's — false (replica[1].epoch 0)
controllers_without_session_do_nothing: holds of every step
