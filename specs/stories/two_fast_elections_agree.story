# After two fast elections the follower finds where its log diverges from the leader's.
# Shows: from 2.0 the answer names the epoch that it is about, so that the follower knows that the
# leader never had its own last epoch, and cuts back to the one that both have. (KIP-279)
system replication version 2.0 brokers 2

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
show log
----
follower_sends_epoch_request(broker=2, leader=1)
    fetch[2][1].state: idle → asks_epoch
    fetch[2][1].epoch: none → 3
    fetch[2][1].last_epoch: none → 2
leader_answers_epoch(leader=1, follower=2)
    fetch[2][1].state: asks_epoch → epoch_is_answered
    fetch[2][1].last_epoch: 2 → none
    fetch[2][1].answer_epoch: none → 1
    fetch[2][1].answer_end: none → 2
follower_truncates(follower=2, leader=1)
    replica[2].latest_epoch: 2 → 1
    replica[2].truncating: true → false
    log[2]: [id 0 epoch 1, id 2 epoch 2] → [id 0 epoch 1]
    fetch[2][1].state: epoch_is_answered → idle
    fetch[2][1].epoch: 3 → none
    fetch[2][1].answer_epoch: 1 → none
    fetch[2][1].answer_end: 2 → none
log[1]: [id 0 epoch 1, id 1 epoch 1, id 3 epoch 3]
log[2]: [id 0 epoch 1]

# What both have is left. Broker 2 fetches the rest.
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
quietly follower_appends follower=2 leader=1
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
quietly follower_appends follower=2 leader=1
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
leader_advances_hw broker=1
show log
check isr_holds_committed
check log_matching
----
leader_advances_hw(broker=1)
    replica[1].hw: 0 → 3
    committed.end: 0 → 3
    committed[1].at.id: 0 → 1
    committed[2].at.id: 0 → 3
    committed[0].at.epoch: 0 → 1
    committed[1].at.epoch: 0 → 1
    committed[2].at.epoch: 0 → 3
log[1]: [id 0 epoch 1, id 1 epoch 1, id 3 epoch 3]
log[2]: [id 0 epoch 1, id 1 epoch 1, id 3 epoch 3]
isr_holds_committed: holds
log_matching: holds
