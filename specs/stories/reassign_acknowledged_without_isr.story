# Towards the end of a reassignment a leader acknowledges a record that an ISR member lacks: lost.
# Shows: the controller notifies the new leader of the target replicas alone, with the old ISR. Its high
# watermark waits for replicas (`Partition.maybeIncrementLeaderHW`), so acks=all is answered without the
# old replica, and `min.insync.replicas` counts that one. A clean election may still go to it.
system reassignment version 2.3 without high_watermark_waits_for_isr brokers 2

# The partition moves from broker 1 to broker 2, the controller. Broker 2 has caught up, and is in the ISR.
quietly topic_is_created first=1 second=none third=none
quietly admin_requests_reassignment first=2 second=none third=none
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly controller_begins_move broker=2
quietly controller_writes_union_of_replicas broker=2
quietly controller_bumps_epoch broker=2
quietly older_epoch_is_refused broker=1 epoch=0 controller=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly broker_becomes_follower broker=2 epoch=1 controller=1
quietly leader_expands_isr leader=1 replica=2
quietly controller_sees_targets_in_sync broker=2
quietly controller_sets_target_in_memory broker=2
controller_moves_leader_to_target broker=2 leader=2

# Before it takes broker 1 out of the ISR, its session expires. The next controller finds broker 1 in the
# assignment and in the ISR, and elects it.
quietly session_expires broker=2
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly controller_removes_dead_replica broker=1 dead=2
controller_elects_leader broker=1 leader=1
check leader_in_isr

# Broker 2 takes what it was sent before, and acknowledges a record that nobody else has.
broker_becomes_leader broker=2 epoch=2 controller=1
leader_appends leader=2
check no_message_loss
check isr_holds_committed
----
controller_moves_leader_to_target(broker=2, leader=2)
    zk.leader: 1 → 2
    zk.leader_epoch: 1 → 2
    zk.version: 2 → 3
    cache[2].task: leading → leaving
    cache[2].leader: 1 → 2
    cache[2].version: 2 → 3
    cache[2].epoch: 1 → 2
    request[2][1].to: {} → {2}
    request[2][1].leader: none → 2
    request[2][1].isr: {} → {1,2}
    request[2][1].version: 0 → 3
    request[2][1].replicas: {} → {2}
    metadata[1].leader: 1 → 2
    metadata[2].leader: 1 → 2
controller_elects_leader(broker=1, leader=1)
    zk.leader: none → 1
    zk.leader_epoch: 3 → 4
    zk.version: 4 → 5
    cache[1].task: electing → beginning
    cache[1].leader: none → 1
    cache[1].version: 4 → 5
    cache[1].epoch: 3 → 4
    cache[1].resumes: true → false
    request[4][2].to: {} → {1}
    request[4][2].leader: none → 1
    request[4][2].isr: {} → {1}
    request[4][2].version: 0 → 5
    request[4][2].replicas: {} → {1,2}
    metadata[1].leader: none → 1
leader_in_isr: holds
broker_becomes_leader(broker=2, epoch=2, controller=1)
    request[2][1].to: {2} → {}
    request[2][1].leader: 2 → none
    request[2][1].isr: {1,2} → {}
    request[2][1].version: 3 → 0
    request[2][1].replicas: {2} → {}
    replica[2].role: follower → leader
    replica[2].leader: 1 → 2
    replica[2].epoch: 1 → 2
    replica[2].isr: {} → {1,2}
    replica[2].zk_version: 0 → 3
    replica[2].replicas: {} → {2}
leader_appends(leader=2)
    log[2]: {} → {0}
    next_record: 0 → 1
    committed: {} → {0}
no_message_loss: broken — the registered leader has every committed record, but for the limits
    (committed {0}, crossed false, log[1] {}, overtaken false, read_late false, slipped false, zk.leader 1)
isr_holds_committed: broken — every member of the registered ISR that is assigned has every committed record, but for the limits
    (committed {0}, crossed false, log[1] {}, overtaken false, read_late false, slipped false, zk.isr {1})
