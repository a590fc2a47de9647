# A replica that was moved away joins the ISR again, and is deleted there.
# Shows: a leader that does not know its replicas takes back whoever fetches; with the list in
# LeaderAndIsr it does not. (KAFKA-1097, fixed in 0.8.1; on 2.0, where no epoch fences a fetch)
system reassignment version 2.0 without leader_knows_replicas brokers 2

quietly topic_is_created first=1 second=2 third=none
quietly admin_requests_reassignment first=1 second=none third=none
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly controller_begins_with_targets_in_sync broker=1
quietly controller_sets_target_in_memory broker=1
controller_keeps_leader broker=1
controller_takes_old_replica_offline broker=1 replica=2
quietly controller_deletes_old_replicas broker=1
----
controller_keeps_leader(broker=1)
    zk.leader_epoch: 0 → 1
    zk.version: 0 → 1
    cache[1].task: leading → leaving
    cache[1].version: 0 → 1
    cache[1].epoch: 0 → 1
    request[1][1].to: {} → {1,2}
    request[1][1].leader: none → 1
    request[1][1].isr: {} → {1,2}
    request[1][1].version: 0 → 1
    request[1][1].replicas: {} → {1}
controller_takes_old_replica_offline(broker=1, replica=2)
    zk.leader_epoch: 1 → 2
    zk.isr: {1,2} → {1}
    zk.version: 1 → 2
    cache[1].isr: {1,2} → {1}
    cache[1].version: 1 → 2
    cache[1].epoch: 1 → 2
    cache[1].leaving: {2} → {}
    request[2][1].to: {} → {1}
    request[2][1].leader: none → 1
    request[2][1].isr: {} → {1}
    request[2][1].version: 0 → 2
    request[2][1].replicas: {} → {1}
    stop[1][2].what: none → stop
    stop[1][2].epoch: 0 → 2

# Broker 2 is notified as well, does not find that it is not listed, and goes on fetching.
quietly older_epoch_is_refused broker=1 epoch=0 controller=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly broker_becomes_leader broker=1 epoch=2 controller=1
quietly older_epoch_is_refused broker=2 epoch=0 controller=1
broker_becomes_follower broker=2 epoch=1 controller=1
quietly leader_appends leader=1
quietly follower_catches_up leader=1 follower=2
leader_expands_isr leader=1 replica=2
----
broker_becomes_follower(broker=2, epoch=1, controller=1)
    request[1][1].to: {2} → {}
    request[1][1].leader: 1 → none
    request[1][1].isr: {1,2} → {}
    request[1][1].version: 1 → 0
    request[1][1].replicas: {1} → {}
    replica[2].epoch: 0 → 1
leader_expands_isr(leader=1, replica=2)
    zk.isr: {1} → {1,2}
    zk.version: 2 → 3
    replica[1].isr: {1} → {1,2}
    replica[1].zk_version: 2 → 3

# Then the StopReplica of step 9 arrives. Its log is gone, and it is in the ISR.
broker_deletes_replica broker=2 controller=1
show zk.isr
check isr_holds_committed
----
broker_deletes_replica(broker=2, controller=1)
    stop[1][2].what: delete → none
    stop[1][2].epoch: 2 → 0
    replica[2].role: follower → none
    replica[2].leader: 1 → none
    replica[2].epoch: 1 → none
    log[2]: {0} → {}
zk.isr: {1,2}
isr_holds_committed: broken — every member of the registered ISR that is assigned has every committed record, but for the limits
    (committed {0}, crossed false, log[2] {}, overtaken false, read_late false, slipped false, zk.isr {1,2})
