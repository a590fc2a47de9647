# What is refused at each moment of a broker's crash, start and new session, and of a record.
# Shows: what needs a process, a session, a checkpoint that is old, and a leader's own record.
system replication version 2.3 brokers 3

refused broker_checkpoints_hw broker=1
refused leader_appends broker=1
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_partition broker=1
quietly controller_elects_leader broker=1 leader=1
refused leader_expand_is_refused leader=1 replica=1
quietly broker_crashes broker=2
refused broker_crashes broker=2
quietly session_expires broker=2
refused session_expires broker=2
refused broker_reconnects broker=2
quietly broker_starts broker=2
quietly controller_issues_leader_and_isr broker=1 replica=2
----
refused broker_checkpoints_hw(broker=1)
    the checkpoint is not up to date — false (replica[1].checkpoint 0, replica[1].hw 0)
refused leader_appends(broker=1)
    the broker believes it leads — false (replica[1].role none)
refused leader_expand_is_refused(leader=1, replica=1)
    the broker believes it leads — false (replica[1].role none)
refused broker_crashes(broker=2)
    the process runs — false (up {1,3})
refused session_expires(broker=2)
    the broker is registered — false (zk.registered {1,3})
refused broker_reconnects(broker=2)
    the process runs — false (up {1,3})

# Broker 2 is back before anybody saw it go. A record comes.
quietly broker_becomes_leader broker=1 epoch=1 controller=1
refused leader_shrink_is_refused leader=1 replica=2
quietly broker_becomes_follower broker=2 epoch=1 controller=1
quietly leader_appends_acks_all broker=1
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
quietly follower_appends follower=2 leader=1
refused leader_acknowledges broker=2 offset=0
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
refused leader_shrinks_isr leader=1 replica=2
quietly leader_shrinks_isr leader=1 replica=3
refused controller_elects_leader broker=1 leader=2
refused leader_shrink_is_refused leader=1 replica=3
quietly leader_learns_isr_is_written leader=1
quietly leader_advances_hw broker=1
quietly leader_acknowledges_acks_all broker=1 offset=0
quietly consumer_reads broker=1 offset=0
quietly leader_appends broker=1
quietly leader_acknowledges broker=1 offset=1
----
refused leader_shrink_is_refused(leader=1, replica=2)
    the cached version is out of date — false (replica[1].zk_version 1, zk.version 1)
refused leader_acknowledges(broker=2, offset=0)
    the broker believes it leads — false (replica[2].role follower)
refused leader_shrinks_isr(leader=1, replica=2)
    the replica is not known to be caught up — false (known_end[1][2] 1, log[1].end 1)
refused controller_elects_leader(broker=1, leader=2)
    the version that it read is current — false (cache[1].version 1, zk.version 2)
refused leader_shrink_is_refused(leader=1, replica=3)
    none of its ISR writes waits for an answer — false (isr_write[1].state applied)

# The leader checkpoints its high watermark, and restarts; then it only loses its session.
quietly broker_checkpoints_hw broker=1
quietly session_expires broker=1
refused controller_reads_partition broker=1
refused controller_election_conflicts broker=1 leader=2
refused leader_shrinks_isr leader=1 replica=2
quietly broker_crashes broker=1
refused broker_checkpoints_hw broker=1
quietly broker_starts broker=1
refused consumer_reads broker=1 offset=0
quietly session_expires broker=1
quietly broker_reconnects broker=1
----
refused controller_reads_partition(broker=1)
    it has a ZooKeeper session — false (zk.registered {2,3})
refused controller_election_conflicts(broker=1, leader=2)
    it has a ZooKeeper session — false (zk.registered {2,3})
refused leader_shrinks_isr(leader=1, replica=2)
    it has a ZooKeeper session — false (zk.registered {2,3})
refused broker_checkpoints_hw(broker=1)
    the process runs — false (up {2,3})
refused consumer_reads(broker=1, offset=0)
    the broker believes it leads — false (replica[1].role none)
