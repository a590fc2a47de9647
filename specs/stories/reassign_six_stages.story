# A partition moves from {1,0,2} to {2,3,5}, in the six stages of the article.
# Shows: AR, leader and ISR of each stage; the leader epoch is 0, 1, 1, 2, 4, 4. (article 002)
# Brokers have no id 0 here: broker 4 stands for it. A list is shown as the place of each replica.
system reassignment version 2.3 brokers 5

# Stage 1: AR {1,0,2}, leader 1, ISR {1,0,2}.
quietly topic_is_created first=1 second=4 third=2
quietly broker_becomes_controller broker=5
quietly broker_learns_it_won broker=5
quietly controller_reads_context broker=5
admin_requests_reassignment first=2 second=3 third=5
show zk.assignment
show zk.isr
show zk.leader_epoch
----
admin_requests_reassignment(first=2, second=3, third=5)
    zk[2].requested: none → 0
    zk[3].requested: none → 1
    zk[5].requested: none → 2
    wanted[2]: none → 0
    wanted[3]: none → 1
    wanted[5]: none → 2
zk[1].assignment: 0
zk[2].assignment: 2
zk[3].assignment: none
zk[4].assignment: 1
zk[5].assignment: none
zk.isr: {1,2,4}
zk.leader_epoch: 0

# Stage 2: AR {1,0,2} and the new 3 and 5, in ZooKeeper; the leader epoch is raised to 1.
quietly controller_begins_move broker=5
controller_writes_union_of_replicas broker=5
controller_bumps_epoch broker=5
show zk.assignment
show zk.leader
show zk.leader_epoch
----
controller_writes_union_of_replicas(broker=5)
    zk[1].assignment: 0 → 3
    zk[2].assignment: 2 → 0
    zk[3].assignment: none → 1
    zk[4].assignment: 1 → 4
    zk[5].assignment: none → 2
    cache[5].task: assigning → bumping
    cache[5][1].assignment: 0 → 3
    cache[5][2].assignment: 2 → 0
    cache[5][3].assignment: none → 1
    cache[5][4].assignment: 1 → 4
    cache[5][5].assignment: none → 2
controller_bumps_epoch(broker=5)
    zk.leader_epoch: 0 → 1
    zk.version: 0 → 1
    cache[5].task: bumping → idle
    cache[5].version: 0 → 1
    cache[5].epoch: 0 → 1
    request[1][1].to: {} → {1,2,3,4,5}
    request[1][1].leader: none → 1
    request[1][1].isr: {} → {1,2,4}
    request[1][1].version: 0 → 1
    request[1][1].replicas: {} → {1,2,3,4,5}
zk[1].assignment: 3
zk[2].assignment: 0
zk[3].assignment: 1
zk[4].assignment: 4
zk[5].assignment: 2
zk.leader: 1
zk.leader_epoch: 1

# Stage 3: the new replicas catch up, and the leader takes them into the ISR; the epoch stays 1.
quietly older_epoch_is_refused broker=1 epoch=0 controller=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly broker_becomes_follower broker=3 epoch=1 controller=1
quietly broker_becomes_follower broker=5 epoch=1 controller=1
refused controller_sees_targets_in_sync broker=5
quietly follower_catches_up leader=1 follower=3
quietly leader_expands_isr leader=1 replica=3
quietly follower_catches_up leader=1 follower=5
leader_expands_isr leader=1 replica=5
show zk.leader
show zk.leader_epoch
----
refused controller_sees_targets_in_sync(broker=5)
    every target is in the registered ISR — false (cache[5][3].target 1, zk.isr {1,2,4})
leader_expands_isr(leader=1, replica=5)
    zk.isr: {1,2,3,4} → {1,2,3,4,5}
    zk.version: 2 → 3
    replica[1].isr: {1,2,3,4} → {1,2,3,4,5}
    replica[1].zk_version: 2 → 3
zk.leader: 1
zk.leader_epoch: 1

# Stage 4: every target is in the ISR. The first of them, alive and in the ISR, leads: broker 2.
quietly controller_sees_targets_in_sync broker=5
quietly controller_sets_target_in_memory broker=5
refused controller_moves_leader_to_target broker=5 leader=3
controller_moves_leader_to_target broker=5 leader=2
show zk.isr
show zk.leader_epoch
----
refused controller_moves_leader_to_target(broker=5, leader=3)
    the first live target of the ISR is chosen — false (cache[5].isr {1,2,3,4,5}, cache[5].live {1,2,3,4,5}, cache[5][2].target 0, cache[5][3].target 1)
controller_moves_leader_to_target(broker=5, leader=2)
    zk.leader: 1 → 2
    zk.leader_epoch: 1 → 2
    zk.version: 3 → 4
    cache[5].task: leading → leaving
    cache[5].leader: 1 → 2
    cache[5].version: 3 → 4
    cache[5].epoch: 1 → 2
    request[2][1].to: {} → {2,3,5}
    request[2][1].leader: none → 2
    request[2][1].isr: {} → {1,2,3,4,5}
    request[2][1].version: 0 → 4
    request[2][1].replicas: {} → {2,3,5}
    metadata[1].leader: 1 → 2
    metadata[2].leader: 1 → 2
    metadata[3].leader: 1 → 2
    metadata[4].leader: 1 → 2
    metadata[5].leader: 1 → 2
zk.isr: {1,2,3,4,5}
zk.leader_epoch: 2

# Stage 5: 1 and 0 (here 4) leave the ISR one after the other, and each raises the epoch.
controller_takes_old_replica_offline broker=5 replica=1
controller_takes_old_replica_offline broker=5 replica=4
show zk.leader
show zk.isr
show zk.leader_epoch
----
controller_takes_old_replica_offline(broker=5, replica=1)
    zk.leader_epoch: 2 → 3
    zk.isr: {1,2,3,4,5} → {2,3,4,5}
    zk.version: 4 → 5
    cache[5].isr: {1,2,3,4,5} → {2,3,4,5}
    cache[5].version: 4 → 5
    cache[5].epoch: 2 → 3
    cache[5].leaving: {1,4} → {4}
    cache[5].unsent: false → true
controller_takes_old_replica_offline(broker=5, replica=4)
    zk.leader_epoch: 3 → 4
    zk.isr: {2,3,4,5} → {2,3,5}
    zk.version: 5 → 6
    cache[5].isr: {2,3,4,5} → {2,3,5}
    cache[5].version: 5 → 6
    cache[5].epoch: 3 → 4
    cache[5].leaving: {4} → {}
    cache[5].unsent: true → false
    request[4][1].to: {} → {2,3,5}
    request[4][1].leader: none → 2
    request[4][1].isr: {} → {2,3,5}
    request[4][1].version: 0 → 6
    request[4][1].replicas: {} → {2,3,5}
    stop[1][1].what: none → stop
    stop[1][4].what: none → stop
    stop[1][1].epoch: 0 → 4
    stop[1][4].epoch: 0 → 4
zk.leader: 2
zk.isr: {2,3,5}
zk.leader_epoch: 4

# Stage 6: they are deleted, and AR is {2,3,5}. The epoch stays 4.
quietly controller_deletes_old_replicas broker=5
controller_writes_target_replicas broker=5
controller_removes_request_entry broker=5
quietly controller_sends_final_update_metadata broker=5
show zk.assignment
show zk.isr
show zk.leader_epoch
check a_move_is_done
check one_replica_set_has_all_commits
check isr_holds_committed
----
controller_writes_target_replicas(broker=5)
    zk[1].assignment: 3 → none
    zk[4].assignment: 4 → none
    cache[5].task: settling → closing
controller_removes_request_entry(broker=5)
    zk[2].requested: 0 → none
    zk[3].requested: 1 → none
    zk[5].requested: 2 → none
    cache[5].task: closing → telling
    cache[5][2].target: 0 → none
    cache[5][3].target: 1 → none
    cache[5][5].target: 2 → none
zk[1].assignment: none
zk[2].assignment: 0
zk[3].assignment: 1
zk[4].assignment: none
zk[5].assignment: 2
zk.isr: {2,3,5}
zk.leader_epoch: 4
a_move_is_done: so it is — a move is done: the target is the assignment, it was not before, and no request is there
one_replica_set_has_all_commits: holds
isr_holds_committed: holds
