# A leader cannot remove a broker from its ISR that is not one of its replicas.
# Shows: the last request of a move sends a list of replicas shorter than the ISR; the expiration of the
# ISR throws over whoever is not in the list, and drops nobody. (KAFKA-9672, 2.4 to 2.8)
system reassignment version 2.4 without leader_drops_non_replicas brokers 2

quietly topic_is_created first=1 second=2 third=none
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly older_epoch_is_refused broker=1 epoch=0 controller=1
quietly controller_is_asked_to_reassign broker=1 first=1 second=none third=none
quietly controller_sets_target_in_memory broker=1
controller_keeps_leader broker=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly leader_appends leader=1
refused leader_shrinks_isr leader=1 replica=2
leader_throws_on_non_replica_in_isr leader=1 replica=2
check isr_has_a_non_replica
check lagging_replicas_can_leave_the_isr
----
controller_keeps_leader(broker=1)
    zk.leader_epoch: 0 → 1
    zk.version: 0 → 1
    cache[1].task: leading → leaving
    cache[1].version: 0 → 1
    cache[1].epoch: 0 → 1
    request[1][1].to: {} → {1}
    request[1][1].leader: none → 1
    request[1][1].isr: {} → {1,2}
    request[1][1].version: 0 → 1
    request[1][1].replicas: {} → {1}
refused leader_shrinks_isr(leader=1, replica=2)
    the leader knows it as a replica — false (replica[1].replicas {1})
leader_throws_on_non_replica_in_isr(leader=1, replica=2)
    stuck: false → true
isr_has_a_non_replica: so it is — a leader has a lagging broker in its ISR that is not one of its replicas
lagging_replicas_can_leave_the_isr: broken — a leader can remove a lagging broker from its ISR, whether it is a replica or not
    (stuck true)
