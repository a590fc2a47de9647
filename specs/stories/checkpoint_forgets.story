# The checkpoint is rewritten without a partition that the broker does not host yet.
# Shows: after a start the file was written again before the broker was sent what it hosts; at the
# next start the high watermark is 0. (KAFKA-1647, and KAFKA-851, KAFKA-858)
system replication version 2.3 without checkpoint_complete brokers 2

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
quietly broker_checkpoints_hw broker=1
quietly broker_crashes broker=1
quietly session_expires broker=1
broker_starts broker=1
show replica[1].checkpoint
check checkpoint_survives_start
----
broker_starts(broker=1)
    zk.registered: {2} → {1,2}
    up: {2} → {1,2}
    replica[1].hw: 0 → 1
replica[1].checkpoint: 1
checkpoint_survives_start: holds

# Broker 1 was not notified yet that it has the partition.
broker_checkpoints_without_partition broker=1
check checkpoint_survives_start
quietly broker_crashes broker=1
quietly session_expires broker=1
broker_starts broker=1
show replica[1].hw
----
broker_checkpoints_without_partition(broker=1)
    replica[1].checkpoint: 1 → 0
checkpoint_survives_start: broken — the high watermark that a broker started with stays in its checkpoint until it is notified of the partition
    (replica[1].checkpoint 0, replica[1].hw 1, replica[1].role none, up {1,2})
broker_starts(broker=1)
    zk.registered: {2} → {1,2}
    up: {2} → {1,2}
replica[1].hw: 0
