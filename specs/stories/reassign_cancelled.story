# A reassignment is changed while it is in progress, and then cancelled.
# Shows: since 2.4 the topic's own znode says what is added and removed; whom the new target does not
# need is taken offline and deleted first. (KIP-455)
system reassignment version 2.4 brokers 3

quietly topic_is_created first=1 second=none third=none
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly older_epoch_is_refused broker=1 epoch=0 controller=1
refused controller_cancels_move broker=1
controller_is_asked_to_reassign broker=1 first=2 second=none third=none
quietly controller_bumps_epoch broker=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly broker_becomes_follower broker=2 epoch=1 controller=1
leader_expands_isr leader=1 replica=2
----
refused controller_cancels_move(broker=1)
    the partition is to move — false
controller_is_asked_to_reassign(broker=1, first=2, second=none, third=none)
    zk[1].assignment: 0 → 1
    zk[2].assignment: none → 0
    zk.adding: {} → {2}
    zk.removing: {} → {1}
    cache[1].task: idle → bumping
    cache[1][1].assignment: 0 → 1
    cache[1][2].assignment: none → 0
    cache[1][2].target: none → 0
    wanted[2]: none → 0
leader_expands_isr(leader=1, replica=2)
    zk.isr: {1} → {1,2}
    zk.version: 1 → 2
    replica[1].isr: {1} → {1,2}
    replica[1].zk_version: 1 → 2
    replica[1].caught_up: {1} → {1,2}

# To broker 3 instead: broker 2 is in the ISR already, and has to leave it.
controller_is_asked_to_reassign broker=1 first=3 second=none third=none
controller_write_conflicts broker=1
controller_takes_old_replica_offline broker=1 replica=2
controller_deletes_cancelled_adding_replicas broker=1
controller_bumps_epoch broker=1
show zk.assignment
----
controller_is_asked_to_reassign(broker=1, first=3, second=none, third=none)
    zk[2].assignment: 0 → none
    zk[3].assignment: none → 0
    zk.adding: {2} → {3}
    cache[1].task: idle → replacing
    cache[1][2].assignment: 0 → none
    cache[1][3].assignment: none → 0
    cache[1][2].target: 0 → none
    cache[1][3].target: none → 0
    cache[1].old: {} → {2}
    cache[1].leaving: {} → {2}
    wanted[2]: 0 → none
    wanted[3]: none → 0
controller_write_conflicts(broker=1)
    cache[1].isr: {1} → {1,2}
    cache[1].version: 1 → 2
controller_takes_old_replica_offline(broker=1, replica=2)
    zk.leader_epoch: 1 → 2
    zk.isr: {1,2} → {1}
    zk.version: 2 → 3
    cache[1].isr: {1,2} → {1}
    cache[1].version: 2 → 3
    cache[1].epoch: 1 → 2
    cache[1].leaving: {2} → {}
    request[2][1].to: {} → {1,3}
    request[2][1].leader: none → 1
    request[2][1].isr: {} → {1}
    request[2][1].version: 0 → 3
    request[2][1].replicas: {} → {1,3}
    stop[1][2].what: none → stop
    stop[1][2].epoch: 0 → 2
controller_deletes_cancelled_adding_replicas(broker=1)
    cache[1].task: replacing → bumping
    cache[1].old: {2} → {}
    stop[1][2].what: stop → delete
controller_bumps_epoch(broker=1)
    zk.leader_epoch: 2 → 3
    zk.version: 3 → 4
    cache[1].task: bumping → idle
    cache[1].version: 3 → 4
    cache[1].epoch: 2 → 3
    request[3][1].to: {} → {1,3}
    request[3][1].leader: none → 1
    request[3][1].isr: {} → {1}
    request[3][1].version: 0 → 4
    request[3][1].replicas: {} → {1,3}
zk[1].assignment: 1
zk[2].assignment: none
zk[3].assignment: 0

# No, nowhere: what was the original list is the target.
controller_cancels_move broker=1
controller_skips_old_replica_outside_isr broker=1 replica=3
controller_deletes_cancelled_adding_replicas broker=1
controller_sets_target_in_memory broker=1
controller_keeps_leader broker=1
quietly controller_deletes_old_replicas broker=1
quietly controller_writes_target_replicas broker=1
controller_removes_request_entry broker=1
show zk.assignment
show zk.leader_epoch
check a_move_is_cancelled
check one_replica_set_has_all_commits
----
controller_cancels_move(broker=1)
    zk[1].assignment: 1 → 0
    zk[3].assignment: 0 → none
    zk.adding: {3} → {}
    zk.removing: {1} → {}
    cache[1].task: idle → replacing
    cache[1][1].assignment: 1 → 0
    cache[1][3].assignment: 0 → none
    cache[1][1].target: none → 0
    cache[1][3].target: 0 → none
    cache[1].old: {} → {3}
    cache[1].leaving: {} → {3}
    wanted[1]: none → 0
    wanted[3]: 0 → none
controller_skips_old_replica_outside_isr(broker=1, replica=3)
    cache[1].leaving: {3} → {}
    stop[1][3].what: none → stop
    stop[1][3].epoch: 0 → 3
controller_deletes_cancelled_adding_replicas(broker=1)
    cache[1].task: replacing → adopting
    cache[1].old: {3} → {}
    stop[1][3].what: stop → delete
controller_sets_target_in_memory(broker=1)
    cache[1].task: adopting → leading
controller_keeps_leader(broker=1)
    zk.leader_epoch: 3 → 4
    zk.version: 4 → 5
    cache[1].task: leading → leaving
    cache[1].version: 4 → 5
    cache[1].epoch: 3 → 4
    request[4][1].to: {} → {1}
    request[4][1].leader: none → 1
    request[4][1].isr: {} → {1}
    request[4][1].version: 0 → 5
    request[4][1].replicas: {} → {1}
controller_removes_request_entry(broker=1)
    cache[1].task: closing → telling
    cache[1][1].target: 0 → none
zk[1].assignment: 0
zk[2].assignment: none
zk[3].assignment: none
zk.leader_epoch: 4
a_move_is_cancelled: so it is — a move is cancelled, and done with: the partition is where it was
one_replica_set_has_all_commits: holds
