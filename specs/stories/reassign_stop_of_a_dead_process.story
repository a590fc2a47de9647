# StopReplica to a broker whose process has died, and whose session has not expired.
# Shows: StopReplica waits for a process that never takes it.
system reassignment version 2.3 brokers 2 replicas 2

quietly topic_is_created first=1 second=2 third=none
quietly admin_requests_reassignment first=1 second=none third=none
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly controller_begins_with_targets_in_sync broker=1
quietly controller_sets_target_in_memory broker=1
quietly controller_keeps_leader broker=1
quietly broker_crashes broker=2
controller_takes_old_replica_offline broker=1 replica=2
refused broker_stops_replica broker=2 controller=1
----
controller_takes_old_replica_offline(broker=1, replica=2)
    zk.leader_epoch: 1 → 2
    zk.isr: {1,2} → {1}
    zk.version: 1 → 2
    cache[1].isr: {1,2} → {1}
    cache[1].version: 1 → 2
    cache[1].epoch: 1 → 2
    cache[1].leaving: {2} → {}
    request[2][1].to: {} → {1}
    request[2][1].leader: none → 1
    request[2][1].isr: {} → {1}
    request[2][1].version: 0 → 2
    request[2][1].replicas: {} → {1}
    stop[1][2].what: none → stop
    stop[1][2].epoch: 0 → 2
refused broker_stops_replica(broker=2, controller=1)
    the process runs — false (up {1})
