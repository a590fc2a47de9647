# A fourth partition is added to topic_a: it is placed by the first partition, and nothing is drawn.
# Shows: the start and the shift are both where the first replica of partition 0 is, so partition 3
# gets [1,2,0] (article 003); four partitions drawn at once, with the start 1 and the shift 2, would
# have given it [1,0,2]. The article's brokers 0, 1 and 2 are 1, 2 and 3 here.
system topics version 2.3 brokers 3 partitions 5

quietly broker_becomes_controller broker=3
quietly broker_learns_it_won broker=3
quietly admin_creates_topic first=2 second=3 third=1 count=3
quietly controller_reads_context broker=3
quietly replica_state_machine_starts broker=3
quietly partition_state_machine_starts broker=3
show cache[3].partition

# It must have as many replicas as the others, and no broker twice.
refused admin_adds_partition partition=3 first=2 second=3 third=none
refused admin_adds_partition partition=3 first=2 second=3 third=2
refused admin_adds_partition partition=4 first=2 second=3 third=1
admin_adds_partition partition=3 first=2 second=3 third=1
refused controller_undoes_addition broker=3
controller_sees_partitions broker=3
quietly controller_creates_new_partitions broker=3
quietly controller_creates_new_replicas broker=3
controller_brings_partitions_online broker=3
quietly controller_brings_new_replicas_online broker=3
quietly broker_obeys_leader_and_isr broker=2 controller=1
quietly broker_obeys_leader_and_isr broker=3 controller=1
quietly broker_obeys_leader_and_isr broker=1 controller=1
show zk.assignment
check a_topic_is_led
check idle_controller_knows_zookeeper
----
cache[3][0].partition: OnlinePartition
cache[3][1].partition: OnlinePartition
cache[3][2].partition: OnlinePartition
refused admin_adds_partition(partition=3, first=2, second=3, third=none)
    it has as many replicas as the others — false (zk[0][2].assignment 1)
refused admin_adds_partition(partition=3, first=2, second=3, third=2)
    no broker is twice in the list — false
refused admin_adds_partition(partition=4, first=2, second=3, third=1)
    partitions are numbered without a gap — false (zk[3][0].assignment none)
admin_adds_partition(partition=3, first=2, second=3, third=1)
    zk[3][0].assignment: none → 2
    zk[3][1].assignment: none → 3
    zk[3][2].assignment: none → 1
    cache[3].fired.partitions: false → true
refused controller_undoes_addition(broker=3)
    the topic is queued for deletion — false (cache[3].queued false)
controller_sees_partitions(broker=3)
    cache[3].task: waits → makes_partitions
    cache[3].fired.partitions: true → false
    cache[3][3][0].known: none → 2
    cache[3][3][1].known: none → 3
    cache[3][3][2].known: none → 1
controller_brings_partitions_online(broker=3)
    zk[3].state.exists: false → true
    zk[3].state.leader: none → 2
    zk[3].state.isr: {} → {1,2,3}
    zk[3].state.epoch: 0 → 1
    cache[3].task: elects_new → enlists
    cache[3][3].led: false → true
    cache[3][3].leader: none → 2
    cache[3][3].partition: NewPartition → OnlinePartition
    request[1][1][3].order: none → follow
    request[1][2][3].order: none → lead
    request[1][3][3].order: none → follow
zk[0][0].assignment: 2
zk[0][1].assignment: 3
zk[0][2].assignment: 1
zk[1][0].assignment: 3
zk[1][1].assignment: 1
zk[1][2].assignment: 2
zk[2][0].assignment: 1
zk[2][1].assignment: 2
zk[2][2].assignment: 3
zk[3][0].assignment: 2
zk[3][1].assignment: 3
zk[3][2].assignment: 1
a_topic_is_led: so it is — every partition of a topic has a leader, and the broker leads
idle_controller_knows_zookeeper: holds
