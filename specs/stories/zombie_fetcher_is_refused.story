# A follower that does not know the new epoch keeps fetching, and is refused.
# Shows: from 2.5 every fetch is fenced by its leader epoch, also within a session; what the follower
# holds counts again when it has looked where its log leaves the leader's. (KIP-320, KAFKA-9338)
system replication version 2.5 brokers 3

# Broker 2 is the controller all the time. Broker 1 leads, and broker 3 has its first record, id 0.
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_partition broker=2
quietly controller_elects_leader broker=2 leader=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly broker_becomes_follower broker=2 epoch=1 controller=1
quietly broker_becomes_follower broker=3 epoch=1 controller=1
quietly leader_appends broker=1
quietly follower_sends_fetch broker=3 leader=1
quietly leader_answers_fetch leader=1 follower=3
quietly follower_appends follower=3 leader=1

# Broker 2 leads in epoch 2, without that record; broker 1 follows it, and cuts the record off.
# Broker 3 hears nothing of it.
quietly controller_elects_leader broker=2 leader=2
quietly broker_becomes_leader broker=2 epoch=2 controller=1
quietly broker_becomes_follower broker=1 epoch=2 controller=1
quietly follower_sends_epoch_request broker=1 leader=2
quietly leader_answers_epoch leader=2 follower=1
quietly follower_truncates follower=1 leader=2

# Broker 1 leads again, in epoch 3, and writes another record at the same offset, id 1.
quietly controller_elects_leader broker=2 leader=1
quietly broker_becomes_leader broker=1 epoch=3 controller=1
quietly broker_becomes_follower broker=2 epoch=3 controller=1
quietly leader_appends broker=1
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
quietly follower_appends follower=2 leader=1
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
show log
----
log[1]: [id 1 epoch 3]
log[2]: [id 1 epoch 3]
log[3]: [id 0 epoch 1]

follower_sends_fetch broker=3 leader=1
refused leader_answers_fetch leader=1 follower=3
leader_refuses_fetch leader=1 follower=3
refused leader_advances_hw broker=1
check isr_holds_committed
----
follower_sends_fetch(broker=3, leader=1)
    fetch[3][1].state: idle → asks_records
    fetch[3][1].epoch: none → 1
    fetch[3][1].offset: 0 → 1
refused leader_answers_fetch(leader=1, follower=3)
    it leads in the epoch of the request — false (fetch[3][1].epoch 1, replica[1].epoch 3)
leader_refuses_fetch(leader=1, follower=3)
    fetch[3][1].state: asks_records → idle
    fetch[3][1].epoch: 1 → none
    fetch[3][1].offset: 1 → 0
refused leader_advances_hw(broker=1)
    it knows the end of every ISR member — false (known_end[1][3] none, log[1].end 1, replica[1].isr {1,2,3})
isr_holds_committed: holds

# Notified of epoch 3, broker 3 asks where its own epoch ends, and cuts before it fetches.
quietly broker_becomes_follower broker=3 epoch=3 controller=1
quietly follower_sends_epoch_request broker=3 leader=1
quietly leader_answers_epoch leader=1 follower=3
follower_truncates follower=3 leader=1
show log
----
follower_truncates(follower=3, leader=1)
    replica[3].latest_epoch: 1 → none
    replica[3].truncating: true → false
    log[3]: [id 0 epoch 1] → []
    fetch[3][1].state: epoch_is_answered → idle
    fetch[3][1].epoch: 3 → none
    fetch[3][1].answer_epoch: 1 → none
    fetch[3][1].answer_end: 0 → none
log[1]: [id 1 epoch 3]
log[2]: [id 1 epoch 3]
log[3]: []
