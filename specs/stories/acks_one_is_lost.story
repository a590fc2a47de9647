# Two records are acknowledged, one with acks=1 and one with acks=all: the first is lost.
# Shows: acks=1 says what the leader has, acks=all what every later leader will have.
# (ReplicaManager.appendRecords; DelayedProduce waits for the high watermark)
system replication version 2.3 brokers 3

quietly broker_becomes_controller broker=3
quietly broker_learns_it_won broker=3
quietly controller_reads_partition broker=3
quietly controller_elects_leader broker=3 leader=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly broker_becomes_follower broker=2 epoch=1 controller=1
quietly broker_becomes_follower broker=3 epoch=1 controller=1

# With acks=all the producer waits until the high watermark has passed its record.
leader_appends_acks_all broker=1
refused leader_acknowledges_acks_all broker=1 offset=0
refused consumer_reads broker=1 offset=0
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
quietly follower_appends follower=2 leader=1
quietly follower_sends_fetch broker=3 leader=1
quietly leader_answers_fetch leader=1 follower=3
quietly follower_appends follower=3 leader=1
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
quietly follower_sends_fetch broker=3 leader=1
quietly leader_answers_fetch leader=1 follower=3
quietly leader_advances_hw broker=1
leader_acknowledges_acks_all broker=1 offset=0
consumer_reads broker=1 offset=0
----
leader_appends_acks_all(broker=1)
    log[1]: [] → [id 0 epoch 1]
    next_record: 0 → 1
    acks[0]: none → all
refused leader_acknowledges_acks_all(broker=1, offset=0)
    the high watermark has passed it — false (replica[1].hw 0)
refused consumer_reads(broker=1, offset=0)
    the offset is below the high watermark — false (replica[1].hw 0)
leader_acknowledges_acks_all(broker=1, offset=0)
    acknowledged: {} → {0}
consumer_reads(broker=1, offset=0)
    read[0].done: false → true
    read[0].epoch: 0 → 1

# With acks=1 it is answered at once. Then the session of broker 1 ends, and broker 2 is elected.
quietly leader_appends broker=1
leader_acknowledges broker=1 offset=1
quietly session_expires broker=1
quietly controller_reads_partition broker=3
quietly controller_elects_leader broker=3 leader=2
quietly broker_becomes_leader broker=2 epoch=2 controller=1
show log[1]
show log[2]
check an_acknowledged_record_is_lost
check acknowledged_is_never_lost
check acknowledged_records_have_min_isr_copies
check reads_agree
----
leader_acknowledges(broker=1, offset=1)
    acknowledged: {0} → {0,1}
log[1]: [id 0 epoch 1, id 1 epoch 1]
log[2]: [id 0 epoch 1]
an_acknowledged_record_is_lost: so it is — a record acknowledged with acks=1 is lost: the registered leader leads without it
acknowledged_is_never_lost: holds
acknowledged_records_have_min_isr_copies: holds
reads_agree: holds
