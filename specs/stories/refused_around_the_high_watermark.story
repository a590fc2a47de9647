# What is refused at each moment while the high watermark follows the ISR.
# Shows: who has not reached it, or the leader's epoch, is not taken back; only the leader's records
# of its own epoch are acknowledged.
system replication version 2.3 brokers 3

quietly broker_becomes_controller broker=3
quietly broker_learns_it_won broker=3
quietly controller_reads_partition broker=3
quietly controller_elects_leader broker=3 leader=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly broker_becomes_follower broker=2 epoch=1 controller=1
quietly broker_becomes_follower broker=3 epoch=1 controller=1
quietly leader_appends_acks_all broker=1
quietly follower_sends_fetch broker=3 leader=1
quietly leader_answers_fetch leader=1 follower=3
quietly follower_appends follower=3 leader=1
quietly follower_sends_fetch broker=3 leader=1
quietly leader_answers_fetch leader=1 follower=3
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
quietly follower_appends follower=2 leader=1
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2

# Another record; nobody has it yet, and the ISR shrinks to the leader.
quietly leader_appends broker=1
quietly leader_shrinks_isr leader=1 replica=3
refused leader_advances_hw broker=1
quietly leader_learns_isr_is_written leader=1
refused leader_expand_is_refused leader=1 replica=3
quietly leader_shrinks_isr leader=1 replica=2
refused leader_expand_is_refused leader=1 replica=3
quietly leader_learns_isr_is_written leader=1
quietly session_expires broker=1
refused leader_expands_isr leader=1 replica=2
quietly broker_reconnects broker=1
quietly leader_expands_isr leader=1 replica=2
quietly leader_learns_isr_is_written leader=1
quietly leader_advances_hw broker=1
----
refused leader_advances_hw(broker=1)
    none of its ISR writes waits for an answer — false (isr_write[1].state applied)
refused leader_expand_is_refused(leader=1, replica=3)
    the cached version is out of date — false (replica[1].zk_version 2, zk.version 2)
refused leader_expand_is_refused(leader=1, replica=3)
    none of its ISR writes waits for an answer — false (isr_write[1].state applied)
refused leader_expands_isr(leader=1, replica=2)
    it has a ZooKeeper session — false (zk.registered {2,3})

# Broker 2 is taken back, and has all soon.
quietly follower_appends follower=2 leader=1
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
quietly follower_appends follower=2 leader=1
refused leader_acknowledges_acks_all broker=2 offset=0
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
quietly leader_advances_hw broker=1
refused leader_expands_isr leader=1 replica=3
quietly session_expires broker=1
quietly broker_reconnects broker=1
----
refused leader_acknowledges_acks_all(broker=2, offset=0)
    the broker believes it leads — false (replica[2].role follower)
refused leader_expands_isr(leader=1, replica=3)
    the replica has reached the HW — false (known_end[1][3] 1, log[1].end 2, replica[1].hw 2)

# Broker 2 is elected; broker 3 is behind the start of its epoch.
quietly controller_reads_partition broker=3
quietly controller_elects_leader broker=3 leader=2
refused leader_shrink_is_refused leader=1 replica=2
refused leader_shrink_is_refused leader=1 replica=3
refused leader_expand_is_refused leader=1 replica=2
refused leader_expand_is_refused leader=1 replica=3
quietly broker_becomes_leader broker=2 epoch=2 controller=1
refused leader_acknowledges broker=2 offset=0
refused leader_acknowledges_acks_all broker=2 offset=0
quietly broker_becomes_follower broker=3 epoch=2 controller=1
quietly follower_sends_epoch_request broker=3 leader=2
quietly leader_answers_epoch leader=2 follower=3
quietly follower_truncates follower=3 leader=2
quietly follower_sends_fetch broker=3 leader=2
quietly leader_answers_fetch leader=2 follower=3
quietly controller_reads_partition broker=3
quietly controller_elects_leader broker=3 leader=1
refused leader_expand_is_refused leader=2 replica=3
----
refused leader_shrink_is_refused(leader=1, replica=2)
    the replica is not known to be caught up — false (known_end[1][2] 2, log[1].end 2)
refused leader_shrink_is_refused(leader=1, replica=3)
    the replica is in the leader's ISR — false (replica[1].isr {1,2})
refused leader_expand_is_refused(leader=1, replica=2)
    the replica is not in the leader's ISR — false (replica[1].isr {1,2})
refused leader_expand_is_refused(leader=1, replica=3)
    the replica has reached the HW — false (known_end[1][3] 1, log[1].end 2, replica[1].hw 2)
refused leader_acknowledges(broker=2, offset=0)
    the record is of the leader's own epoch — false (log[2][0].epoch 1, replica[2].epoch 2)
refused leader_acknowledges_acks_all(broker=2, offset=0)
    the record is of the leader's own epoch — false (log[2][0].epoch 1, replica[2].epoch 2)
refused leader_expand_is_refused(leader=2, replica=3)
    it has reached the leader's epoch start — false (known_end[2][3] 1, log[2].end 2, replica[2].epoch_start 2)
