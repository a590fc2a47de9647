# The last ISR member fails, and is removed: the first broker that starts is elected then.
# Shows: before 0.8 the ISR could become empty. Since then its last member stays in it, dead or
# alive, and is elected when it returns; up to 1.0 only where unclean election is off. (KAFKA-708)
system replication version 0.10 brokers 2

quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly session_expires broker=1
quietly controller_reads_partition broker=2
quietly controller_elects_leader broker=2 leader=2
show zk.isr
quietly session_expires broker=2
quietly broker_reconnects broker=1
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_partition broker=1
controller_removes_replica broker=1 replica=2
check isr_is_never_empty
----
zk.isr: {2}
controller_removes_replica(broker=1, replica=2)
    zk.leader: 2 → none
    zk.leader_epoch: 1 → 2
    zk.isr: {2} → {}
    zk.state_epoch: 1 → 2
    zk.version: 1 → 2
    cache[1].leader: 2 → none
    cache[1].isr: {2} → {}
    cache[1].version: 1 → 2
    request[2][2][1].in_flight: false → true
    request[2][2][1].version: 0 → 2
isr_is_never_empty: broken — the registered ISR has a member, so that somebody can be elected

# Broker 2 is back, with all that was committed; broker 1, which lacks it, may be elected as well.
quietly broker_reconnects broker=2
quietly controller_reads_partition broker=1
controller_elects_leader broker=1 leader=1
refused controller_elects_leader broker=1 leader=2
----
controller_elects_leader(broker=1, leader=1)
    zk.leader: none → 1
    zk.leader_epoch: 2 → 3
    zk.isr: {} → {1}
    zk.version: 2 → 3
    cache[1].leader: none → 1
    cache[1].isr: {} → {1}
    cache[1].version: 2 → 3
    elected[3]: none → 1
    request[3][2][1].in_flight: false → true
    request[3][2][2].in_flight: false → true
    request[3][2][1].isr: {} → {1}
    request[3][2][2].isr: {} → {1}
    request[3][2][1].version: 0 → 3
    request[3][2][2].version: 0 → 3
refused controller_elects_leader(broker=1, leader=2)
    the candidate is in the ISR that it read — false (cache[1].isr {1}, cache[1].live {1,2})
