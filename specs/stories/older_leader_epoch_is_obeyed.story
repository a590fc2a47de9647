# A leader in a newer epoch obeys an older request, and truncates committed records.
# Shows: up to 0.8.1 a LeaderAndIsr was not compared with the leader epoch that the broker had, so
# that one which was late turned a leader back into a follower. (KAFKA-1188)
system replication version 2.3 without leader_epoch_checked brokers 2

# Broker 1 leads in epoch 1. Broker 2 is notified, and notified once more: the second request is late.
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_partition broker=1
quietly controller_elects_leader broker=1 leader=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly broker_becomes_follower broker=2 epoch=1 controller=1
quietly controller_issues_leader_and_isr broker=1 replica=2

# Broker 2 is elected, and before broker 1 hears of it the two agree on a record, which is all but
# committed.
quietly controller_elects_leader broker=1 leader=2
quietly follower_sends_fetch broker=2 leader=1
quietly leader_appends broker=1
quietly leader_answers_fetch leader=1 follower=2
quietly follower_appends follower=2 leader=1
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
broker_becomes_leader broker=2 epoch=2 controller=1
show replica[2].epoch
----
broker_becomes_leader(broker=2, epoch=2, controller=1)
    request[2][1][2].in_flight: true → false
    request[2][1][2].isr: {1,2} → {}
    request[2][1][2].version: 2 → 0
    replica[2].role: follower → leader
    replica[2].leader: 1 → 2
    replica[2].epoch: 1 → 2
    replica[2].isr: {} → {1,2}
    replica[2].zk_version: 1 → 2
    replica[2].epoch_start: 0 → 1
    replica[2].latest_epoch: 1 → 2
replica[2].epoch: 2

# Now comes the late request of epoch 1. Broker 1, which still leads in it, commits the record on
# the word that broker 2 gave; but broker 2 looks where to cut. Its last epoch is 2, of which broker 1
# does not know, and so it cuts to its high watermark.
broker_becomes_follower broker=2 epoch=1 controller=1
leader_advances_hw broker=1
quietly fetch_answer_is_ignored follower=2 leader=1
quietly follower_sends_epoch_request broker=2 leader=1
quietly leader_answers_epoch leader=1 follower=2
follower_truncates follower=2 leader=1
show zk.leader
check no_message_loss
----
broker_becomes_follower(broker=2, epoch=1, controller=1)
    request[1][1][2].in_flight: true → false
    request[1][1][2].isr: {1,2} → {}
    request[1][1][2].version: 1 → 0
    replica[2].role: leader → follower
    replica[2].leader: 2 → 1
    replica[2].epoch: 2 → 1
    replica[2].isr: {1,2} → {}
    replica[2].zk_version: 2 → 1
    replica[2].epoch_start: 1 → 0
    replica[2].truncating: false → true
leader_advances_hw(broker=1)
    replica[1].hw: 0 → 1
    committed.end: 0 → 1
    committed[0].at.epoch: 0 → 1
follower_truncates(follower=2, leader=1)
    replica[2].latest_epoch: 2 → none
    replica[2].truncating: true → false
    log[2]: [id 0 epoch 1] → []
    fetch[2][1].state: epoch_is_answered → idle
    fetch[2][1].epoch: 1 → none
zk.leader: 2
no_message_loss: broken — every committed record is in the log of the registered leader, at its offset, and no two records are ever committed at one offset
    (committed.end 1, committed[0].at.epoch 1, log[2].end 0, log[2][0].epoch 0, zk.leader 2)
