# A request of a deposed controller arrives after one of its successor, under the same leader epoch.
# Shows: a broker remembers the newest controller epoch that it heard. (KAFKA-532)
system replication version 2.3 brokers 3

quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_partition broker=1
quietly controller_elects_leader broker=1 leader=1
# An operator deletes /controller; broker 2 takes over and tells broker 3 first.
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_issues_leader_and_isr broker=2 replica=3
quietly broker_becomes_follower broker=3 epoch=1 controller=2
older_controller_is_refused broker=3 epoch=1 controller=1
check leader_unique
----
older_controller_is_refused(broker=3, epoch=1, controller=1)
    request[1][1][3].in_flight: true → false
    request[1][1][3].isr: {1,2,3} → {}
    request[1][1][3].version: 1 → 0
leader_unique: holds
