# A fetcher that is fenced waits until its broker is notified of the newer epoch.
# Shows: a follower whose leader is in a newer epoch than it does not ask again (KIP-320, 2.1); by
# default the model lets it ask again, and be fenced again.
system replication version 2.3 without fenced_fetchers_go_on brokers 2

quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_partition broker=1
quietly controller_elects_leader broker=1 leader=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly broker_becomes_follower broker=2 epoch=1 controller=1
quietly follower_sends_fetch broker=2 leader=1
quietly controller_elects_leader broker=1 leader=1
quietly broker_becomes_leader broker=1 epoch=2 controller=1
leader_refuses_fetch leader=1 follower=2
refused follower_sends_fetch broker=2 leader=1
refused fetch_is_lost follower=2 leader=1
----
leader_refuses_fetch(leader=1, follower=2)
    fetch[2][1].state: asks_records → given_up
    fetch[2][1].epoch: 1 → none
refused follower_sends_fetch(broker=2, leader=1)
    it has no request under way to it — false (fetch[2][1].state given_up)
refused fetch_is_lost(follower=2, leader=1)
    its fetcher was not fenced — false (fetch[2][1].state given_up)

# Once it is notified, it fetches again.
broker_becomes_follower broker=2 epoch=2 controller=1
follower_sends_fetch broker=2 leader=1
----
broker_becomes_follower(broker=2, epoch=2, controller=1)
    request[2][1][2].in_flight: true → false
    request[2][1][2].isr: {1,2} → {}
    request[2][1][2].version: 2 → 0
    replica[2].epoch: 1 → 2
    replica[2].zk_version: 1 → 2
    fetch[2][1].state: given_up → idle
follower_sends_fetch(broker=2, leader=1)
    fetch[2][1].state: idle → asks_records
    fetch[2][1].epoch: none → 2
