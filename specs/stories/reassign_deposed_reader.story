# A controller that is already deposed reads the cluster, and sends a leader wrong replicas.
# Shows: a limit. No read is fenced: it sends, under the leader epoch that its successor wrote, the
# list of replicas that its successor is shortening; the leader takes the first that comes.
system reassignment version 2.3 brokers 2

quietly topic_is_created first=1 second=2 third=none
quietly admin_requests_reassignment first=1 second=none third=none
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1

# Broker 1 won, and before it reads anything broker 2 takes over and comes as far as step 8.
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly controller_begins_with_targets_in_sync broker=2
quietly controller_sets_target_in_memory broker=2
quietly controller_keeps_leader broker=2
controller_takes_old_replica_offline broker=2 replica=2
controller_reads_context broker=1
check a_deposed_controller_reads
----
controller_takes_old_replica_offline(broker=2, replica=2)
    zk.leader_epoch: 1 → 2
    zk.isr: {1,2} → {1}
    zk.version: 1 → 2
    cache[2].isr: {1,2} → {1}
    cache[2].version: 1 → 2
    cache[2].epoch: 1 → 2
    cache[2].leaving: {2} → {}
    request[2][2].to: {} → {1}
    request[2][2].leader: none → 1
    request[2][2].isr: {} → {1}
    request[2][2].version: 0 → 2
    request[2][2].replicas: {} → {1}
    stop[2][2].what: none → stop
    stop[2][2].epoch: 0 → 2
controller_reads_context(broker=1)
    cache[1].task: none → beginning
    cache[1].leader: none → 1
    cache[1].isr: {} → {1}
    cache[1].version: 0 → 2
    cache[1].epoch: 0 → 2
    cache[1].live: {} → {1,2}
    cache[1].reached: {} → {1,2}
    cache[1][1].assignment: none → 0
    cache[1][2].assignment: none → 1
    cache[1][1].target: none → 0
    request[2][1].to: {} → {1,2}
    request[2][1].leader: none → 1
    request[2][1].isr: {} → {1}
    request[2][1].version: 0 → 2
    request[2][1].replicas: {} → {1,2}
    read_late: false → true
a_deposed_controller_reads: so it is — a controller read the cluster after it was deposed

quietly controller_deletes_old_replicas broker=2
quietly controller_writes_target_replicas broker=2
broker_becomes_leader broker=1 epoch=2 controller=1
broker_becomes_follower broker=2 epoch=2 controller=1
leader_expands_isr leader=1 replica=2
show zk.assignment
----
broker_becomes_leader(broker=1, epoch=2, controller=1)
    request[2][1].to: {1,2} → {2}
    replica[1].epoch: 0 → 2
    replica[1].isr: {1,2} → {1}
    replica[1].zk_version: 0 → 2
    replica[1].controller_epoch: 0 → 1
broker_becomes_follower(broker=2, epoch=2, controller=1)
    request[2][1].to: {2} → {}
    request[2][1].leader: 1 → none
    request[2][1].isr: {1} → {}
    request[2][1].version: 2 → 0
    request[2][1].replicas: {1,2} → {}
    replica[2].epoch: 0 → 2
    replica[2].controller_epoch: 0 → 1
leader_expands_isr(leader=1, replica=2)
    zk.isr: {1} → {1,2}
    zk.version: 2 → 3
    replica[1].isr: {1} → {1,2}
    replica[1].zk_version: 2 → 3
zk[1].assignment: 0
zk[2].assignment: none

# Broker 2 obeys its own StopReplica as well: it is in the ISR, and not assigned, and has no log.
quietly older_epoch_is_refused broker=2 epoch=0 controller=2
quietly older_epoch_is_refused broker=2 epoch=1 controller=2
broker_deletes_replica broker=2 controller=2
show zk.isr
----
broker_deletes_replica(broker=2, controller=2)
    stop[2][2].what: delete → none
    stop[2][2].epoch: 2 → 0
    replica[2].role: follower → none
    replica[2].leader: 1 → none
    replica[2].epoch: 2 → none
zk.isr: {1,2}
