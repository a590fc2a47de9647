# A leader's session ends while its ISR write is unanswered: the leader gives up the write.
# Shows: what KAFKA-1382 left open. The ISR is registered, and its own leader does not know: every
# other change of it is refused, until the leader tries the same again, or a new epoch comes.
# (ZooKeeperClientExpiredException out of KafkaZkClient.retryRequestsUntilConnected)
system replication version 2.3 brokers 3

quietly broker_becomes_controller broker=3
quietly broker_learns_it_won broker=3
quietly controller_reads_partition broker=3
quietly controller_elects_leader broker=3 leader=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly leader_appends broker=1
quietly leader_shrinks_isr leader=1 replica=3
quietly isr_answer_is_lost leader=1
session_expires broker=1
refused leader_finds_isr_written leader=1
leader_gives_up_isr_write leader=1
quietly broker_reconnects broker=1
show replica[1].isr
show zk.isr
check leader_is_current
----
session_expires(broker=1)
    zk.registered: {1,2,3} → {2,3}
refused leader_finds_isr_written(leader=1)
    it has a ZooKeeper session — false (zk.registered {2,3})
leader_gives_up_isr_write(leader=1)
    isr_write[1].state: refused → none
    isr_write[1].isr: {1,2} → {}
    isr_write[1].state_epoch: 1 → 0
    gave_up: {} → {1}
replica[1].isr: {1,2,3}
zk.isr: {1,2}
leader_is_current: holds

# Another change is refused, however often: "Cached zkVersion not equal to that in zookeeper".
quietly leader_shrink_is_refused leader=1 replica=2
leader_learns_isr_is_refused leader=1
show replica[1].isr
----
leader_learns_isr_is_refused(leader=1)
    isr_write[1].state: refused → none
    isr_write[1].isr: {1,3} → {}
    isr_write[1].state_epoch: 1 → 0
replica[1].isr: {1,2,3}

# The same change is refused too, and found done.
quietly leader_shrink_is_refused leader=1 replica=3
leader_finds_isr_written leader=1
check leader_is_current
----
leader_finds_isr_written(leader=1)
    replica[1].isr: {1,2,3} → {1,2}
    replica[1].zk_version: 1 → 2
    isr_write[1].state: refused → none
    isr_write[1].isr: {1,2} → {}
    isr_write[1].state_epoch: 1 → 0
    gave_up: {1} → {}
leader_is_current: holds
