# A follower dies, and its leader removes it from the ISR before the controller does.
# Shows: who is alive is not removed, and nobody by a controller that is late or deposed.
system reassignment version 2.3 brokers 2 replicas 2

quietly topic_is_created first=1 second=2 third=none
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly leader_appends leader=1
quietly session_expires broker=2
quietly controller_sees_broker_failure broker=1 dead=2
refused controller_removes_dead_replica broker=1 dead=1
leader_shrinks_isr leader=1 replica=2
refused controller_removes_dead_replica broker=1 dead=2
quietly broker_reconnects broker=2
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=2
refused controller_removes_dead_replica broker=1 dead=2
quietly controller_resigns broker=1
quietly broker_learns_it_won broker=2
quietly session_expires broker=1
quietly controller_reads_context broker=2
quietly broker_reconnects broker=1
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=1
check leader_in_isr
----
refused controller_removes_dead_replica(broker=1, dead=1)
    the replica is dead — false (cache[1].live {1})
leader_shrinks_isr(leader=1, replica=2)
    zk.isr: {1,2} → {1}
    zk.version: 0 → 1
    replica[1].isr: {1,2} → {1}
    replica[1].zk_version: 0 → 1
refused controller_removes_dead_replica(broker=1, dead=2)
    the version that it read is current — false (cache[1].version 0, zk.version 1)
refused controller_removes_dead_replica(broker=1, dead=2)
    the epoch that it won is the newest — false (belief[1] 1, zk.epoch 2)
leader_in_isr: holds
