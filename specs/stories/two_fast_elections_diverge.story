# After two fast elections the logs of leader and follower diverge, unnoticed.
# Shows: up to 1.1 the follower cuts where the leader says, whatever epoch the leader's answer is
# about, and so keeps a record of an epoch that the leader never had. (KIP-279)
system replication version 1.1 brokers 2

# Epoch 1: broker 1 leads. Record 0 is on both; record 1 is on broker 1 only.
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_partition broker=1
quietly controller_elects_leader broker=1 leader=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly broker_becomes_follower broker=2 epoch=1 controller=1
quietly leader_appends broker=1
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
quietly follower_appends follower=2 leader=1
quietly leader_appends broker=1
# Epoch 2: broker 2 leads and appends record 2. Broker 1 does not hear of it in time.
quietly controller_elects_leader broker=1 leader=2
quietly broker_becomes_leader broker=2 epoch=2 controller=1
quietly leader_appends broker=2
# Epoch 3: broker 1 leads again and appends record 3.
quietly controller_elects_leader broker=1 leader=1
quietly broker_becomes_leader broker=1 epoch=3 controller=1
quietly leader_appends broker=1
quietly broker_becomes_follower broker=2 epoch=3 controller=1
show log
----
log[1]: [id 0 epoch 1, id 1 epoch 1, id 3 epoch 3]
log[2]: [id 0 epoch 1, id 2 epoch 2]

# Broker 2 asks where epoch 2 ends. Broker 1 never had it; all older ones end at 2 there.
follower_sends_epoch_request broker=2 leader=1
leader_answers_epoch leader=1 follower=2
follower_truncates follower=2 leader=1
refused follower_sends_epoch_request broker=2 leader=1
----
follower_sends_epoch_request(broker=2, leader=1)
    fetch[2][1].state: idle → asks_epoch
    fetch[2][1].epoch: none → 3
    fetch[2][1].last_epoch: none → 2
leader_answers_epoch(leader=1, follower=2)
    fetch[2][1].state: asks_epoch → epoch_is_answered
    fetch[2][1].last_epoch: 2 → none
    fetch[2][1].answer_end: none → 2
follower_truncates(follower=2, leader=1)
    replica[2].truncating: true → false
    fetch[2][1].state: epoch_is_answered → idle
    fetch[2][1].epoch: 3 → none
    fetch[2][1].answer_end: 2 → none
refused follower_sends_epoch_request(broker=2, leader=1)
    it does not know where to cut yet — false (replica[2].truncating false)

# It fetches from there on: record 3 follows record 2 here, and record 1 there.
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
follower_appends follower=2 leader=1
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
leader_advances_hw broker=1
show log
check isr_holds_committed
----
follower_appends(follower=2, leader=1)
    replica[2].latest_epoch: 2 → 3
    log[2]: [id 0 epoch 1, id 2 epoch 2] → [id 0 epoch 1, id 2 epoch 2, id 3 epoch 3]
    fetch[2][1].state: records_are_answered → idle
    fetch[2][1].epoch: 3 → none
    fetch[2][1].offset: 2 → 0
    fetch[2][1].has_record: true → false
    fetch[2][1].id: 3 → 0
    fetch[2][1].record_epoch: 3 → 0
leader_advances_hw(broker=1)
    replica[1].hw: 0 → 3
    committed.end: 0 → 3
    committed[1].at.id: 0 → 1
    committed[2].at.id: 0 → 3
    committed[0].at.epoch: 0 → 1
    committed[1].at.epoch: 0 → 1
    committed[2].at.epoch: 0 → 3
log[1]: [id 0 epoch 1, id 1 epoch 1, id 3 epoch 3]
log[2]: [id 0 epoch 1, id 2 epoch 2, id 3 epoch 3]
isr_holds_committed: broken — every member of the registered ISR holds every committed record
    (committed[1].at.epoch 1, committed[1].at.id 1, log[2][1].epoch 2, log[2][1].id 2, zk.isr {1,2})
