# A leader that is elected again uses a log end of its earlier epoch: a committed record is lost.
# Shows: `Partition.makeLeader` forgets the followers' log ends only if another led before, as far as
# the broker knows. It was not notified of the leader in between, by which the follower cut its log.
system replication version 2.3 without follower_ends_reset_on_election brokers 3

# Broker 1 leads. Broker 2 has its record, and asks for the next; broker 3 is behind.
quietly broker_becomes_controller broker=3
quietly broker_learns_it_won broker=3
quietly controller_reads_partition broker=3
quietly controller_elects_leader broker=3 leader=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly broker_becomes_follower broker=2 epoch=1 controller=1
quietly leader_appends_acks_all broker=1
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
quietly follower_appends follower=2 leader=1
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
show known_end[1][2]
refused leader_advances_hw broker=1
----
known_end[1][2]: 1
refused leader_advances_hw(broker=1)
    it knows the end of every ISR member — false (known_end[1][3] none, log[1].end 1, replica[1].isr {1,2,3})

# The controller, broker 3, makes itself the leader: it is in the ISR. Broker 2 follows, and cuts what
# broker 3 does not have. Before broker 1 is notified, broker 3 dies.
quietly controller_elects_leader broker=3 leader=3
quietly broker_becomes_leader broker=3 epoch=2 controller=1
quietly broker_becomes_follower broker=2 epoch=2 controller=1
quietly follower_sends_epoch_request broker=2 leader=3
quietly leader_answers_epoch leader=3 follower=2
follower_truncates follower=2 leader=3
quietly leader_and_isr_is_lost broker=1 epoch=2 controller=1
quietly broker_crashes broker=3
quietly session_expires broker=3
show log[2]
----
follower_truncates(follower=2, leader=3)
    replica[2].latest_epoch: 1 → none
    replica[2].truncating: true → false
    log[2]: [id 0 epoch 1] → []
    fetch[2][3].state: epoch_is_answered → idle
    fetch[2][3].epoch: 2 → none
    fetch[2][3].answer_epoch: 1 → none
    fetch[2][3].answer_end: 0 → none
log[2]: []

# Broker 1 is elected again. It still takes itself for the leader, and so keeps what it knew: that
# broker 2 has the record. It commits alone.
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_partition broker=2
quietly controller_elects_leader broker=2 leader=1
quietly broker_becomes_leader broker=1 epoch=3 controller=2
show known_end[1][2]
leader_advances_hw broker=1
check no_message_loss
----
known_end[1][2]: 1
leader_advances_hw(broker=1)
    replica[1].hw: 0 → 1
    committed.end: 0 → 1
    committed[0].at.epoch: 0 → 1
no_message_loss: holds

# Broker 1 dies, and broker 2 leads without what was committed.
quietly broker_crashes broker=1
quietly session_expires broker=1
quietly controller_reads_partition broker=2
quietly controller_elects_leader broker=2 leader=2
check no_message_loss
----
no_message_loss: broken — every committed record is in the log of the registered leader, at its offset, and no two records are ever committed at one offset
    (committed.end 1, committed[0].at.epoch 1, log[2].end 0, log[2][0].epoch 0, zk.leader 2)
