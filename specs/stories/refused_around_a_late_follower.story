# A follower lags, its leader loses its session, and then dies.
# Shows: who is behind is not taken back, who is not is not dropped, and the dead do not answer.
system replication version 2.3 brokers 3

quietly broker_becomes_controller broker=3
quietly broker_learns_it_won broker=3
quietly controller_reads_partition broker=3
quietly controller_elects_leader broker=3 leader=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly broker_becomes_follower broker=2 epoch=1 controller=1
quietly broker_becomes_follower broker=3 epoch=1 controller=1
quietly follower_sends_fetch broker=3 leader=1
quietly leader_answers_fetch leader=1 follower=3
quietly leader_appends broker=1
quietly leader_shrinks_isr leader=1 replica=3
quietly leader_learns_isr_is_written leader=1

# The controller reads who is dead, and its own session ends.
quietly session_expires broker=2
quietly controller_reads_partition broker=3
quietly session_expires broker=3
refused controller_elects_leader broker=3 leader=1
refused controller_removes_replica broker=3 replica=2
quietly broker_reconnects broker=3
quietly broker_reconnects broker=2
quietly broker_becomes_controller broker=3
quietly broker_learns_it_won broker=3
quietly controller_reads_partition broker=3
quietly controller_elects_leader broker=3 leader=1
----
refused controller_elects_leader(broker=3, leader=1)
    it has a ZooKeeper session — false (zk.registered {1})
refused controller_removes_replica(broker=3, replica=2)
    it has a ZooKeeper session — false (zk.registered {1})

# It elects broker 1 once more, which has no session and does not hear of it.
quietly session_expires broker=1
refused leader_shrink_is_refused leader=1 replica=2
refused leader_expand_is_refused leader=1 replica=3
quietly broker_reconnects broker=1
----
refused leader_shrink_is_refused(leader=1, replica=2)
    it has a ZooKeeper session — false (zk.registered {2,3})
refused leader_expand_is_refused(leader=1, replica=3)
    it has a ZooKeeper session — false (zk.registered {2,3})

# Broker 2 has all.
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
quietly follower_appends follower=2 leader=1
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
quietly leader_advances_hw broker=1
quietly follower_appends follower=2 leader=1

# The leader dies, and broker 2 asks it where to cut.
quietly broker_becomes_follower broker=2 epoch=2 controller=2
quietly broker_crashes broker=1
quietly follower_sends_epoch_request broker=2 leader=1
refused leader_refuses_epoch leader=1 follower=2
----
refused leader_refuses_epoch(leader=1, follower=2)
    the process that is asked runs — false (up {2,3})
