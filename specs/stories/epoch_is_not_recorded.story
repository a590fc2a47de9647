# A leader that was just elected does not know the epoch that a follower asks about.
# Shows: up to 2.0.0 a leader entered its epoch into the cache with its first append only. Asked for
# an epoch beyond what it knows it says so, and the follower cuts to its high watermark, which is one
# round behind: away goes what is committed. (KAFKA-7415)
system replication version 2.1 with epoch_recorded=on_append brokers 2

# A record is committed in epoch 1, and broker 2, which has it, has not heard that it is.
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
quietly fetch_is_lost follower=2 leader=1

# Two elections in a row: broker 2 leads in epoch 2 and writes, broker 1 in epoch 3 does not yet.
quietly controller_elects_leader broker=1 leader=2
quietly controller_elects_leader broker=1 leader=1
quietly broker_becomes_leader broker=2 epoch=2 controller=1
quietly leader_appends broker=2
quietly broker_becomes_leader broker=1 epoch=3 controller=1
quietly broker_becomes_follower broker=2 epoch=3 controller=1
show log
show replica[1].latest_epoch
check isr_holds_committed
----
log[1]: [id 0 epoch 1]
log[2]: [id 0 epoch 1, id 1 epoch 2]
replica[1].latest_epoch: 1
isr_holds_committed: holds

# Broker 2 asks where epoch 2 ends, its last. Broker 1 leads in epoch 3, and knows of epoch 1.
quietly follower_sends_epoch_request broker=2 leader=1
leader_answers_epoch leader=1 follower=2
follower_truncates follower=2 leader=1
check isr_holds_committed
----
leader_answers_epoch(leader=1, follower=2)
    fetch[2][1].state: asks_epoch → epoch_is_answered
    fetch[2][1].last_epoch: 2 → none
follower_truncates(follower=2, leader=1)
    replica[2].latest_epoch: 2 → none
    replica[2].truncating: true → false
    log[2]: [id 0 epoch 1, id 1 epoch 2] → []
    fetch[2][1].state: epoch_is_answered → idle
    fetch[2][1].epoch: 3 → none
isr_holds_committed: broken — every member of the registered ISR holds every committed record
    (committed.end 1, committed[0].at.epoch 1, log[2].end 0, log[2][0].epoch 0, zk.isr {1,2})
