# What is refused at each moment while followers fetch, ask for epochs, and cut their logs.
# Shows: a request is answered once, by who leads in its epoch, to who still waits for it.
system replication version 2.3 brokers 3

refused leader_refuses_epoch leader=1 follower=2
refused epoch_answer_is_ignored follower=1 leader=2
refused leader_refuses_fetch leader=1 follower=2
refused fetch_answer_is_ignored follower=1 leader=2
refused fetch_is_lost follower=1 leader=2
quietly broker_becomes_controller broker=3
quietly broker_learns_it_won broker=3
quietly controller_reads_partition broker=3
quietly controller_elects_leader broker=3 leader=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly broker_becomes_follower broker=2 epoch=1 controller=1
refused follower_sends_fetch broker=2 leader=3
quietly broker_becomes_follower broker=3 epoch=1 controller=1
quietly follower_sends_fetch broker=2 leader=1
refused leader_answers_epoch leader=1 follower=2
refused follower_sends_fetch broker=2 leader=1
refused leader_refuses_fetch leader=1 follower=2
refused follower_appends follower=2 leader=1
quietly leader_appends broker=1
quietly leader_answers_fetch leader=1 follower=2
refused leader_answers_fetch leader=1 follower=2
refused fetch_answer_is_ignored follower=2 leader=1
quietly follower_appends follower=2 leader=1
quietly follower_sends_fetch broker=2 leader=1
quietly follower_sends_fetch broker=3 leader=1
quietly leader_appends broker=1
----
refused leader_refuses_epoch(leader=1, follower=2)
    the follower asked for an epoch's end — false (fetch[2][1].state idle)
refused epoch_answer_is_ignored(follower=1, leader=2)
    the leader answered — false (fetch[1][2].state idle)
refused leader_refuses_fetch(leader=1, follower=2)
    the follower asked for records — false (fetch[2][1].state idle)
refused fetch_answer_is_ignored(follower=1, leader=2)
    the leader answered — false (fetch[1][2].state idle)
refused fetch_is_lost(follower=1, leader=2)
    a request is under way — false (fetch[1][2].state idle)
refused follower_sends_fetch(broker=2, leader=3)
    it follows this leader — false (replica[2].leader 1)
refused leader_answers_epoch(leader=1, follower=2)
    the follower asked for an epoch's end — false (fetch[2][1].state asks_records)
refused follower_sends_fetch(broker=2, leader=1)
    it has no request under way to it — false (fetch[2][1].state asks_records)
refused leader_refuses_fetch(leader=1, follower=2)
    it cannot serve the request — false (fetch[2][1].epoch 1, fetch[2][1].offset 0, log[1].end 0, replica[1].epoch 1, replica[1].role leader)
refused follower_appends(follower=2, leader=1)
    the leader answered — false (fetch[2][1].state asks_records)
refused leader_answers_fetch(leader=1, follower=2)
    the follower asked for records — false (fetch[2][1].state records_are_answered)
refused fetch_answer_is_ignored(follower=2, leader=1)
    it no longer waits for this answer — false (fetch[2][1].epoch 1, fetch[2][1].offset 0, log[2].end 0, replica[2].epoch 1, replica[2].leader 1, replica[2].role follower, replica[2].truncating false)

# Another leader is elected while fetches are under way.
quietly controller_elects_leader broker=3 leader=2
quietly broker_becomes_leader broker=2 epoch=2 controller=1
quietly leader_answers_fetch leader=1 follower=2
refused follower_appends follower=2 leader=1
quietly fetch_answer_is_ignored follower=2 leader=1
quietly leader_appends broker=2
quietly broker_becomes_follower broker=1 epoch=2 controller=1
refused follower_sends_epoch_request broker=1 leader=3
quietly leader_refuses_fetch leader=1 follower=3
quietly follower_sends_epoch_request broker=1 leader=2
refused leader_refuses_epoch leader=2 follower=1
refused follower_truncates follower=1 leader=2
quietly leader_answers_epoch leader=2 follower=1
refused epoch_answer_is_ignored follower=1 leader=2
quietly follower_truncates follower=1 leader=2
quietly follower_sends_fetch broker=1 leader=2
quietly leader_answers_fetch leader=2 follower=1
quietly follower_appends follower=1 leader=2
----
refused follower_appends(follower=2, leader=1)
    it still follows that leader and epoch — false (fetch[2][1].epoch 1, replica[2].epoch 2, replica[2].leader 2, replica[2].role leader)
refused follower_sends_epoch_request(broker=1, leader=3)
    it follows this leader — false (replica[1].leader 2)
refused leader_refuses_epoch(leader=2, follower=1)
    it does not lead in the request's epoch — false (fetch[1][2].epoch 2, replica[2].epoch 2, replica[2].role leader)
refused follower_truncates(follower=1, leader=2)
    the leader answered — false (fetch[1][2].state asks_epoch)
refused epoch_answer_is_ignored(follower=1, leader=2)
    it no longer waits for this answer — false (fetch[1][2].epoch 2, replica[1].epoch 2, replica[1].leader 2, replica[1].role follower, replica[1].truncating true)

# Broker 1 leads again; who is to follow hears of it earlier than it does.
quietly controller_elects_leader broker=3 leader=1
quietly broker_becomes_follower broker=2 epoch=3 controller=1
quietly follower_sends_epoch_request broker=2 leader=1
refused leader_answers_epoch leader=1 follower=2
quietly leader_refuses_epoch leader=1 follower=2
quietly broker_becomes_leader broker=1 epoch=3 controller=1
quietly follower_sends_epoch_request broker=2 leader=1
quietly leader_answers_epoch leader=1 follower=2
quietly controller_elects_leader broker=3 leader=3
quietly broker_becomes_follower broker=2 epoch=4 controller=1
refused follower_truncates follower=2 leader=1
quietly epoch_answer_is_ignored follower=2 leader=1
quietly follower_sends_epoch_request broker=2 leader=3
quietly fetch_is_lost follower=2 leader=3
----
refused leader_answers_epoch(leader=1, follower=2)
    it leads in the epoch of the request — false (fetch[2][1].epoch 3, replica[1].epoch 2, replica[1].role follower)
refused follower_truncates(follower=2, leader=1)
    it still follows that leader and epoch — false (fetch[2][1].epoch 3, replica[2].epoch 4, replica[2].leader 3)
