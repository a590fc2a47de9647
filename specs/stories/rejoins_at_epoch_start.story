# A follower must reach the start of the leader's epoch before it rejoins the ISR.
# Shows: what was committed lies below the start of the new leader's epoch, so that who has reached
# that has it all, however far the new leader's high watermark lags behind. (KAFKA-7128, 2.0)
system replication version 2.3 brokers 3

# Broker 1 leads, and broker 3 is slow: it is dropped from the ISR. A record is committed by 1 and 2.
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_partition broker=1
quietly controller_elects_leader broker=1 leader=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly broker_becomes_follower broker=2 epoch=1 controller=1
quietly leader_appends broker=1
quietly leader_shrinks_isr leader=1 replica=3
quietly leader_learns_isr_is_written leader=1
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
quietly follower_appends follower=2 leader=1
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
leader_advances_hw broker=1
check isr_holds_committed
----
leader_advances_hw(broker=1)
    replica[1].hw: 0 → 1
    committed.end: 0 → 1
    committed[0].at.epoch: 0 → 1
isr_holds_committed: holds

# Broker 2 becomes leader. It has the record, and does not know yet that it is committed.
quietly controller_reads_partition broker=1
quietly controller_elects_leader broker=1 leader=2
quietly broker_becomes_leader broker=2 epoch=2 controller=1
quietly broker_becomes_follower broker=3 epoch=2 controller=1
quietly follower_sends_fetch broker=3 leader=2
leader_answers_fetch leader=2 follower=3
show replica[2].hw
show replica[2].epoch_start
----
leader_answers_fetch(leader=2, follower=3)
    known_end[2][3]: none → 0
    fetch[3][2].state: asks_records → records_are_answered
    fetch[3][2].has_record: false → true
    fetch[3][2].record_epoch: 0 → 1
replica[2].hw: 0
replica[2].epoch_start: 1

# Broker 3 has asked for offset 0: that is where the high watermark of broker 2 is, and not enough.
refused leader_expands_isr leader=2 replica=3
----
refused leader_expands_isr(leader=2, replica=3)
    it has reached the leader's epoch start — false (known_end[2][3] 0, log[2].end 1, replica[2].epoch_start 1)

# It takes the record, and says so by asking for what comes next.
quietly follower_appends follower=3 leader=2
quietly follower_sends_fetch broker=3 leader=2
quietly leader_answers_fetch leader=2 follower=3
leader_expands_isr leader=2 replica=3
check isr_holds_committed
check no_message_loss
----
leader_expands_isr(leader=2, replica=3)
    zk.isr: {1,2} → {1,2,3}
    zk.version: 3 → 4
    isr_write[2].state: none → applied
    isr_write[2].isr: {} → {1,2,3}
    isr_write[2].state_epoch: 0 → 1
    isr_write[2].version: 0 → 4
isr_holds_committed: holds
no_message_loss: holds
