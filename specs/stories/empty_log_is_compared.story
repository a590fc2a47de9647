# A leader that appended nothing becomes follower: it asks where its epoch ends before it fetches.
# Shows: what is compared is the epoch cache, not the log (KIP-101); by default the model lets a
# follower without records fetch at once.
system replication version 2.3 without empty_logs_fetch brokers 2

quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_partition broker=1
quietly controller_elects_leader broker=1 leader=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly controller_elects_leader broker=1 leader=2
quietly broker_becomes_leader broker=2 epoch=2 controller=1
broker_becomes_follower broker=1 epoch=2 controller=1
refused follower_sends_fetch broker=1 leader=2
quietly follower_sends_epoch_request broker=1 leader=2
quietly leader_answers_epoch leader=2 follower=1
follower_truncates follower=1 leader=2
follower_sends_fetch broker=1 leader=2
----
broker_becomes_follower(broker=1, epoch=2, controller=1)
    request[2][1][1].in_flight: true → false
    request[2][1][1].isr: {1,2} → {}
    request[2][1][1].version: 2 → 0
    replica[1].role: leader → follower
    replica[1].leader: 1 → 2
    replica[1].epoch: 1 → 2
    replica[1].isr: {1,2} → {}
    replica[1].zk_version: 1 → 2
    replica[1].truncating: false → true
refused follower_sends_fetch(broker=1, leader=2)
    it knows that its log fits the leader's — false (replica[1].truncating true)
follower_truncates(follower=1, leader=2)
    replica[1].latest_epoch: 1 → none
    replica[1].truncating: true → false
    fetch[1][2].state: epoch_is_answered → idle
    fetch[1][2].epoch: 2 → none
    fetch[1][2].answer_epoch: 1 → none
    fetch[1][2].answer_end: 0 → none
follower_sends_fetch(broker=1, leader=2)
    fetch[1][2].state: idle → asks_records
    fetch[1][2].epoch: none → 2
