# A deposed leader tries to shrink the ISR with a stale version.
# Shows: the conditional write fences it, it does not notice, and so it commits nothing.
# (Partition.maybeShrinkIsr: "Cached zkVersion not equal to that in zookeeper, skip updating ISR")
system replication version 2.3 brokers 3

quietly broker_becomes_controller broker=3
quietly broker_learns_it_won broker=3
quietly controller_reads_partition broker=3
quietly controller_elects_leader broker=3 leader=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly broker_becomes_follower broker=2 epoch=1 controller=1

# A long garbage collection: the session of broker 1 expires, and the controller elects broker 2.
quietly session_expires broker=1
quietly controller_reads_partition broker=3
controller_elects_leader broker=3 leader=2
quietly broker_becomes_leader broker=2 epoch=2 controller=1
check two_brokers_believe_they_lead
----
controller_elects_leader(broker=3, leader=2)
    zk.leader: 1 → 2
    zk.leader_epoch: 1 → 2
    zk.isr: {1,2,3} → {2,3}
    zk.version: 1 → 2
    cache[3].leader: 1 → 2
    cache[3].isr: {1,2,3} → {2,3}
    cache[3].version: 1 → 2
    elected[2]: none → 2
    request[2][1][2].in_flight: false → true
    request[2][1][3].in_flight: false → true
    request[2][1][2].isr: {} → {2,3}
    request[2][1][3].isr: {} → {2,3}
    request[2][1][2].version: 0 → 2
    request[2][1][3].version: 0 → 2
two_brokers_believe_they_lead: so it is — two brokers believe they lead, under different epochs

# Broker 1 goes on. Its session is gone; it opens a new one, and is none the wiser. It reads the
# state back, to see whether the refused write is its own, and finds another's.
quietly broker_reconnects broker=1
quietly leader_appends broker=1
refused leader_shrinks_isr leader=1 replica=3
leader_shrink_is_refused leader=1 replica=3
leader_learns_isr_is_refused leader=1
show replica[1].role
show replica[1].epoch
show zk.leader_epoch
----
refused leader_shrinks_isr(leader=1, replica=3)
    the cached version is current — false (replica[1].zk_version 1, zk.version 2)
leader_shrink_is_refused(leader=1, replica=3)
    isr_write[1].state: none → refused
    isr_write[1].isr: {} → {1,2}
    isr_write[1].state_epoch: 0 → 1
leader_learns_isr_is_refused(leader=1)
    isr_write[1].state: refused → none
    isr_write[1].isr: {1,2} → {}
    isr_write[1].state_epoch: 1 → 0
replica[1].role: leader
replica[1].epoch: 1
zk.leader_epoch: 2

# Its ISR still has the others, and they ask it no more: the record is never committed.
refused leader_advances_hw broker=1
check no_message_loss
check leader_in_isr
----
refused leader_advances_hw(broker=1)
    it knows the end of every ISR member — false (known_end[1][2] none, log[1].end 1, replica[1].isr {1,2,3})
no_message_loss: holds
leader_in_isr: holds
