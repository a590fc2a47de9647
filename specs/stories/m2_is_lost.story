# A follower restarts, truncates to its own high watermark, and becomes leader: m2 is lost.
# Shows: the high watermark comes to a follower one round late, so that up to 0.10, where it cut
# its log there, it cut away what was committed. (KIP-101; article 004)
system replication version 0.10 brokers 2

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
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
quietly leader_advances_hw broker=1
quietly follower_appends follower=2 leader=1
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
quietly follower_appends follower=2 leader=1
quietly broker_checkpoints_hw broker=2
show replica[2].hw
show replica[2].checkpoint
----
replica[2].hw: 1
replica[2].checkpoint: 1

# m1 is committed, and A knows it. Now m2: A has it, and so it is committed as soon as A asks for
# what comes next; but of that A hears with the answer, which does not reach it any more.
quietly leader_appends broker=1
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
follower_appends follower=2 leader=1
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
leader_advances_hw broker=1
show replica[2].hw
check no_message_loss
----
follower_appends(follower=2, leader=1)
    log[2]: [id 0 epoch 1] → [id 0 epoch 1, id 1 epoch 1]
    fetch[2][1].state: records_are_answered → idle
    fetch[2][1].epoch: 1 → none
    fetch[2][1].offset: 1 → 0
    fetch[2][1].has_record: true → false
    fetch[2][1].id: 1 → 0
    fetch[2][1].record_epoch: 1 → 0
    fetch[2][1].hw: 1 → 0
leader_advances_hw(broker=1)
    replica[1].hw: 1 → 2
    committed.end: 1 → 2
    committed[1].at.id: 0 → 1
    committed[1].at.epoch: 0 → 1
replica[2].hw: 1
no_message_loss: holds

# A restarts, so fast that the controller never reads that it was away: it stays in the ISR. What
# it knows of the high watermark is its checkpoint, and there it cuts its log.
quietly broker_crashes broker=2
quietly session_expires broker=2
quietly broker_starts broker=2
quietly controller_issues_leader_and_isr broker=1 replica=2
broker_becomes_follower broker=2 epoch=1 controller=1
show log
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
    log[2]: [id 0 epoch 1, id 1 epoch 1] → [id 0 epoch 1]
log[1]: [id 0 epoch 1, id 1 epoch 1]
log[2]: [id 0 epoch 1]

# Before A can fetch again, B is gone; A is in the ISR, and is elected.
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
no_message_loss: broken — every committed record is in the log of the registered leader, at its offset, and no two records are ever committed at one offset
    (committed.end 2, committed[1].at.epoch 1, committed[1].at.id 1, log[2].end 1, log[2][1].epoch 0, log[2][1].id 0, zk.leader 2)
