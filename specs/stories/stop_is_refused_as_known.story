# Since 2.6 a broker that shuts down keeps following: it refuses the StopReplica.
# Shows: the request has the leader epoch of the partition, which the broker knows already; only a
# newer one is obeyed, or that of a topic which is deleted. (KIP-570, 2.6; the same will do in 3.5)
system topics version 2.7 brokers 2 partitions 1

quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly replica_state_machine_starts broker=1
quietly partition_state_machine_starts broker=1
quietly admin_creates_topic first=1 second=2 third=none count=1
quietly controller_sees_topic broker=1
quietly controller_creates_new_partitions broker=1
quietly controller_creates_new_replicas broker=1
quietly controller_brings_partitions_online broker=1
quietly controller_brings_new_replicas_online broker=1
quietly broker_obeys_leader_and_isr broker=1 controller=1
quietly broker_obeys_leader_and_isr broker=2 controller=1
quietly controller_begins_controlled_shutdown broker=1 subject=2
quietly controller_moves_leaders broker=1
controller_stops_followers broker=1
broker_stops_replicas broker=2 controller=1
show replica[2][0].role
check leader_in_isr
----
controller_stops_followers(broker=1)
    zk[0].state.isr: {1,2} → {1}
    cache[1].task: stops_followers → waits
    cache[1].gone: 2 → none
    cache[1][0].followed: true → false
    cache[1][0][2].replica: OnlineReplica → OfflineReplica
    request[1][1][0].order: none → lead
    request[1][2][0].stop: none → fenced
broker_stops_replicas(broker=2, controller=1)
    request[1][2][0].stop: fenced → none
replica[2][0].role: follower
leader_in_isr: holds
