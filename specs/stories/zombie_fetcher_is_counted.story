# A follower that does not know the new epoch keeps fetching, and is counted.
# Shows: up to 2.0 a fetch carried no leader epoch. The offset of broker 3 counts as a word for the
# record that is there now, and what it holds there is another. (KAFKA-6880, KIP-320)
system replication version 2.0 brokers 3

# Broker 2 is the controller all the time. Broker 1 leads, and broker 3 has its first record, id 0.
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_partition broker=2
quietly controller_elects_leader broker=2 leader=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly broker_becomes_follower broker=2 epoch=1 controller=1
quietly broker_becomes_follower broker=3 epoch=1 controller=1
quietly leader_appends broker=1
quietly follower_sends_fetch broker=3 leader=1
quietly leader_answers_fetch leader=1 follower=3
quietly follower_appends follower=3 leader=1

# Broker 2 leads in epoch 2, without that record; broker 1 follows it, and cuts the record off.
# Broker 3 hears nothing of it.
quietly controller_elects_leader broker=2 leader=2
quietly broker_becomes_leader broker=2 epoch=2 controller=1
quietly broker_becomes_follower broker=1 epoch=2 controller=1
quietly follower_sends_epoch_request broker=1 leader=2
quietly leader_answers_epoch leader=2 follower=1
quietly follower_truncates follower=1 leader=2

# Broker 1 leads again, in epoch 3, and writes another record at the same offset, id 1.
quietly controller_elects_leader broker=2 leader=1
quietly broker_becomes_leader broker=1 epoch=3 controller=1
quietly broker_becomes_follower broker=2 epoch=3 controller=1
quietly leader_appends broker=1
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
quietly follower_appends follower=2 leader=1
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
show log
----
log[1]: [id 1 epoch 3]
log[2]: [id 1 epoch 3]
log[3]: [id 0 epoch 1]

# Broker 3, in epoch 1, asks the leader of epoch 3 for what comes next.
follower_sends_fetch broker=3 leader=1
leader_answers_fetch leader=1 follower=3
leader_advances_hw broker=1
check isr_holds_committed
----
follower_sends_fetch(broker=3, leader=1)
    fetch[3][1].state: idle → asks_records
    fetch[3][1].epoch: none → 1
    fetch[3][1].offset: 0 → 1
leader_answers_fetch(leader=1, follower=3)
    known_end[1][3]: none → 1
    fetch[3][1].state: asks_records → records_are_answered
leader_advances_hw(broker=1)
    replica[1].hw: 0 → 1
    committed.end: 0 → 1
    committed[0].at.id: 0 → 1
    committed[0].at.epoch: 0 → 3
isr_holds_committed: broken — every member of the registered ISR holds every committed record
    (committed[0].at.epoch 3, committed[0].at.id 1, log[3][0].epoch 1, log[3][0].id 0, zk.isr {1,2,3})

# And if broker 1 dies and broker 3 is elected, the committed record is gone.
quietly session_expires broker=1
quietly controller_reads_partition broker=2
quietly controller_elects_leader broker=2 leader=3
check no_message_loss
----
no_message_loss: broken — every committed record is in the log of the registered leader, at its offset, and no two records are ever committed at one offset
    (committed[0].at.epoch 3, committed[0].at.id 1, log[3][0].epoch 1, log[3][0].id 0, zk.leader 3)
