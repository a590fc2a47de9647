# A leader shrinks the ISR, gets no response, and loses its session: what is refused meanwhile.
# Shows: a leader whose write was not answered does nothing else about the partition.
system reassignment version 2.3 brokers 2 replicas 2

quietly topic_is_created first=1 second=2 third=none
quietly session_expires broker=1
quietly leader_appends leader=1
refused leader_loses_response_to_isr_shrink leader=1 replica=2
refused leader_shrinks_isr leader=1 replica=2
quietly broker_reconnects broker=1
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly leader_loses_response_to_isr_shrink leader=1 replica=2
refused follower_catches_up leader=1 follower=2
refused leader_appends leader=1
refused leader_finds_other_isr_write leader=1
refused leader_shrink_is_refused leader=1 replica=2
quietly session_expires broker=1
refused leader_finds_own_isr_write leader=1
quietly controller_sees_broker_failure broker=2 dead=1
refused controller_elects_leader broker=2 leader=1
quietly admin_requests_reassignment first=1 second=2 third=none
refused controller_drops_request_already_assigned broker=2
quietly controller_removes_dead_replica broker=2 dead=1
refused leader_finds_other_isr_write leader=1
quietly broker_reconnects broker=1
refused leader_finds_own_isr_write leader=1
quietly session_expires broker=2
quietly broker_reconnects broker=2
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly controller_elects_leader broker=2 leader=1
refused broker_becomes_leader broker=1 epoch=2 controller=2
refused broker_becomes_follower broker=2 epoch=1 controller=2
quietly leader_finds_other_isr_write leader=1
refused leader_loses_response_to_isr_shrink leader=1 replica=2
refused leader_shrinks_isr leader=1 replica=2
refused leaderless_request_is_ignored broker=1 epoch=1 controller=1
quietly leaderless_request_is_ignored broker=1 epoch=1 controller=2
quietly broker_becomes_leader broker=1 epoch=2 controller=2
quietly leaderless_request_is_ignored broker=2 epoch=1 controller=2
quietly broker_becomes_follower broker=2 epoch=2 controller=2
quietly follower_catches_up leader=1 follower=2
quietly leader_expands_isr leader=1 replica=2
refused controller_begins_with_targets_in_sync broker=2
check isr_holds_committed
check leader_epoch_never_falls
----
refused leader_loses_response_to_isr_shrink(leader=1, replica=2)
    it has a ZooKeeper session — false (zk.registered {2})
refused leader_shrinks_isr(leader=1, replica=2)
    it has a ZooKeeper session — false (zk.registered {2})
refused follower_catches_up(leader=1, follower=2)
    no write of the leader is unanswered — false (replica[1].isr_write_unanswered true)
refused leader_appends(leader=1)
    none of its writes waits for a response — false (replica[1].isr_write_unanswered true)
refused leader_finds_other_isr_write(leader=1)
    the registered state is another write — false (replica[1].zk_version 0, zk.version 1)
refused leader_shrink_is_refused(leader=1, replica=2)
    none of its writes waits for a response — false (replica[1].isr_write_unanswered true)
refused leader_finds_own_isr_write(leader=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused controller_elects_leader(broker=2, leader=1)
    the partition has no live leader — false (cache[2].task removing)
refused controller_drops_request_already_assigned(broker=2)
    it waits for events, or has just begun — false (cache[2].task removing)
refused leader_finds_other_isr_write(leader=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused leader_finds_own_isr_write(leader=1)
    the registered state is its own write — false (replica[1].zk_version 0, zk.version 2)
refused broker_becomes_leader(broker=1, epoch=2, controller=2)
    none of its writes waits for a response — false (replica[1].isr_write_unanswered true)
refused broker_becomes_follower(broker=2, epoch=1, controller=2)
    the request names a leader — false (request[1][2].leader none)
refused leader_loses_response_to_isr_shrink(leader=1, replica=2)
    the cached version is current — false (replica[1].zk_version 0, zk.version 3)
refused leader_shrinks_isr(leader=1, replica=2)
    the cached version is current — false (replica[1].zk_version 0, zk.version 3)
refused leaderless_request_is_ignored(broker=1, epoch=1, controller=1)
    the request is in flight — false (request[1][1].to {})
refused controller_begins_with_targets_in_sync(broker=2)
    another list, or another order is asked for — false (cache[2].task beginning)
isr_holds_committed: holds
leader_epoch_never_falls: holds of every step
