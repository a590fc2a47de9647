# The high watermark of a follower is one round behind that of its leader.
# Shows: a leader learns by the next request that a follower has a record, and its answer carries
# the high watermark of before; every design that cut logs at the high watermark fell over this.
system replication version 2.3 brokers 2

quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_partition broker=1
quietly controller_elects_leader broker=1 leader=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly broker_becomes_follower broker=2 epoch=1 controller=1
quietly leader_appends broker=1

# Round one: the record goes to the follower. The leader knows that it was asked for offset 0.
follower_sends_fetch broker=2 leader=1
leader_answers_fetch leader=1 follower=2
refused leader_advances_hw broker=1
quietly follower_appends follower=2 leader=1
----
follower_sends_fetch(broker=2, leader=1)
    fetch[2][1].state: idle → asks_records
    fetch[2][1].epoch: none → 1
leader_answers_fetch(leader=1, follower=2)
    known_end[1][2]: none → 0
    fetch[2][1].state: asks_records → records_are_answered
    fetch[2][1].has_record: false → true
    fetch[2][1].record_epoch: 0 → 1
refused leader_advances_hw(broker=1)
    every ISR member is beyond the HW — false (log[1].end 1, replica[1].hw 0)

# Round two: by asking for offset 1 the follower says that it has all below. The answer was made
# before the leader drew its conclusion from that.
quietly follower_sends_fetch broker=2 leader=1
leader_answers_fetch leader=1 follower=2
leader_advances_hw broker=1
quietly follower_appends follower=2 leader=1
show replica[2].hw
----
leader_answers_fetch(leader=1, follower=2)
    known_end[1][2]: 0 → 1
    fetch[2][1].state: asks_records → records_are_answered
leader_advances_hw(broker=1)
    replica[1].hw: 0 → 1
replica[2].hw: 0

# Round three: now it comes along.
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
follower_appends follower=2 leader=1
check two_replicas_have_a_high_watermark
check log_matching
----
follower_appends(follower=2, leader=1)
    replica[2].hw: 0 → 1
    fetch[2][1].state: records_are_answered → idle
    fetch[2][1].epoch: 1 → none
    fetch[2][1].offset: 1 → 0
    fetch[2][1].hw: 1 → 0
two_replicas_have_a_high_watermark: so it is — two replicas have a high watermark above zero
log_matching: holds
