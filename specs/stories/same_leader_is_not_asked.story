# A follower whose leader stays the same does not compare its log, though epochs were missed.
# Shows: up to 2.0.0 a follower that was instructed to follow the leader that it had went on where it was;
# what happened under another leader in between it never heard of. Fencing does not help: it fetches
# in the right epoch. (KAFKA-7164)
system replication version 2.1 with truncates_again=new_leader brokers 3

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

# Broker 3 missed epoch 2, and is notified of epoch 3: its leader is broker 1, as it was.
broker_becomes_follower broker=3 epoch=3 controller=1
refused follower_sends_epoch_request broker=3 leader=1
check fetchers_match_their_leader
quietly follower_sends_fetch broker=3 leader=1
leader_answers_fetch leader=1 follower=3
leader_advances_hw broker=1
check isr_holds_committed
----
broker_becomes_follower(broker=3, epoch=3, controller=1)
    request[3][1][3].in_flight: true → false
    request[3][1][3].isr: {1,2,3} → {}
    request[3][1][3].version: 3 → 0
    replica[3].epoch: 1 → 3
    replica[3].zk_version: 1 → 3
refused follower_sends_epoch_request(broker=3, leader=1)
    it does not know where to cut yet — false (replica[3].truncating false)
fetchers_match_their_leader: broken — a follower that fetches from the leader of its own epoch has nothing but the leader's records, each at its offset
    (log[1][0].epoch 3, log[1][0].id 1, log[3][0].epoch 1, log[3][0].id 0, replica[1].epoch 3, replica[1].role leader, replica[3].epoch 3, replica[3].leader 1, replica[3].role follower, replica[3].truncating false)
leader_answers_fetch(leader=1, follower=3)
    known_end[1][3]: none → 1
    fetch[3][1].state: asks_records → records_are_answered
leader_advances_hw(broker=1)
    replica[1].hw: 0 → 1
    committed.end: 0 → 1
    committed[0].at.id: 0 → 1
    committed[0].at.epoch: 0 → 3
isr_holds_committed: broken — every member of the registered ISR holds every committed record
    (committed[0].at.epoch 3, committed[0].at.id 1, log[3][0].epoch 1, log[3][0].id 0, zk.isr {1,2,3})
