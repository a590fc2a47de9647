# A controller loses its session with a dead replica still in the ISR that it read.
# Shows: it writes nothing then, be it the newest controller or deposed.
system replication version 2.3 brokers 3

quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_partition broker=1
quietly controller_elects_leader broker=1 leader=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly leader_appends broker=1
quietly session_expires broker=2
quietly controller_reads_partition broker=1
quietly leader_shrinks_isr leader=1 replica=3
refused controller_election_conflicts broker=1 leader=2
refused controller_removes_replica broker=1 replica=2
quietly leader_learns_isr_is_written leader=1
----
refused controller_election_conflicts(broker=1, leader=2)
    the candidate was alive when it read — false (cache[1].live {1,3})
refused controller_removes_replica(broker=1, replica=2)
    the version that it read is current — false (cache[1].version 1, zk.version 2)

# Its own session ends, and another is elected.
quietly session_expires broker=1
refused controller_removal_conflicts broker=1 replica=2
quietly broker_becomes_controller broker=3
refused controller_election_is_fenced broker=1 leader=3
refused controller_removal_is_fenced broker=1 replica=2
quietly controller_node_is_deleted
refused broker_loses_controller_election broker=3
quietly broker_learns_it_won broker=3
----
refused controller_removal_conflicts(broker=1, replica=2)
    it has a ZooKeeper session — false (zk.registered {3})
refused controller_election_is_fenced(broker=1, leader=3)
    it has a ZooKeeper session — false (zk.registered {3})
refused controller_removal_is_fenced(broker=1, replica=2)
    it has a ZooKeeper session — false (zk.registered {3})
refused broker_loses_controller_election(broker=3)
    its reply was lost — false (reply_lost[3] false)
