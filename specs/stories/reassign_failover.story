# The controller is deposed during a reassignment, and the next one completes it.
# Shows: what was done stays done, the next begins with what ZooKeeper says, and the writes of the
# first are refused by its epoch. (KafkaController.onControllerFailover; KAFKA-6082)
system reassignment version 2.3 brokers 3

quietly topic_is_created first=1 second=none third=none
quietly admin_requests_reassignment first=2 second=none third=none
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly controller_begins_move broker=1
controller_writes_union_of_replicas broker=1
----
controller_writes_union_of_replicas(broker=1)
    zk[1].assignment: 0 → 1
    zk[2].assignment: none → 0
    cache[1].task: assigning → bumping
    cache[1][1].assignment: 0 → 1
    cache[1][2].assignment: none → 0

# After step 1 its session expires. It does not notice; broker 3 takes over and begins again.
quietly session_expires broker=1
quietly broker_reconnects broker=1
quietly broker_becomes_controller broker=3
quietly broker_learns_it_won broker=3
controller_reads_context broker=3
controller_begins_move broker=3
controller_writes_union_of_replicas broker=3
controller_bumps_epoch broker=3
----
controller_reads_context(broker=3)
    cache[3].task: none → beginning
    cache[3].leader: none → 1
    cache[3].isr: {} → {1}
    cache[3].live: {} → {1,2,3}
    cache[3].reached: {} → {1,2,3}
    cache[3][1].assignment: none → 1
    cache[3][2].assignment: none → 0
    cache[3][2].target: none → 0
    request[0][2].to: {} → {1,2}
    request[0][2].leader: none → 1
    request[0][2].isr: {} → {1}
    request[0][2].replicas: {} → {1,2}
    metadata[1].controller: 1 → 2
    metadata[2].controller: 1 → 2
    metadata[3].controller: 1 → 2
controller_begins_move(broker=3)
    cache[3].task: beginning → assigning
controller_writes_union_of_replicas(broker=3)
    cache[3].task: assigning → bumping
controller_bumps_epoch(broker=3)
    zk.leader_epoch: 0 → 1
    zk.version: 0 → 1
    cache[3].task: bumping → idle
    cache[3].version: 0 → 1
    cache[3].epoch: 0 → 1
    request[1][2].to: {} → {1,2}
    request[1][2].leader: none → 1
    request[1][2].isr: {} → {1}
    request[1][2].version: 0 → 1
    request[1][2].replicas: {} → {1,2}

# The new replica catches up, and the leader moves.
quietly older_epoch_is_refused broker=1 epoch=0 controller=2
quietly broker_becomes_leader broker=1 epoch=1 controller=2
quietly broker_becomes_follower broker=2 epoch=0 controller=2
quietly broker_becomes_follower broker=2 epoch=1 controller=2
quietly leader_appends leader=1
quietly follower_catches_up leader=1 follower=2
quietly leader_expands_isr leader=1 replica=2
quietly controller_sees_targets_in_sync broker=3
quietly controller_sets_target_in_memory broker=3
controller_moves_leader_to_target broker=3 leader=2
----
controller_moves_leader_to_target(broker=3, leader=2)
    zk.leader: 1 → 2
    zk.leader_epoch: 1 → 2
    zk.version: 2 → 3
    cache[3].task: leading → leaving
    cache[3].leader: 1 → 2
    cache[3].version: 2 → 3
    cache[3].epoch: 1 → 2
    request[2][2].to: {} → {2}
    request[2][2].leader: none → 2
    request[2][2].isr: {} → {1,2}
    request[2][2].version: 0 → 3
    request[2][2].replicas: {} → {2}
    metadata[1].leader: 1 → 2
    metadata[2].leader: 1 → 2
    metadata[3].leader: 1 → 2

# An operator deletes /controller, and broker 2 takes over from broker 3 between steps 7 and 8.
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
refused controller_takes_old_replica_offline broker=3 replica=1
controller_write_is_fenced broker=3
----
refused controller_takes_old_replica_offline(broker=3, replica=1)
    the epoch that it won is the newest — false (belief[3] 2, zk.epoch 3)
controller_write_is_fenced(broker=3)
    belief[3]: 2 → 0
    cache[3].task: leaving → none
    cache[3].leader: 2 → none
    cache[3].isr: {1,2} → {}
    cache[3].version: 3 → 0
    cache[3].epoch: 2 → 0
    cache[3].live: {1,2,3} → {}
    cache[3].reached: {1,2,3} → {}
    cache[3][2].assignment: 0 → none
    cache[3][2].target: 0 → none
    cache[3].old: {1} → {}
    cache[3].leaving: {1} → {}

# ZooKeeper says: AR has both, every target is in the ISR. So it goes on with step 5.
quietly controller_reads_context broker=2
refused controller_begins_move broker=2
controller_begins_with_targets_in_sync broker=2
check reassignment_survives_failover
quietly controller_sets_target_in_memory broker=2
quietly controller_keeps_leader broker=2
quietly controller_takes_old_replica_offline broker=2 replica=1
quietly controller_deletes_old_replicas broker=2
quietly controller_writes_target_replicas broker=2
controller_removes_request_entry broker=2
show zk.assignment
show zk.leader
show zk.isr
show zk.leader_epoch
check a_move_is_done
check isr_holds_committed
check one_replica_set_has_all_commits
----
refused controller_begins_move(broker=2)
    a target is not in the ISR — false (cache[2].task beginning)
controller_begins_with_targets_in_sync(broker=2)
    cache[2].task: beginning → adopting
reassignment_survives_failover: not so here — a controller resumes a move that another one began
controller_removes_request_entry(broker=2)
    zk[2].requested: 0 → none
    cache[2].task: closing → telling
    cache[2][2].target: 0 → none
zk[1].assignment: none
zk[2].assignment: 0
zk[3].assignment: none
zk.leader: 2
zk.isr: {2}
zk.leader_epoch: 4
a_move_is_done: so it is — a move is done: the target is the assignment, it was not before, and no request is there
isr_holds_committed: holds
one_replica_set_has_all_commits: holds
