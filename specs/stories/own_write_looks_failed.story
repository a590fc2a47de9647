# A leader's ISR write is done and its response lost: it takes its own write for another's.
# Shows: sent again, the write is refused, for the version has moved. A leader that does not look who
# moved it keeps the old version for ever: its ISR never changes again. (KAFKA-1382, up to 0.8.1)
system replication version 2.3 without isr_write_read_back brokers 3

quietly broker_becomes_controller broker=3
quietly broker_learns_it_won broker=3
quietly controller_reads_partition broker=3
quietly controller_elects_leader broker=3 leader=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly leader_appends broker=1
quietly leader_shrinks_isr leader=1 replica=2
isr_answer_is_lost leader=1
leader_learns_isr_is_refused leader=1
show zk.isr
show replica[1].isr
check leader_is_current
----
isr_answer_is_lost(leader=1)
    isr_write[1].state: applied → refused
    isr_write[1].version: 2 → 0
leader_learns_isr_is_refused(leader=1)
    isr_write[1].state: refused → none
    isr_write[1].isr: {1,3} → {}
    isr_write[1].state_epoch: 1 → 0
zk.isr: {1,3}
replica[1].isr: {1,2,3}
leader_is_current: broken — a leader in the registered leader epoch knows the registered ISR and zkVersion, unless it waits for the response to its own write, or gave that write up when its session ended
    (gave_up {}, isr_write[1].state none, replica[1].epoch 1, replica[1].isr {1,2,3}, replica[1].role leader, replica[1].zk_version 1, zk.isr {1,3}, zk.leader_epoch 1, zk.version 2)

# Whatever it tries from now on is refused, and without a smaller ISR nothing is committed.
refused leader_shrinks_isr leader=1 replica=3
leader_shrink_is_refused leader=1 replica=3
quietly leader_learns_isr_is_refused leader=1
refused leader_advances_hw broker=1
----
refused leader_shrinks_isr(leader=1, replica=3)
    the cached version is current — false (replica[1].zk_version 1, zk.version 2)
leader_shrink_is_refused(leader=1, replica=3)
    isr_write[1].state: none → refused
    isr_write[1].isr: {} → {1,2}
    isr_write[1].state_epoch: 0 → 1
refused leader_advances_hw(broker=1)
    it knows the end of every ISR member — false (known_end[1][2] none, log[1].end 1, replica[1].isr {1,2,3})
