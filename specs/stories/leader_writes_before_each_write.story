# A leader writes first whenever a controller is about to overwrite a state.
# Shows: after its read of the state, whatever it is about to do with it is refused: it reads again.
system topics version 2.3 brokers 4 partitions 1

quietly broker_becomes_controller broker=4
quietly broker_learns_it_won broker=4
quietly controller_reads_context broker=4
quietly replica_state_machine_starts broker=4
quietly partition_state_machine_starts broker=4
quietly admin_creates_topic first=1 second=2 third=3 count=1
quietly controller_sees_topic broker=4
quietly controller_creates_new_partitions broker=4
quietly controller_creates_new_replicas broker=4
quietly controller_brings_partitions_online broker=4
quietly controller_brings_new_replicas_online broker=4
quietly broker_obeys_leader_and_isr broker=1 controller=1
quietly broker_obeys_leader_and_isr broker=2 controller=1
quietly broker_obeys_leader_and_isr broker=3 controller=1

# Broker 3 was away; it follows, and is not back in the ISR. Broker 2 asks to go.
quietly session_expires broker=3
quietly controller_sees_failure broker=4 failed=3
quietly controller_elects_for_failed broker=4
quietly controller_takes_replicas_offline broker=4
quietly broker_reconnects broker=3
quietly controller_sees_start broker=4 started=3
quietly controller_elects_for_started broker=4
quietly broker_obeys_leader_and_isr broker=1 controller=1
quietly broker_obeys_leader_and_isr broker=3 controller=1
quietly controller_begins_controlled_shutdown broker=4 subject=2
quietly controller_moves_leaders broker=4
leader_expands_isr_before_controller_writes leader=1 replica=3 partition=0 broker=4
refused controller_stops_followers broker=4
quietly controller_write_conflicts broker=4
quietly controller_stops_followers broker=4

# Broker 1 asks to go, which leads; broker 2, still there, is taken in once more.
quietly controller_begins_controlled_shutdown broker=4 subject=1
leader_expands_isr_before_controller_writes leader=1 replica=2 partition=0 broker=4
refused controller_moves_leaders broker=4
quietly controller_write_conflicts broker=4
controller_moves_leaders broker=4
quietly controller_stops_followers broker=4
check state_writes_are_conditional
check brokers_shutting_down_are_not_elected
----
leader_expands_isr_before_controller_writes(leader=1, replica=3, partition=0, broker=4)
    zk[0].state.isr: {1,2} → {1,2,3}
    cache[4].outdated: false → true
refused controller_stops_followers(broker=4)
    the version that it read is current — false (cache[4].outdated true)
leader_expands_isr_before_controller_writes(leader=1, replica=2, partition=0, broker=4)
    zk[0].state.isr: {1,3} → {1,2,3}
    cache[4].outdated: false → true
refused controller_moves_leaders(broker=4)
    the version that it read is current — false (cache[4].outdated true)
controller_moves_leaders(broker=4)
    zk[0].state.leader: 1 → 3
    zk[0].state.isr: {1,2,3} → {3}
    cache[4].task: moves_leaders → stops_followers
    cache[4][0].leader: 1 → 3
    request[1][1][0].order: lead → follow
    request[1][3][0].order: follow → lead
state_writes_are_conditional: holds of every step
brokers_shutting_down_are_not_elected: holds of every step
