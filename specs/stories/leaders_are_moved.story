# A broker shuts down: another one leads its partitions before it stops; later it leads again.
# Shows: the strategy of controlled shutdown gives its partition to the first of the ISR that stays
# and takes it out of the ISR; the preferred one gives it back when it has caught up.
system topics version 2.3 brokers 3 partitions 2

quietly broker_becomes_controller broker=3
quietly broker_learns_it_won broker=3
quietly controller_reads_context broker=3
quietly replica_state_machine_starts broker=3
quietly partition_state_machine_starts broker=3
quietly admin_creates_topic first=1 second=2 third=none count=2
quietly controller_sees_topic broker=3
quietly controller_creates_new_partitions broker=3
quietly controller_creates_new_replicas broker=3
quietly controller_brings_partitions_online broker=3
quietly controller_brings_new_replicas_online broker=3
quietly broker_obeys_leader_and_isr broker=1 controller=1
quietly broker_obeys_leader_and_isr broker=2 controller=1

# It leads partition 0 and follows in partition 1.
controller_begins_controlled_shutdown broker=3 subject=1
refused controller_elects_preferred broker=3 partition=0
refused controller_stops_followers broker=3
controller_moves_leaders broker=3
controller_stops_followers broker=3
refused controller_begins_controlled_shutdown broker=3 subject=1
refused controller_elects_preferred broker=3 partition=0
quietly broker_obeys_leader_and_isr broker=2 controller=1
broker_obeys_leader_and_isr broker=1 controller=1
broker_stops_replicas broker=1 controller=1

# It stops, is started, and fetches what it lacks.
quietly broker_crashes broker=1
quietly session_expires broker=1
controller_sees_failure broker=3 failed=1
quietly controller_elects_for_failed broker=3
quietly controller_takes_replicas_offline broker=3
quietly broker_starts broker=1
quietly controller_sees_start broker=3 started=1
quietly controller_elects_for_started broker=3
quietly broker_obeys_leader_and_isr broker=1 controller=1
quietly broker_obeys_leader_and_isr broker=2 controller=1
refused controller_elects_preferred broker=3 partition=0
leader_expands_isr leader=2 replica=1 partition=0
controller_elects_preferred broker=3 partition=0
check leader_in_isr
check brokers_shutting_down_are_not_elected
----
controller_begins_controlled_shutdown(broker=3, subject=1)
    cache[3].task: waits → moves_leaders
    cache[3].live: {1,2,3} → {2,3}
    cache[3].shutting: {} → {1}
    cache[3].gone: none → 1
    cache[3][1].followed: false → true
refused controller_elects_preferred(broker=3, partition=0)
    it is not in the middle of another event — false (cache[3].task moves_leaders)
refused controller_stops_followers(broker=3)
    what the broker led is moved — false (cache[3].task moves_leaders)
controller_moves_leaders(broker=3)
    zk[0].state.leader: 1 → 2
    zk[0].state.isr: {1,2} → {2}
    cache[3].task: moves_leaders → stops_followers
    cache[3][0].leader: 1 → 2
    request[1][1][0].order: none → follow
    request[1][2][0].order: none → lead
controller_stops_followers(broker=3)
    zk[1].state.isr: {1,2} → {2}
    cache[3].task: stops_followers → waits
    cache[3].gone: 1 → none
    cache[3][1].followed: true → false
    cache[3][1][1].replica: OnlineReplica → OfflineReplica
    request[1][2][1].order: none → lead
    request[1][1][1].stop: none → stop
refused controller_begins_controlled_shutdown(broker=3, subject=1)
    the broker is alive, as far as it knows — false (cache[3].live {2,3})
refused controller_elects_preferred(broker=3, partition=0)
    the head of the list is alive and in the ISR — false
broker_obeys_leader_and_isr(broker=1, controller=1)
    request[1][1][0].order: follow → none
    replica[1][0].role: leader → follower
broker_stops_replicas(broker=1, controller=1)
    request[1][1][1].stop: stop → none
    replica[1][1].role: follower → none
controller_sees_failure(broker=3, failed=1)
    cache[3].task: waits → elects_for_failed
    cache[3].reached: {1,2,3} → {2,3}
    cache[3].shutting: {1} → {}
    cache[3].gone: none → 1
refused controller_elects_preferred(broker=3, partition=0)
    the head of the list is alive and in the ISR — false
leader_expands_isr(leader=2, replica=1, partition=0)
    zk[0].state.isr: {2} → {1,2}
controller_elects_preferred(broker=3, partition=0)
    zk[0].state.leader: 2 → 1
    cache[3][0].leader: 2 → 1
    request[1][1][0].order: none → lead
    request[1][2][0].order: none → follow
leader_in_isr: holds
brokers_shutting_down_are_not_elected: holds of every step
