# The third broker starts: it asks where its last epoch ends, fetches, and joins the ISR.
# Shows: what the third broker does between its LeaderAndIsr and the last UpdateMetadata of the source
# article 001: OffsetForLeaderEpoch, then fetches; with its second fetch it is notified that the leader has
# it all, and the leader writes the larger ISR. The requests are those of `three_brokers_start`. (1.1)
system replication version 1.1 brokers 3

# Broker 1 is controller and leader. All three have the first record, and only 1 and 2 the second.
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_partition broker=1
quietly controller_elects_leader broker=1 leader=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly broker_becomes_follower broker=2 epoch=1 controller=1
quietly broker_becomes_follower broker=3 epoch=1 controller=1
quietly leader_appends broker=1
quietly follower_sends_fetch broker=3 leader=1
quietly leader_answers_fetch leader=1 follower=3
quietly follower_appends follower=3 leader=1
quietly broker_crashes broker=3
quietly session_expires broker=3
quietly leader_appends broker=1
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
quietly follower_appends follower=2 leader=1
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
quietly follower_appends follower=2 leader=1
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
quietly leader_shrinks_isr leader=1 replica=3
quietly leader_learns_isr_is_written leader=1
leader_advances_hw broker=1
show log
----
leader_advances_hw(broker=1)
    replica[1].hw: 0 → 2
    committed.end: 0 → 2
    committed[1].at.id: 0 → 1
    committed[0].at.epoch: 0 → 1
    committed[1].at.epoch: 0 → 1
log[1]: [id 0 epoch 1, id 1 epoch 1]
log[2]: [id 0 epoch 1, id 1 epoch 1]
log[3]: [id 0 epoch 1]

# It starts, and is notified of the leader. What it does not know yet is whether its log fits the leader's.
quietly broker_starts broker=3
quietly controller_issues_leader_and_isr broker=1 replica=3
broker_becomes_follower broker=3 epoch=1 controller=1
refused follower_sends_fetch broker=3 leader=1
----
broker_becomes_follower(broker=3, epoch=1, controller=1)
    request[1][1][3].in_flight: true → false
    request[1][1][3].isr: {1,2} → {}
    request[1][1][3].version: 2 → 0
    replica[3].role: none → follower
    replica[3].leader: none → 1
    replica[3].epoch: none → 1
    replica[3].zk_version: 0 → 2
    replica[3].controller_epoch: 0 → 1
    replica[3].truncating: false → true
refused follower_sends_fetch(broker=3, leader=1)
    it knows that its log fits the leader's — false (replica[3].truncating true)

# OffsetForLeaderEpoch: nothing has to be cut.
follower_sends_epoch_request broker=3 leader=1
leader_answers_epoch leader=1 follower=3
follower_truncates follower=3 leader=1
----
follower_sends_epoch_request(broker=3, leader=1)
    fetch[3][1].state: idle → asks_epoch
    fetch[3][1].epoch: none → 1
    fetch[3][1].last_epoch: none → 1
leader_answers_epoch(leader=1, follower=3)
    fetch[3][1].state: asks_epoch → epoch_is_answered
    fetch[3][1].last_epoch: 1 → none
    fetch[3][1].answer_end: none → 2
follower_truncates(follower=3, leader=1)
    replica[3].truncating: true → false
    fetch[3][1].state: epoch_is_answered → idle
    fetch[3][1].epoch: 1 → none
    fetch[3][1].answer_end: 2 → none

# Two fetches: the first brings the record, the second tells the leader that it has arrived.
follower_sends_fetch broker=3 leader=1
leader_answers_fetch leader=1 follower=3
follower_appends follower=3 leader=1
refused leader_expands_isr leader=1 replica=3
follower_sends_fetch broker=3 leader=1
leader_answers_fetch leader=1 follower=3
leader_expands_isr leader=1 replica=3
leader_learns_isr_is_written leader=1
check no_message_loss
----
follower_sends_fetch(broker=3, leader=1)
    fetch[3][1].state: idle → asks_records
    fetch[3][1].epoch: none → 1
    fetch[3][1].offset: 0 → 1
leader_answers_fetch(leader=1, follower=3)
    known_end[1][3]: 0 → 1
    fetch[3][1].state: asks_records → records_are_answered
    fetch[3][1].has_record: false → true
    fetch[3][1].id: 0 → 1
    fetch[3][1].record_epoch: 0 → 1
    fetch[3][1].hw: 0 → 2
follower_appends(follower=3, leader=1)
    replica[3].hw: 0 → 2
    log[3]: [id 0 epoch 1] → [id 0 epoch 1, id 1 epoch 1]
    fetch[3][1].state: records_are_answered → idle
    fetch[3][1].epoch: 1 → none
    fetch[3][1].offset: 1 → 0
    fetch[3][1].has_record: true → false
    fetch[3][1].id: 1 → 0
    fetch[3][1].record_epoch: 1 → 0
    fetch[3][1].hw: 2 → 0
refused leader_expands_isr(leader=1, replica=3)
    the replica has reached the HW — false (known_end[1][3] 1, log[1].end 2, replica[1].hw 2)
follower_sends_fetch(broker=3, leader=1)
    fetch[3][1].state: idle → asks_records
    fetch[3][1].epoch: none → 1
    fetch[3][1].offset: 0 → 2
leader_answers_fetch(leader=1, follower=3)
    known_end[1][3]: 1 → 2
    fetch[3][1].state: asks_records → records_are_answered
    fetch[3][1].hw: 0 → 2
leader_expands_isr(leader=1, replica=3)
    zk.isr: {1,2} → {1,2,3}
    zk.version: 2 → 3
    isr_write[1].state: none → applied
    isr_write[1].isr: {} → {1,2,3}
    isr_write[1].state_epoch: 0 → 1
    isr_write[1].version: 0 → 3
leader_learns_isr_is_written(leader=1)
    replica[1].isr: {1,2} → {1,2,3}
    replica[1].zk_version: 2 → 3
    isr_write[1].state: applied → none
    isr_write[1].isr: {1,2,3} → {}
    isr_write[1].state_epoch: 1 → 0
    isr_write[1].version: 3 → 0
no_message_loss: holds
