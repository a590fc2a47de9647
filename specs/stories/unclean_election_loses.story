# No ISR member is alive, and a replica outside the ISR is elected: the records it lacks are lost.
# Shows: unclean.leader.election.enable buys availability with committed records; it was the default
# up to 0.10.2. (KIP-106)
system replication version 2.3 without unclean_leader_election brokers 2

# Broker 2 is gone, the controller took it out of the ISR, and a record is committed without it.
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly session_expires broker=2
quietly controller_reads_partition broker=1
quietly controller_elects_leader broker=1 leader=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly leader_appends broker=1
leader_advances_hw broker=1
show zk.isr
----
leader_advances_hw(broker=1)
    replica[1].hw: 0 → 1
    committed.end: 0 → 1
    committed[0].at.epoch: 0 → 1
zk.isr: {1}

# Broker 1 goes too, and broker 2 comes back.
quietly broker_crashes broker=1
quietly session_expires broker=1
quietly broker_reconnects broker=2
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_partition broker=2
controller_elects_leader broker=2 leader=2
check no_message_loss
----
controller_elects_leader(broker=2, leader=2)
    zk.leader: 1 → 2
    zk.leader_epoch: 1 → 2
    zk.isr: {1} → {2}
    zk.state_epoch: 1 → 2
    zk.version: 1 → 2
    cache[2].leader: 1 → 2
    cache[2].isr: {1} → {2}
    cache[2].version: 1 → 2
    elected[2]: none → 2
    request[2][2][2].in_flight: false → true
    request[2][2][2].isr: {} → {2}
    request[2][2][2].version: 0 → 2
no_message_loss: broken — every committed record is in the log of the registered leader, at its offset, and no two records are ever committed at one offset
    (committed.end 1, committed[0].at.epoch 1, log[2].end 0, log[2][0].epoch 0, zk.leader 2)
