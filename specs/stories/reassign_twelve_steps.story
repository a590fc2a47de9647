# A partition moves from {1,2,3} to {2,3,4}, in the twelve steps of the article.
# Shows: what each step writes and sends, and that the leader epoch is 3 at the end. (article 000)
# Step 3 sends what step 2 sent already; steps 5 and 6 have no write between them.
system reassignment version 2.3 brokers 4

quietly topic_is_created first=1 second=2 third=3
quietly broker_becomes_controller broker=4
quietly broker_learns_it_won broker=4
quietly controller_reads_context broker=4
quietly older_epoch_is_refused broker=1 epoch=0 controller=1
quietly older_epoch_is_refused broker=2 epoch=0 controller=1
quietly older_epoch_is_refused broker=3 epoch=0 controller=1

# The same list in the same order is dropped; while a move is asked for no other can be.
quietly admin_requests_reassignment first=1 second=2 third=3
refused controller_begins_move broker=4
controller_drops_request_already_assigned broker=4
admin_requests_reassignment first=2 second=3 third=4
refused admin_requests_reassignment first=4 second=2 third=3
----
refused controller_begins_move(broker=4)
    another list, or another order is asked for — false (cache[4].task idle)
controller_drops_request_already_assigned(broker=4)
    zk[1].requested: 0 → none
    zk[2].requested: 1 → none
    zk[3].requested: 2 → none
admin_requests_reassignment(first=2, second=3, third=4)
    zk[2].requested: none → 0
    zk[3].requested: none → 1
    zk[4].requested: none → 2
    wanted[1]: 0 → none
    wanted[2]: 1 → 0
    wanted[3]: 2 → 1
    wanted[4]: none → 2
refused admin_requests_reassignment(first=4, second=2, third=3)
    no other request is there — false (zk[2].requested 0)

# Step 1: AR is RAR and OAR. Steps 2 and 3: LeaderAndIsr to all four, with a new leader epoch.
controller_begins_move broker=4
controller_writes_union_of_replicas broker=4
controller_bumps_epoch broker=4
----
controller_begins_move(broker=4)
    cache[4].task: idle → assigning
    cache[4][2].target: none → 0
    cache[4][3].target: none → 1
    cache[4][4].target: none → 2
controller_writes_union_of_replicas(broker=4)
    zk[1].assignment: 0 → 3
    zk[2].assignment: 1 → 0
    zk[3].assignment: 2 → 1
    zk[4].assignment: none → 2
    cache[4].task: assigning → bumping
    cache[4][1].assignment: 0 → 3
    cache[4][2].assignment: 1 → 0
    cache[4][3].assignment: 2 → 1
    cache[4][4].assignment: none → 2
controller_bumps_epoch(broker=4)
    zk.leader_epoch: 0 → 1
    zk.version: 0 → 1
    cache[4].task: bumping → idle
    cache[4].version: 0 → 1
    cache[4].epoch: 0 → 1
    request[1][1].to: {} → {1,2,3,4}
    request[1][1].leader: none → 1
    request[1][1].isr: {} → {1,2,3}
    request[1][1].version: 0 → 1
    request[1][1].replicas: {} → {1,2,3,4}

# Step 4: broker 4 creates its replica, catches up, and is taken into the ISR by the leader.
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly broker_becomes_follower broker=2 epoch=1 controller=1
quietly broker_becomes_follower broker=3 epoch=1 controller=1
quietly leader_appends leader=1
quietly follower_catches_up leader=1 follower=2
quietly follower_catches_up leader=1 follower=3
broker_becomes_follower broker=4 epoch=1 controller=1
refused leader_expands_isr leader=1 replica=4
follower_catches_up leader=1 follower=4
leader_expands_isr leader=1 replica=4
controller_sees_targets_in_sync broker=4
----
broker_becomes_follower(broker=4, epoch=1, controller=1)
    request[1][1].to: {4} → {}
    request[1][1].leader: 1 → none
    request[1][1].isr: {1,2,3} → {}
    request[1][1].version: 1 → 0
    request[1][1].replicas: {1,2,3,4} → {}
    replica[4].role: none → follower
    replica[4].leader: none → 1
    replica[4].epoch: none → 1
    replica[4].controller_epoch: 0 → 1
refused leader_expands_isr(leader=1, replica=4)
    its log is the leader's — false (log[1] {0}, log[4] {})
follower_catches_up(leader=1, follower=4)
    replica[1].caught_up: {2,3} → {2,3,4}
    log[4]: {} → {0}
leader_expands_isr(leader=1, replica=4)
    zk.isr: {1,2,3} → {1,2,3,4}
    zk.version: 1 → 2
    replica[1].isr: {1,2,3} → {1,2,3,4}
    replica[1].zk_version: 1 → 2
controller_sees_targets_in_sync(broker=4)
    cache[4].task: idle → adopting
    cache[4].isr: {1,2,3} → {1,2,3,4}
    cache[4].version: 1 → 2

# Steps 5 and 6: RAR is online, which tells 2 and 3 what they know already, and 4 nothing; in memory
# AR is RAR, in ZooKeeper it is not yet.
controller_sets_target_in_memory broker=4
----
controller_sets_target_in_memory(broker=4)
    cache[4].task: adopting → leading
    cache[4][1].assignment: 3 → none
    cache[4].old: {} → {1}
    cache[4].leaving: {} → {1}

# Step 7: the leader is none of RAR, so the first of RAR leads.
refused controller_keeps_leader broker=4
controller_moves_leader_to_target broker=4 leader=2
----
refused controller_keeps_leader(broker=4)
    the leader is a target, and alive — false (cache[4].leader 1)
controller_moves_leader_to_target(broker=4, leader=2)
    zk.leader: 1 → 2
    zk.leader_epoch: 1 → 2
    zk.version: 2 → 3
    cache[4].task: leading → leaving
    cache[4].leader: 1 → 2
    cache[4].version: 2 → 3
    cache[4].epoch: 1 → 2
    request[2][1].to: {} → {2,3,4}
    request[2][1].leader: none → 2
    request[2][1].isr: {} → {1,2,3,4}
    request[2][1].version: 0 → 3
    request[2][1].replicas: {} → {2,3,4}
    metadata[1].leader: 1 → 2
    metadata[2].leader: 1 → 2
    metadata[3].leader: 1 → 2
    metadata[4].leader: 1 → 2

# Step 8: broker 1 leaves the ISR. Step 9: its replica is to be deleted; nobody waits for it.
controller_takes_old_replica_offline broker=4 replica=1
controller_deletes_old_replicas broker=4
----
controller_takes_old_replica_offline(broker=4, replica=1)
    zk.leader_epoch: 2 → 3
    zk.isr: {1,2,3,4} → {2,3,4}
    zk.version: 3 → 4
    cache[4].isr: {1,2,3,4} → {2,3,4}
    cache[4].version: 3 → 4
    cache[4].epoch: 2 → 3
    cache[4].leaving: {1} → {}
    request[3][1].to: {} → {2,3,4}
    request[3][1].leader: none → 2
    request[3][1].isr: {} → {2,3,4}
    request[3][1].version: 0 → 4
    request[3][1].replicas: {} → {2,3,4}
    stop[1][1].what: none → stop
    stop[1][1].epoch: 0 → 3
controller_deletes_old_replicas(broker=4)
    cache[4].task: leaving → settling
    cache[4].old: {1} → {}
    stop[1][1].what: stop → delete

# Steps 10, 11 and 12: AR in ZooKeeper, the request, UpdateMetadata.
controller_writes_target_replicas broker=4
controller_removes_request_entry broker=4
controller_sends_final_update_metadata broker=4
show zk.assignment
show zk.leader_epoch
show metadata
check a_move_is_done
----
controller_writes_target_replicas(broker=4)
    zk[1].assignment: 3 → none
    cache[4].task: settling → closing
controller_removes_request_entry(broker=4)
    zk[2].requested: 0 → none
    zk[3].requested: 1 → none
    zk[4].requested: 2 → none
    cache[4].task: closing → telling
    cache[4][2].target: 0 → none
    cache[4][3].target: 1 → none
    cache[4][4].target: 2 → none
controller_sends_final_update_metadata(broker=4)
    cache[4].task: telling → idle
zk[1].assignment: none
zk[2].assignment: 0
zk[3].assignment: 1
zk[4].assignment: 2
zk.leader_epoch: 3
metadata[1].leader: 2
metadata[2].leader: 2
metadata[3].leader: 2
metadata[4].leader: 2
metadata[1].controller: 1
metadata[2].controller: 1
metadata[3].controller: 1
metadata[4].controller: 1
a_move_is_done: so it is — a move is done: the target is the assignment, it was not before, and no request is there

# What was sent arrives. Broker 1 has no replica any more, and all the others have the record.
quietly broker_becomes_leader broker=2 epoch=2 controller=1
quietly broker_becomes_leader broker=2 epoch=3 controller=1
quietly broker_deletes_replica broker=1 controller=1
show log
check no_message_loss
check isr_is_assigned
----
log[1]: {}
log[2]: {0}
log[3]: {0}
log[4]: {0}
no_message_loss: holds
isr_is_assigned: holds
