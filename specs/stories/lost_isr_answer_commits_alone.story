# A leader expands the ISR, misses the response, and commits without the new member: lost.
# Shows: up to 2.6 a committed record can be lost though every election is clean. An ISR that may be
# registered binds the leader as much as one that is. (ReplicationUtils.checkLeaderAndIsrZkData
# tells its own write only as long as nobody wrote after it; KIP-497 counts on the larger ISR)
system replication version 2.3 without lost_isr_answer_blocks brokers 2

# Broker 1 leads, and knows where the log of broker 2 ends: at 0, where the high watermark is.
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_partition broker=1
quietly controller_elects_leader broker=1 leader=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly broker_becomes_follower broker=2 epoch=1 controller=1
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2

# A record comes, broker 2 is slow and is dropped; nothing was committed yet.
quietly leader_appends_acks_all broker=1
quietly leader_shrinks_isr leader=1 replica=2
quietly leader_learns_isr_is_written leader=1
show replica[1].isr
show replica[1].hw
----
replica[1].isr: {1}
replica[1].hw: 0

# As broker 2 had reached the high watermark, it is taken back; of that the leader has yet to hear,
# and until it does, it commits nothing.
leader_expands_isr leader=1 replica=2
refused leader_advances_hw broker=1
----
leader_expands_isr(leader=1, replica=2)
    zk.isr: {1} → {1,2}
    zk.version: 2 → 3
    isr_write[1].state: none → applied
    isr_write[1].isr: {} → {1,2}
    isr_write[1].state_epoch: 0 → 1
    isr_write[1].version: 0 → 3
refused leader_advances_hw(broker=1)
    none of its ISR writes waits for an answer — false (isr_write[1].state applied)

# The controller reads that broker 2 is in the ISR, and elects it: a clean election, as when the
# preferred replica is to lead. Broker 1 is not notified in time.
quietly controller_reads_partition broker=1
controller_elects_leader broker=1 leader=2
check leader_in_isr
check no_message_loss
----
controller_elects_leader(broker=1, leader=2)
    zk.leader: 1 → 2
    zk.leader_epoch: 1 → 2
    zk.version: 3 → 4
    cache[1].leader: 1 → 2
    cache[1].version: 3 → 4
    elected[2]: none → 2
    request[2][1][1].in_flight: false → true
    request[2][1][2].in_flight: false → true
    request[2][1][1].isr: {} → {1,2}
    request[2][1][2].isr: {} → {1,2}
    request[2][1][1].version: 0 → 4
    request[2][1][2].version: 0 → 4
leader_in_isr: holds
no_message_loss: holds

# Now the answer is lost. Sent again, the write is refused; read back, the state is another's, and
# that does not tell whether the leader's own write was done before. It takes it that it was not.
isr_answer_is_lost leader=1
refused leader_finds_isr_written leader=1
leader_learns_isr_is_refused leader=1
show replica[1].isr
show zk.isr
----
isr_answer_is_lost(leader=1)
    isr_write[1].state: applied → refused
    isr_write[1].version: 3 → 0
refused leader_finds_isr_written(leader=1)
    the registered state is what it wrote — false (replica[1].epoch 1, zk.leader 2, zk.leader_epoch 2)
leader_learns_isr_is_refused(leader=1)
    isr_write[1].state: refused → none
    isr_write[1].isr: {1,2} → {}
    isr_write[1].state_epoch: 1 → 0
replica[1].isr: {1}
zk.isr: {1,2}

# It believes that it is alone in the ISR: it commits alone, and tells the producer. Of the record
# the new leader has nothing.
leader_advances_hw broker=1
leader_acknowledges_acks_all broker=1 offset=0
check no_message_loss
check acknowledged_is_never_lost
----
leader_advances_hw(broker=1)
    replica[1].hw: 0 → 1
    committed.end: 0 → 1
    committed[0].at.epoch: 0 → 1
leader_acknowledges_acks_all(broker=1, offset=0)
    acknowledged: {} → {0}
no_message_loss: broken — every committed record is in the log of the registered leader, at its offset, and no two records are ever committed at one offset
    (committed.end 1, committed[0].at.epoch 1, log[2].end 0, log[2][0].epoch 0, zk.leader 2)
acknowledged_is_never_lost: broken — a record acknowledged with acks=all is committed, and in the log of the registered leader from then on
    (acknowledged {0}, acks[0] all, log[2].end 0, zk.leader 2)

quietly broker_becomes_leader broker=2 epoch=2 controller=1
quietly broker_becomes_follower broker=1 epoch=2 controller=1
quietly follower_sends_epoch_request broker=1 leader=2
quietly leader_answers_epoch leader=2 follower=1
follower_truncates follower=1 leader=2
show log
----
follower_truncates(follower=1, leader=2)
    replica[1].latest_epoch: 1 → none
    replica[1].truncating: true → false
    replica[1].hw: 1 → 0
    log[1]: [id 0 epoch 1] → []
    fetch[1][2].state: epoch_is_answered → idle
    fetch[1][2].epoch: 2 → none
    fetch[1][2].answer_epoch: 1 → none
    fetch[1][2].answer_end: 0 → none
log[1]: []
log[2]: []
