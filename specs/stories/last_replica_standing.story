# The last ISR member loses unflushed records, is elected, and the others truncate to it.
# Shows: a limit that no release of ZooKeeper's era has a fix for. A record is committed when every
# ISR member has it in memory; alone in the ISR, one member is all of them. (KIP-966)
system replication version 2.3 without log_survives_crash brokers 2

# Broker 1 leads, and broker 2 has the record; then broker 2 goes, and the ISR is broker 1 alone.
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
quietly session_expires broker=2
quietly controller_reads_partition broker=1
quietly controller_removes_replica broker=1 replica=2
show zk.isr
check no_message_loss
----
zk.isr: {1}
no_message_loss: holds

# The power fails at broker 1, and with it goes the end of its log.
broker_crashes_losing_unflushed_records broker=1 end=0
quietly session_expires broker=1
quietly broker_starts broker=1
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_partition broker=1
quietly controller_elects_leader broker=1 leader=1
quietly broker_becomes_leader broker=1 epoch=3 controller=2
show log
check no_message_loss
----
broker_crashes_losing_unflushed_records(broker=1, end=0)
    up: {1,2} → {2}
    belief[1]: 1 → 0
    cache[1].held: true → false
    cache[1].leader: 1 → none
    cache[1].isr: {1} → {}
    cache[1].version: 2 → 0
    cache[1].live: {1} → {}
    cache[1].reached: {1} → {}
    request[2][1][1].in_flight: true → false
    request[2][1][1].isr: {1} → {}
    request[2][1][1].version: 2 → 0
    replica[1].role: leader → none
    replica[1].leader: 1 → none
    replica[1].epoch: 1 → none
    replica[1].isr: {1,2} → {}
    replica[1].zk_version: 1 → 0
    replica[1].controller_epoch: 1 → 0
    replica[1].latest_epoch: 1 → none
    replica[1].hw: 1 → 0
    known_end[1][2]: 1 → none
    log[1]: [id 0 epoch 1] → []
log[1]: []
log[2]: [id 0 epoch 1]
no_message_loss: broken — every committed record is in the log of the registered leader, at its offset, and no two records are ever committed at one offset
    (committed.end 1, committed[0].at.epoch 1, log[1].end 0, log[1][0].epoch 0, zk.leader 1)

# Broker 2 still has the record. It comes back, asks where its last epoch ends, and cuts it off.
quietly broker_reconnects broker=2
quietly controller_issues_leader_and_isr broker=1 replica=2
quietly broker_becomes_follower broker=2 epoch=3 controller=2
quietly follower_sends_epoch_request broker=2 leader=1
quietly leader_answers_epoch leader=1 follower=2
follower_truncates follower=2 leader=1
show log
----
follower_truncates(follower=2, leader=1)
    replica[2].latest_epoch: 1 → none
    replica[2].truncating: true → false
    log[2]: [id 0 epoch 1] → []
    fetch[2][1].state: epoch_is_answered → idle
    fetch[2][1].epoch: 3 → none
    fetch[2][1].answer_epoch: 1 → none
    fetch[2][1].answer_end: 0 → none
log[1]: []
log[2]: []
