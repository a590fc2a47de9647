# What is refused around the election of a leader, and after the last member of the ISR has died.
# Shows: nobody from outside the ISR is elected, and the last member stays in it; each line is
# refused for one reason alone.
system reassignment version 2.3 brokers 3

quietly topic_is_created first=1 second=2 third=3
quietly broker_becomes_controller broker=3
quietly broker_learns_it_won broker=3
quietly controller_reads_context broker=3
quietly leader_appends leader=1
quietly leader_shrinks_isr leader=1 replica=3
quietly broker_crashes broker=1
quietly session_expires broker=1
controller_sees_broker_failure broker=3 dead=1
refused controller_elects_leader broker=3 leader=3
controller_elects_leader broker=3 leader=2
quietly broker_crashes broker=2
quietly session_expires broker=2
quietly controller_sees_broker_failure broker=3 dead=2
controller_removes_dead_replica broker=3 dead=2
refused controller_removes_dead_replica broker=3 dead=2
check leader_in_isr
----
controller_sees_broker_failure(broker=3, dead=1)
    cache[3].task: idle → electing
    cache[3].isr: {1,2,3} → {1,2}
    cache[3].version: 0 → 1
    cache[3].live: {1,2,3} → {2,3}
    cache[3].reached: {1,2,3} → {2,3}
refused controller_elects_leader(broker=3, leader=3)
    the candidate is alive, assigned, in the ISR — false (cache[3].isr {1,2})
controller_elects_leader(broker=3, leader=2)
    zk.leader: 1 → 2
    zk.leader_epoch: 0 → 1
    zk.isr: {1,2} → {2}
    zk.version: 1 → 2
    cache[3].task: electing → idle
    cache[3].leader: 1 → 2
    cache[3].isr: {1,2} → {2}
    cache[3].version: 1 → 2
    cache[3].epoch: 0 → 1
    request[1][1].to: {} → {2,3}
    request[1][1].leader: none → 2
    request[1][1].isr: {} → {2}
    request[1][1].version: 0 → 2
    request[1][1].replicas: {} → {1,2,3}
    metadata[2].leader: 1 → 2
    metadata[3].leader: 1 → 2
controller_removes_dead_replica(broker=3, dead=2)
    zk.leader: 2 → none
    zk.leader_epoch: 1 → 2
    zk.version: 2 → 3
    cache[3].task: removing → idle
    cache[3].leader: 2 → none
    cache[3].version: 2 → 3
    cache[3].epoch: 1 → 2
    request[2][1].to: {} → {3}
    request[2][1].isr: {} → {2}
    request[2][1].version: 0 → 3
    request[2][1].replicas: {} → {1,2,3}
    metadata[3].leader: 2 → none
refused controller_removes_dead_replica(broker=3, dead=2)
    a member of the ISR or the leader is dead — false (cache[3].task idle)
leader_in_isr: holds
