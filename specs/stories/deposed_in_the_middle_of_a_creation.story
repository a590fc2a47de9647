# A controller is deposed while it creates a topic: its write is refused, and so are its requests.
# Shows: the fence of /controller_epoch (KAFKA-6082), and what brokers do with an older controller.
system topics version 2.3 brokers 2 partitions 1

# A broker that crashed is no candidate, nor one that is the controller or does not know yet.
quietly broker_crashes broker=2
refused broker_becomes_controller broker=2
quietly session_expires broker=2
quietly broker_starts broker=2
quietly broker_becomes_controller broker=1
quietly controller_node_is_deleted
refused broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
refused broker_becomes_controller broker=1
quietly controller_reads_context broker=1
quietly replica_state_machine_starts broker=1
quietly partition_state_machine_starts broker=1
quietly admin_creates_topic first=1 second=2 third=none count=1
quietly controller_sees_topic broker=1
quietly controller_creates_new_partitions broker=1
quietly controller_creates_new_replicas broker=1
controller_brings_partitions_online broker=1
quietly controller_brings_new_replicas_online broker=1
refused controller_sees_topic broker=1

# Its successor reads what is there; broker 2 hears it first, and the older one in vain.
quietly broker_becomes_controller broker=2
refused reply_to_registration_is_lost broker=1
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly replica_state_machine_starts broker=2
broker_obeys_leader_and_isr broker=2 controller=2
refused broker_obeys_leader_and_isr broker=2 controller=1
broker_refuses_older_controller broker=2 controller=1

# The deposed one still hears that the topic is to be deleted, and gets as far as the first write.
quietly admin_deletes_topic
controller_queues_deletion broker=1
deletion_starts broker=1
refused controller_stops_replicas broker=1
controller_write_is_fenced broker=1
check deposed_controllers_write_nothing
check idle_controller_knows_zookeeper
----
refused broker_becomes_controller(broker=2)
    its process runs — false (up {1})
refused broker_becomes_controller(broker=1)
    it has learned the outcome of its registration — false (campaign[1] 1)
refused broker_becomes_controller(broker=1)
    it does not believe it is the controller — false (belief[1] 1)
controller_brings_partitions_online(broker=1)
    zk[0].state.exists: false → true
    zk[0].state.leader: none → 1
    zk[0].state.isr: {} → {1,2}
    zk[0].state.epoch: 0 → 1
    cache[1].task: elects_new → enlists
    cache[1][0].led: false → true
    cache[1][0].leader: none → 1
    cache[1][0].partition: NewPartition → OnlinePartition
    request[1][1][0].order: none → lead
    request[1][2][0].order: none → follow
refused controller_sees_topic(broker=1)
    its watch of /brokers/topics fired — false (cache[1].fired.topics false)
refused reply_to_registration_is_lost(broker=1)
    the broker won and has not learned that yet — false (campaign[1] 0)
broker_obeys_leader_and_isr(broker=2, controller=2)
    request[2][2][0].order: follow → none
    seen[2]: 0 → 2
    replica[2][0].role: none → follower
    replica[2][0].directory: none → current
refused broker_obeys_leader_and_isr(broker=2, controller=1)
    it has seen no newer controller — false (seen[2] 2)
broker_refuses_older_controller(broker=2, controller=1)
    request[1][2][0].order: follow → none
controller_queues_deletion(broker=1)
    cache[1].task: waits → resumes
    cache[1].fired.deletions: true → false
    cache[1].queued: false → true
deletion_starts(broker=1)
    cache[1].task: resumes → stops
    cache[1][0].partition: OnlinePartition → NonExistentPartition
    cache[1].started: false → true
refused controller_stops_replicas(broker=1)
    the epoch that it won is the newest — false (belief[1] 1, cache[1].live {1,2}, cache[1][0].led true, cache[1][0][0].known 1, cache[1][0][1].replica OnlineReplica, zk.epoch 2, zk[0].state.epoch 1, zk[0].state.exists true, zk[0].state.isr {1,2}, zk[0][0].assignment 1)
controller_write_is_fenced(broker=1)
    belief[1]: 1 → 0
    cache[1].task: stops → reads_zookeeper
    cache[1].live: {1,2} → {}
    cache[1].reached: {1,2} → {}
    cache[1][0][0].known: 1 → none
    cache[1][0][1].known: 2 → none
    cache[1][0].led: true → false
    cache[1][0].leader: 1 → none
    cache[1][0][1].replica: OnlineReplica → NonExistentReplica
    cache[1][0][2].replica: OnlineReplica → NonExistentReplica
    cache[1].queued: true → false
    cache[1].started: true → false
deposed_controllers_write_nothing: holds of every step
idle_controller_knows_zookeeper: holds
