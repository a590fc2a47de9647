# A deposed leader writes its ISR over the state of its successor.
# Shows: an ISR write that names no version of the state cannot be distinguished from a current one. The
# leader epoch goes back, and a broker leads that lacks what was committed. (KAFKA-428, before 0.8)
system replication version 2.3 without isr_write_conditional brokers 2

# Broker 2 is elected, loses its session, and broker 1 is elected in its place.
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_partition broker=1
quietly controller_elects_leader broker=1 leader=2
quietly broker_becomes_leader broker=2 epoch=1 controller=1
quietly session_expires broker=2
quietly controller_reads_partition broker=1
quietly controller_elects_leader broker=1 leader=1
quietly broker_becomes_leader broker=1 epoch=2 controller=1
quietly leader_appends broker=1
leader_advances_hw broker=1
show zk
----
leader_advances_hw(broker=1)
    replica[1].hw: 0 → 1
    committed.end: 0 → 1
    committed[0].at.epoch: 0 → 2
zk.controller: 1
zk.epoch: 1
zk.registered: {1}
zk.leader: 1
zk.leader_epoch: 2
zk.isr: {1}
zk.state_epoch: 1
zk.version: 2

# Broker 2 is back, and has not heard that it is deposed.
quietly broker_reconnects broker=2
leader_shrinks_isr leader=2 replica=1
check no_message_loss
----
leader_shrinks_isr(leader=2, replica=1)
    zk.leader: 1 → 2
    zk.leader_epoch: 2 → 1
    zk.isr: {1} → {2}
    zk.version: 2 → 3
    isr_write[2].state: none → applied
    isr_write[2].isr: {} → {2}
    isr_write[2].state_epoch: 0 → 1
    isr_write[2].version: 0 → 3
no_message_loss: broken — every committed record is in the log of the registered leader, at its offset, and no two records are ever committed at one offset
    (committed.end 1, committed[0].at.epoch 2, log[2].end 0, log[2][0].epoch 0, zk.leader 2)
