# A leader writes the ISR while a controller handles dead brokers, perhaps the leader itself.
# Shows: the state is written as it was read, and by the newest controller; who is alive is not removed.
system reassignment version 2.3 brokers 2 replicas 2

quietly topic_is_created first=1 second=2 third=none
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly leader_appends leader=1
quietly session_expires broker=1
quietly controller_sees_broker_failure broker=2 dead=1
quietly broker_reconnects broker=1
leader_shrinks_isr leader=1 replica=2
refused controller_elects_leader broker=2 leader=2
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=1
refused controller_elects_leader broker=2 leader=2
quietly controller_resigns broker=2

# Broker 1 is away once more, alone in the ISR; then it takes broker 2 in.
quietly broker_learns_it_won broker=1
quietly session_expires broker=1
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly broker_reconnects broker=1
quietly controller_reads_context broker=2
quietly session_expires broker=1
quietly controller_sees_broker_failure broker=2 dead=1
quietly broker_reconnects broker=1
quietly follower_catches_up leader=1 follower=2
leader_expands_isr leader=1 replica=2
controller_write_conflicts broker=2
controller_removes_dead_replica broker=2 dead=1

# It has looked for a leader before, and looks again when a broker starts.
refused controller_elects_leader broker=2 leader=2
quietly controller_sees_broker_startup broker=2 started=1
controller_elects_leader broker=2 leader=2
check leader_in_isr
check isr_holds_committed
----
leader_shrinks_isr(leader=1, replica=2)
    zk.isr: {1,2} → {1}
    zk.version: 0 → 1
    replica[1].isr: {1,2} → {1}
    replica[1].zk_version: 0 → 1
    committed: {} → {0}
refused controller_elects_leader(broker=2, leader=2)
    the version that it read is current — false (cache[2].version 0, zk.version 1)
refused controller_elects_leader(broker=2, leader=2)
    the epoch that it won is the newest — false (belief[2] 1, zk.epoch 2)
leader_expands_isr(leader=1, replica=2)
    zk.isr: {1} → {1,2}
    zk.version: 1 → 2
    replica[1].isr: {1} → {1,2}
    replica[1].zk_version: 1 → 2
controller_write_conflicts(broker=2)
    cache[2].isr: {1} → {1,2}
    cache[2].version: 1 → 2
controller_removes_dead_replica(broker=2, dead=1)
    zk.leader: 1 → none
    zk.leader_epoch: 0 → 1
    zk.isr: {1,2} → {2}
    zk.version: 2 → 3
    cache[2].task: removing → idle
    cache[2].leader: 1 → none
    cache[2].isr: {1,2} → {2}
    cache[2].version: 2 → 3
    cache[2].epoch: 0 → 1
    request[1][3].to: {} → {2}
    request[1][3].isr: {} → {2}
    request[1][3].version: 0 → 3
    request[1][3].replicas: {} → {1,2}
    metadata[2].leader: 1 → none
refused controller_elects_leader(broker=2, leader=2)
    the partition has no live leader — false (cache[2].task idle)
controller_elects_leader(broker=2, leader=2)
    zk.leader: none → 2
    zk.leader_epoch: 1 → 2
    zk.version: 3 → 4
    cache[2].task: electing → idle
    cache[2].leader: none → 2
    cache[2].version: 3 → 4
    cache[2].epoch: 1 → 2
    request[2][3].to: {} → {1,2}
    request[2][3].leader: none → 2
    request[2][3].isr: {} → {2}
    request[2][3].version: 0 → 4
    request[2][3].replicas: {} → {1,2}
    metadata[1].leader: none → 2
    metadata[2].leader: none → 2
leader_in_isr: holds
isr_holds_committed: holds
