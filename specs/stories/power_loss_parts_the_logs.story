# Both replicas lose power, the shorter log leads, the other truncates nothing: the logs diverge.
# Shows: a high watermark says nothing of what stands below it in another log. Up to 0.10 it is all
# that a follower cuts its log by. (KIP-101, scenario 2)
system replication version 0.10 without log_survives_crash brokers 2

# Broker 1 leads. Both have m1 and m2, ids 0 and 1, and both are committed.
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
quietly leader_advances_hw broker=1
quietly follower_appends follower=2 leader=1
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
quietly leader_advances_hw broker=1
quietly broker_checkpoints_hw broker=1
show replica[1].checkpoint
show log
----
replica[1].checkpoint: 2
log[1]: [id 0 epoch 1, id 1 epoch 1]
log[2]: [id 0 epoch 1, id 1 epoch 1]

# The power fails at both. Broker 2 had not flushed m2; it is back first, is elected, and takes m3.
quietly broker_crashes_losing_unflushed_records broker=2 end=1
quietly broker_crashes broker=1
quietly session_expires broker=1
quietly session_expires broker=2
quietly broker_starts broker=2
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_partition broker=2
quietly controller_elects_leader broker=2 leader=2
quietly broker_becomes_leader broker=2 epoch=2 controller=2
quietly leader_appends broker=2
quietly leader_advances_hw broker=2
show log
----
log[1]: [id 0 epoch 1, id 1 epoch 1]
log[2]: [id 0 epoch 1, id 2 epoch 2]

# Broker 1 is instructed to follow. Its log ends where its high watermark is: there is nothing to cut, and
# nothing to fetch. At offset 1 one replica has m2, and the other m3.
quietly broker_starts broker=1
quietly controller_issues_leader_and_isr broker=2 replica=1
quietly broker_becomes_follower broker=1 epoch=2 controller=2
follower_sends_fetch broker=1 leader=2
quietly leader_answers_fetch leader=2 follower=1
quietly follower_appends follower=1 leader=2
show log
show replica.hw
check log_matching
----
follower_sends_fetch(broker=1, leader=2)
    fetch[1][2].state: idle → asks_records
    fetch[1][2].epoch: none → 2
    fetch[1][2].offset: 0 → 2
log[1]: [id 0 epoch 1, id 1 epoch 1]
log[2]: [id 0 epoch 1, id 2 epoch 2]
replica[1].hw: 2
replica[2].hw: 2
log_matching: broken — any two logs hold the same records below both high watermarks
    (log[1][1].epoch 1, log[1][1].id 1, log[2][1].epoch 2, log[2][1].id 2, replica[1].hw 2, replica[2].hw 2)
