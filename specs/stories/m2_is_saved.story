# The same restart under KIP-101: the follower asks before it truncates, and m2 is saved.
# Shows: a follower that asks its leader where the last epoch of its log ends cuts nothing away
# that the leader has, whatever its own high watermark is. (KIP-101, 0.11; article 004)
system replication version 0.11 brokers 2

# Broker 1 is B, leader and controller; broker 2 is A, its follower. m1 has id 0, m2 has id 1.
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
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
quietly follower_appends follower=2 leader=1
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
leader_advances_hw broker=1
----
leader_advances_hw(broker=1)
    replica[1].hw: 0 → 2
    committed.end: 0 → 2
    committed[1].at.id: 0 → 1
    committed[0].at.epoch: 0 → 1
    committed[1].at.epoch: 0 → 1

# A restarts. It follows, and knows that it does not know where to cut; so it may not fetch yet.
quietly broker_crashes broker=2
quietly session_expires broker=2
quietly broker_starts broker=2
quietly controller_issues_leader_and_isr broker=1 replica=2
broker_becomes_follower broker=2 epoch=1 controller=1
refused follower_sends_fetch broker=2 leader=1
----
broker_becomes_follower(broker=2, epoch=1, controller=1)
    request[1][1][2].in_flight: true → false
    request[1][1][2].isr: {1,2} → {}
    request[1][1][2].version: 1 → 0
    replica[2].role: none → follower
    replica[2].leader: none → 1
    replica[2].epoch: none → 1
    replica[2].zk_version: 0 → 1
    replica[2].controller_epoch: 0 → 1
    replica[2].truncating: false → true
refused follower_sends_fetch(broker=2, leader=1)
    it knows that its log fits the leader's — false (replica[2].truncating true)

# Epoch 1, its last, ends for B where it ends for A: nothing is cut.
follower_sends_epoch_request broker=2 leader=1
leader_answers_epoch leader=1 follower=2
follower_truncates follower=2 leader=1
show log
----
follower_sends_epoch_request(broker=2, leader=1)
    fetch[2][1].state: idle → asks_epoch
    fetch[2][1].epoch: none → 1
    fetch[2][1].last_epoch: none → 1
leader_answers_epoch(leader=1, follower=2)
    fetch[2][1].state: asks_epoch → epoch_is_answered
    fetch[2][1].last_epoch: 1 → none
    fetch[2][1].answer_end: none → 2
follower_truncates(follower=2, leader=1)
    replica[2].truncating: true → false
    fetch[2][1].state: epoch_is_answered → idle
    fetch[2][1].epoch: 1 → none
    fetch[2][1].answer_end: 2 → none
log[1]: [id 0 epoch 1, id 1 epoch 1]
log[2]: [id 0 epoch 1, id 1 epoch 1]

quietly broker_crashes broker=1
quietly session_expires broker=1
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_partition broker=2
controller_elects_leader broker=2 leader=2
check no_message_loss
----
controller_elects_leader(broker=2, leader=2)
    zk.leader: 1 → 2
    zk.leader_epoch: 1 → 2
    zk.isr: {1,2} → {2}
    zk.state_epoch: 1 → 2
    zk.version: 1 → 2
    cache[2].leader: 1 → 2
    cache[2].isr: {1,2} → {2}
    cache[2].version: 1 → 2
    elected[2]: none → 2
    request[2][2][2].in_flight: false → true
    request[2][2][2].isr: {} → {2}
    request[2][2][2].version: 0 → 2
no_message_loss: holds
