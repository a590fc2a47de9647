# A leader and its follower truncate their logs while the follower's fetch is in flight.
# Shows: up to 0.10 an answer of an earlier epoch is taken only if it is for the end of the log.
system replication version 0.10 brokers 3

quietly broker_becomes_controller broker=3
quietly broker_learns_it_won broker=3
quietly controller_reads_partition broker=3
quietly controller_elects_leader broker=3 leader=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly broker_becomes_follower broker=2 epoch=1 controller=1
quietly leader_appends broker=1
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
quietly follower_appends follower=2 leader=1
quietly follower_sends_fetch broker=2 leader=1

# Broker 3 leads, and then broker 1 again, which cut its log in between.
quietly controller_elects_leader broker=3 leader=3
quietly controller_elects_leader broker=3 leader=1
quietly broker_becomes_follower broker=1 epoch=2 controller=1
quietly broker_becomes_leader broker=1 epoch=3 controller=1
refused leader_answers_fetch leader=1 follower=2
quietly leader_appends broker=1
quietly leader_answers_fetch leader=1 follower=2
quietly broker_becomes_follower broker=2 epoch=2 controller=1
quietly broker_becomes_follower broker=2 epoch=3 controller=1
refused follower_appends follower=2 leader=1
----
refused leader_answers_fetch(leader=1, follower=2)
    the offset is not beyond its log — false (fetch[2][1].offset 1, log[1].end 0)
refused follower_appends(follower=2, leader=1)
    the answer is for the end of its log — false (fetch[2][1].offset 1, log[2].end 0)
