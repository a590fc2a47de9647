# A controller crashes while it creates a topic; the next one completes the creation.
# Shows: what is only in a controller's memory is made again from ZooKeeper: a partition without a
# state is new, and the start of the partition state machine gives it a leader.
system topics version 2.3 brokers 2 partitions 1

quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly replica_state_machine_starts broker=1
quietly partition_state_machine_starts broker=1
quietly admin_creates_topic first=1 second=2 third=none count=1
quietly controller_sees_topic broker=1
quietly controller_creates_new_partitions broker=1
quietly controller_creates_new_replicas broker=1
show cache[1].task

# Before the state is written: the topic is in ZooKeeper, and has no leader.
broker_crashes broker=1
refused broker_becomes_controller broker=2
session_expires broker=1
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
controller_reads_context broker=2
replica_state_machine_starts broker=2
partition_state_machine_starts broker=2
broker_obeys_leader_and_isr broker=2 controller=2
check a_topic_is_led

# The broker that crashed comes back: the controller tells it, and it joins the ISR again.
quietly broker_starts broker=1
controller_sees_start broker=2 started=1
quietly controller_elects_for_started broker=2
broker_obeys_leader_and_isr broker=1 controller=2
leader_expands_isr leader=2 replica=1 partition=0
check idle_controller_knows_zookeeper
----
cache[1].task: elects_new
broker_crashes(broker=1)
    up: {1,2} → {2}
    belief[1]: 1 → 0
    cache[1].task: elects_new → reads_zookeeper
    cache[1].live: {1,2} → {}
    cache[1].reached: {1,2} → {}
    cache[1][0][0].known: 1 → none
    cache[1][0][1].known: 2 → none
    cache[1][0].partition: NewPartition → NonExistentPartition
    cache[1][0][1].replica: NewReplica → NonExistentReplica
    cache[1][0][2].replica: NewReplica → NonExistentReplica
refused broker_becomes_controller(broker=2)
    /controller does not exist — false (zk.controller 1)
session_expires(broker=1)
    zk.controller: 1 → none
    zk.registered: {1,2} → {2}
controller_reads_context(broker=2)
    cache[2].task: reads_zookeeper → starts_replicas
    cache[2].live: {} → {2}
    cache[2].reached: {} → {2}
    cache[2][0][0].known: none → 1
    cache[2][0][1].known: none → 2
    cache[2][0].partition: NonExistentPartition → NewPartition
    cache[2][0][1].replica: NonExistentReplica → ReplicaDeletionIneligible
    cache[2][0][2].replica: NonExistentReplica → OnlineReplica
replica_state_machine_starts(broker=2)
    cache[2].task: starts_replicas → starts_partitions
    cache[2][0][1].replica: ReplicaDeletionIneligible → OfflineReplica
partition_state_machine_starts(broker=2)
    zk[0].state.exists: false → true
    zk[0].state.leader: none → 2
    zk[0].state.isr: {} → {2}
    zk[0].state.epoch: 0 → 2
    cache[2].task: starts_partitions → waits
    cache[2][0].led: false → true
    cache[2][0].leader: none → 2
    cache[2][0].partition: NewPartition → OnlinePartition
    request[2][2][0].order: none → lead
broker_obeys_leader_and_isr(broker=2, controller=2)
    request[2][2][0].order: lead → none
    seen[2]: 0 → 2
    replica[2][0].role: none → leader
    replica[2][0].directory: none → current
a_topic_is_led: so it is — every partition of a topic has a leader, and the broker leads
controller_sees_start(broker=2, started=1)
    cache[2].task: waits → elects_for_started
    cache[2].live: {2} → {1,2}
    cache[2].reached: {2} → {1,2}
    cache[2][0][1].replica: OfflineReplica → OnlineReplica
    request[2][1][0].order: none → follow
broker_obeys_leader_and_isr(broker=1, controller=2)
    request[2][1][0].order: follow → none
    seen[1]: 0 → 2
    replica[1][0].role: none → follower
    replica[1][0].directory: none → current
leader_expands_isr(leader=2, replica=1, partition=0)
    zk[0].state.isr: {2} → {1,2}
idle_controller_knows_zookeeper: holds
