# A broker stores the leader epoch of a request, and then fails before it changes its role.
# Shows: two brokers lead in epoch 2, and the request, sent again, is refused as known. The epoch
# was stored first, and reading the topic's configuration threw. (KAFKA-9307, KAFKA-9769)
system replication version 2.3 without epoch_taken_with_role brokers 2

quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_partition broker=1
quietly controller_elects_leader broker=1 leader=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly controller_elects_leader broker=1 leader=2
broker_fails_while_becoming_follower broker=1 epoch=2 controller=1
show replica[1].role
show replica[1].epoch
quietly broker_becomes_leader broker=2 epoch=2 controller=1
check leader_unique
----
broker_fails_while_becoming_follower(broker=1, epoch=2, controller=1)
    request[2][1][1].in_flight: true → false
    request[2][1][1].isr: {1,2} → {}
    request[2][1][1].version: 2 → 0
    replica[1].epoch: 1 → 2
    replica[1].isr: {1,2} → {}
    replica[1].zk_version: 1 → 2
replica[1].role: leader
replica[1].epoch: 2
leader_unique: broken — no two brokers lead in one leader epoch
    (replica[1].epoch 2, replica[1].role leader, replica[2].epoch 2, replica[2].role leader)

# The controller tells it again; it has that epoch already.
quietly controller_issues_leader_and_isr broker=1 replica=1
refused broker_becomes_follower broker=1 epoch=2 controller=1
older_epoch_is_refused broker=1 epoch=2 controller=1
show replica[1].role
----
refused broker_becomes_follower(broker=1, epoch=2, controller=1)
    the leader epoch is newer than the broker's — false (replica[1].epoch 2)
older_epoch_is_refused(broker=1, epoch=2, controller=1)
    request[2][1][1].in_flight: true → false
    request[2][1][1].isr: {1,2} → {}
    request[2][1][1].version: 2 → 0
replica[1].role: leader
