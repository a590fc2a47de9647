# A controller is deposed before it moves the leaders of a broker that shuts down.
# Shows: the move is a write, and the fence refuses it; a batch that writes nothing passes the fence.
system topics version 2.4 brokers 2 partitions 1

quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly replica_state_machine_starts broker=1
quietly partition_state_machine_starts broker=1
quietly admin_creates_topic first=2 second=1 third=none count=1
quietly controller_sees_topic broker=1
quietly controller_creates_new_partitions broker=1
quietly controller_creates_new_replicas broker=1
quietly controller_brings_partitions_online broker=1
quietly controller_brings_new_replicas_online broker=1
quietly controller_begins_controlled_shutdown broker=1 subject=2
refused controller_write_is_fenced broker=1
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=2
refused controller_moves_leaders broker=1
controller_write_is_fenced broker=1
check deposed_controllers_write_nothing

# The next is deposed as well, as soon as it has read that everybody is alive: it has nothing to write.
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=1
refused controller_write_is_fenced broker=2
replica_state_machine_starts broker=2
----
refused controller_write_is_fenced(broker=1)
    a newer controller epoch was won — false (belief[1] 1, zk.epoch 1)
refused controller_moves_leaders(broker=1)
    the epoch that it won is the newest — false (belief[1] 1, cache[1].gone 2, cache[1].live {1}, cache[1].queued false, cache[1].shutting {2}, cache[1][0].leader 2, cache[1][0].led true, cache[1][0][1].known 1, zk.epoch 2, zk[0].state.epoch 1, zk[0].state.isr {1,2}, zk[0][0].assignment 2)
controller_write_is_fenced(broker=1)
    belief[1]: 1 → 0
    cache[1].task: moves_leaders → reads_zookeeper
    cache[1].live: {1} → {}
    cache[1].reached: {1,2} → {}
    cache[1].shutting: {2} → {}
    cache[1].gone: 2 → none
    cache[1][0][0].known: 2 → none
    cache[1][0][1].known: 1 → none
    cache[1][0].led: true → false
    cache[1][0].leader: 2 → none
    cache[1][0].partition: OnlinePartition → NonExistentPartition
    cache[1][0][1].replica: OnlineReplica → NonExistentReplica
    cache[1][0][2].replica: OnlineReplica → NonExistentReplica
deposed_controllers_write_nothing: holds of every step
refused controller_write_is_fenced(broker=2)
    it is about to write — false (belief[2] 2, cache[2].gone none, cache[2].outdated false, cache[2].queued false, cache[2].task starts_replicas, zk[0][0].assignment 2)
replica_state_machine_starts(broker=2)
    cache[2].task: starts_replicas → starts_partitions
    request[2][1][0].order: none → follow
    request[2][2][0].order: none → lead

# Broker 1 asks to go, which follows: that it leaves the ISR is a write, too.
quietly partition_state_machine_starts broker=2
quietly controller_resigns broker=2
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly replica_state_machine_starts broker=1
quietly partition_state_machine_starts broker=1
quietly controller_begins_controlled_shutdown broker=1 subject=1
quietly controller_moves_leaders broker=1
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=2
refused controller_stops_followers broker=1
----
refused controller_stops_followers(broker=1)
    the epoch that it won is the newest — false (belief[1] 3, cache[1].gone 1, cache[1][0].followed true, cache[1][0].led true, cache[1][0][1].replica OnlineReplica, zk.epoch 4, zk[0].state.epoch 1, zk[0].state.exists true, zk[0].state.isr {1,2}, zk[0][0].assignment 2)
