# The response to a leader's ISR write is lost, and the leader finds its own write registered.
# Shows: sent again, the write is refused; read back, what is registered is the leader's own.
# (KAFKA-1382: ReplicationUtils.checkLeaderAndIsrZkData; the partition's lock is held meanwhile)
system replication version 2.3 brokers 3

quietly broker_becomes_controller broker=3
quietly broker_learns_it_won broker=3
quietly controller_reads_partition broker=3
quietly controller_elects_leader broker=3 leader=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly leader_appends broker=1
leader_shrinks_isr leader=1 replica=3
show replica[1].isr
check isr_write_response_is_pending
----
leader_shrinks_isr(leader=1, replica=3)
    zk.isr: {1,2,3} → {1,2}
    zk.version: 1 → 2
    isr_write[1].state: none → applied
    isr_write[1].isr: {} → {1,2}
    isr_write[1].state_epoch: 0 → 1
    isr_write[1].version: 0 → 2
replica[1].isr: {1,2,3}
isr_write_response_is_pending: so it is — a leader's ISR write was applied, and the leader has not learned that

# Until it hears of it, the leader commits nothing, drops nobody else, and takes no other orders.
quietly controller_reads_partition broker=3
quietly controller_elects_leader broker=3 leader=1
refused leader_appends broker=1
refused leader_shrinks_isr leader=1 replica=2
refused broker_becomes_leader broker=1 epoch=2 controller=1
check leader_is_current
----
refused leader_appends(broker=1)
    none of its ISR writes waits for an answer — false (isr_write[1].state applied)
refused leader_shrinks_isr(leader=1, replica=2)
    none of its ISR writes waits for an answer — false (isr_write[1].state applied)
refused broker_becomes_leader(broker=1, epoch=2, controller=1)
    none of its ISR writes waits for an answer — false (isr_write[1].state applied)
leader_is_current: holds

# The connection breaks. By now the controller has written too: the leader finds another's state.
isr_answer_is_lost leader=1
refused leader_finds_isr_written leader=1
leader_learns_isr_is_refused leader=1
broker_becomes_leader broker=1 epoch=2 controller=1
----
isr_answer_is_lost(leader=1)
    isr_write[1].state: applied → refused
    isr_write[1].version: 2 → 0
refused leader_finds_isr_written(leader=1)
    the registered state is what it wrote — false (replica[1].epoch 1, zk.leader_epoch 2)
leader_learns_isr_is_refused(leader=1)
    isr_write[1].state: refused → none
    isr_write[1].isr: {1,2} → {}
    isr_write[1].state_epoch: 1 → 0
broker_becomes_leader(broker=1, epoch=2, controller=1)
    request[2][1][1].in_flight: true → false
    request[2][1][1].isr: {1,2} → {}
    request[2][1][1].version: 3 → 0
    replica[1].epoch: 1 → 2
    replica[1].isr: {1,2,3} → {1,2}
    replica[1].zk_version: 1 → 3
    replica[1].epoch_start: 0 → 1
    replica[1].latest_epoch: 1 → 2

# The same in the new epoch, and nobody writes meanwhile: the leader finds its own.
quietly leader_shrinks_isr leader=1 replica=2
quietly isr_answer_is_lost leader=1
leader_finds_isr_written leader=1
check leader_is_current
----
leader_finds_isr_written(leader=1)
    replica[1].isr: {1,2} → {1}
    replica[1].zk_version: 3 → 4
    isr_write[1].state: refused → none
    isr_write[1].isr: {1} → {}
    isr_write[1].state_epoch: 1 → 0
leader_is_current: holds
