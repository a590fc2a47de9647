# A leader uses a smaller ISR before it is written, and the write is refused.
# Shows: what it committed without the replica that it dropped is lost, for that replica leads
# already. The high watermark may move on the smaller ISR only when it is registered. (KIP-497)
system replication version 2.3 without isr_adopted_when_written brokers 2

quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_partition broker=1
quietly controller_elects_leader broker=1 leader=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly leader_appends broker=1

# Broker 2 is elected, of which broker 1 has not heard. It drops broker 2, as it thinks.
quietly controller_elects_leader broker=1 leader=2
leader_shrink_is_refused leader=1 replica=2
leader_advances_hw broker=1
show zk.leader
show zk.isr
check no_message_loss
----
leader_shrink_is_refused(leader=1, replica=2)
    isr_write[1].state: none → refused
    isr_write[1].isr: {} → {1}
    isr_write[1].state_epoch: 0 → 1
leader_advances_hw(broker=1)
    replica[1].hw: 0 → 1
    committed.end: 0 → 1
    committed[0].at.epoch: 0 → 1
zk.leader: 2
zk.isr: {1,2}
no_message_loss: broken — every committed record is in the log of the registered leader, at its offset, and no two records are ever committed at one offset
    (committed.end 1, committed[0].at.epoch 1, log[2].end 0, log[2][0].epoch 0, zk.leader 2)
