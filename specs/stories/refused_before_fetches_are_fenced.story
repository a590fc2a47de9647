# A follower is sent its current leader again while a response of that leader is in flight.
# Shows: up to 2.0 an answer is known by its leader alone, and dropped while the log may not fit.
system replication version 2.0 brokers 3

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
quietly leader_appends broker=1
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2

# The same leader twice more; broker 2 hears of the second only.
quietly controller_elects_leader broker=3 leader=1
quietly controller_elects_leader broker=3 leader=1
quietly broker_becomes_follower broker=2 epoch=3 controller=1
refused follower_appends follower=2 leader=1
----
refused follower_appends(follower=2, leader=1)
    it knows that its log fits the leader's — false (replica[2].truncating true)
