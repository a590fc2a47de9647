# A deposed controller that has not noticed elects a leader: the partition is as it had read it.
# Shows: the write checks /controller_epoch too, so it fails, and the controller resigns. (KAFKA-6082)
system replication version 2.3 brokers 2

quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_partition broker=1
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
controller_election_is_fenced broker=1 leader=1
refused controller_elects_leader broker=1 leader=1
check leader_in_isr
----
controller_election_is_fenced(broker=1, leader=1)
    belief[1]: 1 → 0
    cache[1].held: true → false
    cache[1].isr: {1,2} → {}
    cache[1].live: {1,2} → {}
    cache[1].reached: {1,2} → {}
refused controller_elects_leader(broker=1, leader=1)
    the broker believes it is the controller — false (belief[1] 0)
leader_in_isr: holds
