# A reassignment is requested during a failover, and is never noticed.
# Shows: from 2.0 to 2.3 who has begun what was asked for writes that again, from memory: a request
# that came since it looked is deleted. (KAFKA-6617 had it written; gone with KIP-455, 2.4)
system reassignment version 2.3 without request_znode_not_rewritten brokers 2 replicas 2

quietly topic_is_created first=2 second=1 third=none
quietly session_expires broker=1
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
controller_reads_context broker=2
admin_requests_reassignment first=2 second=none third=none

# It is done with the dead broker, and with that its failover is over.
controller_removes_dead_replica broker=2 dead=1
refused controller_begins_move broker=2
check request_is_removed_only_when_done
----
controller_reads_context(broker=2)
    cache[2].task: none → removing
    cache[2].leader: none → 2
    cache[2].isr: {} → {1,2}
    cache[2].live: {} → {2}
    cache[2].reached: {} → {2}
    cache[2][1].assignment: none → 1
    cache[2][2].assignment: none → 0
    cache[2].begins: false → true
    cache[2].resumes: false → true
    request[0][1].to: {} → {2}
    request[0][1].leader: none → 2
    request[0][1].isr: {} → {1,2}
    request[0][1].replicas: {} → {1,2}
    metadata[2].leader: none → 2
    metadata[2].controller: 0 → 1
admin_requests_reassignment(first=2, second=none, third=none)
    zk[2].requested: none → 0
    wanted[2]: none → 0
controller_removes_dead_replica(broker=2, dead=1)
    zk.leader_epoch: 0 → 1
    zk.isr: {1,2} → {2}
    zk.version: 0 → 1
    zk[2].requested: 0 → none
    cache[2].task: removing → idle
    cache[2].isr: {1,2} → {2}
    cache[2].version: 0 → 1
    cache[2].epoch: 0 → 1
    cache[2].begins: true → false
    cache[2].resumes: true → false
    request[1][1].to: {} → {2}
    request[1][1].leader: none → 2
    request[1][1].isr: {} → {2}
    request[1][1].version: 0 → 1
    request[1][1].replicas: {} → {1,2}
refused controller_begins_move(broker=2)
    the request names the partition — false (cache[2].task idle)
request_is_removed_only_when_done: broken — a request is removed from ZooKeeper only when its reassignment is done or refused, unless a request was withdrawn
    (wanted[1] none, wanted[2] 0, withdrawn false, zk[1].assignment 1)
