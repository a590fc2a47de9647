# A topic of three partitions and three replicas is placed, and created in five batches.
# Shows: topic_a with the start 1 and the shift 2, as article 003 computes: [1,2,0], [2,0,1],
# [0,1,2]. Its brokers 0, 1 and 2 are 1, 2 and 3 here.
system topics version 2.3 brokers 3 partitions 4

quietly broker_becomes_controller broker=3
quietly broker_learns_it_won broker=3
quietly controller_reads_context broker=3
quietly replica_state_machine_starts broker=3
quietly partition_state_machine_starts broker=3
refused admin_adds_partition partition=0 first=2 second=3 third=1
refused admin_deletes_topic
admin_creates_topic first=2 second=3 third=1 count=3
refused admin_creates_topic first=2 second=3 third=1 count=3

# The controller reads the lists and watches the node. Its memory: new partitions, new replicas.
controller_sees_topic broker=3
controller_creates_new_partitions broker=3
quietly controller_creates_new_replicas broker=3
show cache[3].replica

# The first live replica of each leads, and the live ones are its ISR: three writes, and to each
# broker one LeaderAndIsr about all three.
controller_brings_partitions_online broker=3
controller_brings_new_replicas_online broker=3
broker_obeys_leader_and_isr broker=2 controller=1
quietly broker_obeys_leader_and_isr broker=3 controller=1
quietly broker_obeys_leader_and_isr broker=1 controller=1
show replica
check a_topic_is_led
check idle_controller_knows_zookeeper
----
refused admin_adds_partition(partition=0, first=2, second=3, third=1)
    the topic exists — false (zk[0][0].assignment none)
refused admin_deletes_topic()
    the topic exists — false (zk[0][0].assignment none)
admin_creates_topic(first=2, second=3, third=1, count=3)
    zk[0][0].assignment: none → 2
    zk[0][1].assignment: none → 3
    zk[0][2].assignment: none → 1
    zk[1][0].assignment: none → 3
    zk[1][1].assignment: none → 1
    zk[1][2].assignment: none → 2
    zk[2][0].assignment: none → 1
    zk[2][1].assignment: none → 2
    zk[2][2].assignment: none → 3
    cache[3].fired.topics: false → true
refused admin_creates_topic(first=2, second=3, third=1, count=3)
    there is no topic of that name — false (zk[0][0].assignment 2)
controller_sees_topic(broker=3)
    cache[3].task: waits → makes_partitions
    cache[3].fired.topics: true → false
    cache[3][0][0].known: none → 2
    cache[3][0][1].known: none → 3
    cache[3][0][2].known: none → 1
    cache[3][1][0].known: none → 3
    cache[3][1][1].known: none → 1
    cache[3][1][2].known: none → 2
    cache[3][2][0].known: none → 1
    cache[3][2][1].known: none → 2
    cache[3][2][2].known: none → 3
controller_creates_new_partitions(broker=3)
    cache[3].task: makes_partitions → makes_replicas
    cache[3][0].partition: NonExistentPartition → NewPartition
    cache[3][1].partition: NonExistentPartition → NewPartition
    cache[3][2].partition: NonExistentPartition → NewPartition
cache[3][0][1].replica: NewReplica
cache[3][0][2].replica: NewReplica
cache[3][0][3].replica: NewReplica
cache[3][1][1].replica: NewReplica
cache[3][1][2].replica: NewReplica
cache[3][1][3].replica: NewReplica
cache[3][2][1].replica: NewReplica
cache[3][2][2].replica: NewReplica
cache[3][2][3].replica: NewReplica
controller_brings_partitions_online(broker=3)
    zk[0].state.exists: false → true
    zk[1].state.exists: false → true
    zk[2].state.exists: false → true
    zk[0].state.leader: none → 2
    zk[1].state.leader: none → 3
    zk[2].state.leader: none → 1
    zk[0].state.isr: {} → {1,2,3}
    zk[1].state.isr: {} → {1,2,3}
    zk[2].state.isr: {} → {1,2,3}
    zk[0].state.epoch: 0 → 1
    zk[1].state.epoch: 0 → 1
    zk[2].state.epoch: 0 → 1
    cache[3].task: elects_new → enlists
    cache[3][0].led: false → true
    cache[3][1].led: false → true
    cache[3][2].led: false → true
    cache[3][0].leader: none → 2
    cache[3][1].leader: none → 3
    cache[3][2].leader: none → 1
    cache[3][0].partition: NewPartition → OnlinePartition
    cache[3][1].partition: NewPartition → OnlinePartition
    cache[3][2].partition: NewPartition → OnlinePartition
    request[1][1][0].order: none → follow
    request[1][1][1].order: none → follow
    request[1][1][2].order: none → lead
    request[1][2][0].order: none → lead
    request[1][2][1].order: none → follow
    request[1][2][2].order: none → follow
    request[1][3][0].order: none → follow
    request[1][3][1].order: none → lead
    request[1][3][2].order: none → follow
controller_brings_new_replicas_online(broker=3)
    cache[3].task: enlists → waits
    cache[3][0][1].replica: NewReplica → OnlineReplica
    cache[3][0][2].replica: NewReplica → OnlineReplica
    cache[3][0][3].replica: NewReplica → OnlineReplica
    cache[3][1][1].replica: NewReplica → OnlineReplica
    cache[3][1][2].replica: NewReplica → OnlineReplica
    cache[3][1][3].replica: NewReplica → OnlineReplica
    cache[3][2][1].replica: NewReplica → OnlineReplica
    cache[3][2][2].replica: NewReplica → OnlineReplica
    cache[3][2][3].replica: NewReplica → OnlineReplica
broker_obeys_leader_and_isr(broker=2, controller=1)
    request[1][2][0].order: lead → none
    request[1][2][1].order: follow → none
    request[1][2][2].order: follow → none
    seen[2]: 0 → 1
    replica[2][0].role: none → leader
    replica[2][1].role: none → follower
    replica[2][2].role: none → follower
    replica[2][0].directory: none → current
    replica[2][1].directory: none → current
    replica[2][2].directory: none → current
replica[1][0].role: follower
replica[1][1].role: follower
replica[1][2].role: leader
replica[2][0].role: leader
replica[2][1].role: follower
replica[2][2].role: follower
replica[3][0].role: follower
replica[3][1].role: leader
replica[3][2].role: follower
replica[1][0].directory: current
replica[1][1].directory: current
replica[1][2].directory: current
replica[2][0].directory: current
replica[2][1].directory: current
replica[2][2].directory: current
replica[3][0].directory: current
replica[3][1].directory: current
replica[3][2].directory: current
a_topic_is_led: so it is — every partition of a topic has a leader, and the broker leads
idle_controller_knows_zookeeper: holds
