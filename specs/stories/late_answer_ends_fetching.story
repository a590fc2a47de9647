# A fenced response of the last epoch arrives in the next, and ends the fetching.
# Shows: in 2.1.0 a follower that was refused dropped the partition without looking whether the
# question was still its own; nothing starts it again but a new epoch. (KAFKA-7786)
system replication version 2.1 without late_answers_ignored brokers 2

# Broker 2 follows in epoch 2, has a record, and asks where its last epoch ends.
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
quietly controller_elects_leader broker=1 leader=1
quietly broker_becomes_leader broker=1 epoch=2 controller=1
quietly broker_becomes_follower broker=2 epoch=2 controller=1
quietly follower_sends_epoch_request broker=2 leader=1
refused follower_sends_epoch_request broker=2 leader=1

# The same leader is elected once more, and both hear of it before the question is answered.
quietly controller_elects_leader broker=1 leader=1
quietly broker_becomes_leader broker=1 epoch=3 controller=1
quietly broker_becomes_follower broker=2 epoch=3 controller=1
leader_refuses_epoch leader=1 follower=2
refused follower_sends_epoch_request broker=2 leader=1
refused follower_sends_fetch broker=2 leader=1
----
refused follower_sends_epoch_request(broker=2, leader=1)
    it has no request under way to it — false (fetch[2][1].state asks_epoch)
leader_refuses_epoch(leader=1, follower=2)
    replica[2].truncating: true → false
    fetch[2][1].state: asks_epoch → given_up
    fetch[2][1].epoch: 2 → none
    fetch[2][1].last_epoch: 1 → none
refused follower_sends_epoch_request(broker=2, leader=1)
    it does not know where to cut yet — false (replica[2].truncating false)
refused follower_sends_fetch(broker=2, leader=1)
    it has no request under way to it — false (fetch[2][1].state given_up)
