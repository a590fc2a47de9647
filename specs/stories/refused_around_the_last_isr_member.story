# The ISR shrinks to one member, which dies.
# Shows: the controller takes its leadership away and keeps it in the ISR, once.
system replication version 2.3 brokers 3

quietly broker_becomes_controller broker=3
quietly broker_learns_it_won broker=3
quietly controller_reads_partition broker=3
quietly controller_elects_leader broker=3 leader=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly leader_appends broker=1
quietly leader_shrinks_isr leader=1 replica=2
quietly leader_learns_isr_is_written leader=1
quietly controller_reads_partition broker=3
quietly leader_shrinks_isr leader=1 replica=3
refused controller_election_conflicts broker=3 leader=2
quietly leader_learns_isr_is_written leader=1
----
refused controller_election_conflicts(broker=3, leader=2)
    the candidate is in the ISR that it read — false (cache[3].isr {1,3})

# The last member dies.
quietly broker_crashes broker=1
quietly session_expires broker=1
quietly controller_reads_partition broker=3
quietly controller_removes_replica broker=3 replica=1
refused controller_removes_replica broker=3 replica=1
quietly controller_reads_partition broker=3
----
refused controller_removes_replica(broker=3, replica=1)
    leader or ISR change by it — false (cache[3].leader none)

# The controller is deposed, and has not heard of it.
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=2
refused controller_election_is_fenced broker=3 leader=2
refused controller_removal_is_fenced broker=3 replica=1
----
refused controller_election_is_fenced(broker=3, leader=2)
    the candidate is in the ISR that it read — false (cache[3].isr {1})
refused controller_removal_is_fenced(broker=3, replica=1)
    leader or ISR change by it — false (cache[3].leader none)
