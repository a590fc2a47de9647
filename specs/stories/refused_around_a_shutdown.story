# What is refused around a preferred election and a controlled shutdown.
# Shows: who may ask whom, and when; and that a controller without a session, or deposed, moves none.
system topics version 2.3 brokers 2 partitions 1

refused controller_begins_controlled_shutdown broker=1 subject=1
refused controller_elects_preferred broker=1 partition=0
refused controller_moves_leaders broker=1
refused controller_stops_followers broker=1
refused controller_write_conflicts broker=1
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
refused controller_moves_leaders broker=1
refused controller_stops_followers broker=1
quietly controller_reads_context broker=1
refused controller_begins_controlled_shutdown broker=1 subject=1
quietly replica_state_machine_starts broker=1
quietly partition_state_machine_starts broker=1
refused controller_elects_preferred broker=1 partition=0
quietly broker_crashes broker=2
refused controller_begins_controlled_shutdown broker=1 subject=2
quietly controller_begins_controlled_shutdown broker=1 subject=1
quietly session_expires broker=1
refused controller_moves_leaders broker=1
refused controller_write_conflicts broker=1
quietly admin_creates_topic first=1 second=none third=none count=1
quietly broker_reconnects broker=1
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly replica_state_machine_starts broker=1
quietly partition_state_machine_starts broker=1
quietly session_expires broker=1
refused controller_elects_preferred broker=1 partition=0
refused controller_begins_controlled_shutdown broker=1 subject=1
----
refused controller_begins_controlled_shutdown(broker=1, subject=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_elects_preferred(broker=1, partition=0)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_moves_leaders(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_stops_followers(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_write_conflicts(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_moves_leaders(broker=1)
    a broker asked to go — false (cache[1].task reads_zookeeper)
refused controller_stops_followers(broker=1)
    what the broker led is moved — false (cache[1].task reads_zookeeper)
refused controller_begins_controlled_shutdown(broker=1, subject=1)
    it is not in the middle of another event — false (cache[1].task starts_replicas)
refused controller_elects_preferred(broker=1, partition=0)
    the head of the list is alive and in the ISR — false
refused controller_begins_controlled_shutdown(broker=1, subject=2)
    the broker runs — false (up {1})
refused controller_moves_leaders(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused controller_write_conflicts(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused controller_elects_preferred(broker=1, partition=0)
    it has a ZooKeeper session — false (zk.registered {2})
refused controller_begins_controlled_shutdown(broker=1, subject=1)
    it has a ZooKeeper session — false (zk.registered {2})

# Another controller, and the first is not notified: what it was about to write is fenced.
quietly session_expires broker=2
quietly broker_starts broker=2
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly replica_state_machine_starts broker=2
quietly partition_state_machine_starts broker=2
refused controller_begins_controlled_shutdown broker=2 subject=1
quietly broker_reconnects broker=1
quietly controller_sees_start broker=2 started=1
quietly controller_elects_for_started broker=2
quietly broker_obeys_leader_and_isr broker=1 controller=3
quietly session_expires broker=1
refused controller_begins_controlled_shutdown broker=2 subject=1
quietly broker_reconnects broker=1
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=1
refused controller_elects_preferred broker=2 partition=0
quietly controller_begins_controlled_shutdown broker=2 subject=2
refused leader_expands_isr_before_controller_writes leader=1 replica=2 partition=0 broker=2
----
refused controller_begins_controlled_shutdown(broker=2, subject=1)
    the broker is alive, as far as it knows — false (cache[2].live {2})
refused controller_begins_controlled_shutdown(broker=2, subject=1)
    the broker is registered — false (zk.registered {2})
refused controller_elects_preferred(broker=2, partition=0)
    the epoch that it won is the newest — false (belief[2] 3, zk.epoch 4)
refused leader_expands_isr_before_controller_writes(leader=1, replica=2, partition=0, broker=2)
    the replica follows — false (replica[2][0].role none)

# Broker 2 asks to go, and the controller's session ends in the middle; then it is deposed there.
quietly controller_moves_leaders broker=2
quietly controller_stops_followers broker=2
quietly controller_resigns broker=2
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly replica_state_machine_starts broker=1
quietly partition_state_machine_starts broker=1
quietly controller_begins_controlled_shutdown broker=1 subject=2
quietly controller_moves_leaders broker=1
quietly session_expires broker=1
refused controller_stops_followers broker=1
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly replica_state_machine_starts broker=2
quietly partition_state_machine_starts broker=2
quietly broker_reconnects broker=1
refused leader_expands_isr_before_controller_writes leader=2 replica=1 partition=0 broker=1
refused leader_expands_isr_before_controller_writes leader=1 replica=2 partition=0 broker=1
quietly controller_begins_controlled_shutdown broker=2 subject=2
quietly controller_moves_leaders broker=2
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=1
quietly controller_stops_followers broker=2
quietly controller_resigns broker=2
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly replica_state_machine_starts broker=1
quietly partition_state_machine_starts broker=1
quietly admin_deletes_topic
quietly controller_queues_deletion broker=1
quietly deletion_starts broker=1
quietly controller_stops_replicas broker=1
quietly controller_deletes_replicas broker=1
refused controller_elects_preferred broker=1 partition=0
check brokers_shutting_down_are_not_elected
----
refused controller_stops_followers(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused leader_expands_isr_before_controller_writes(leader=2, replica=1, partition=0, broker=1)
    the broker believes it leads — false (replica[2][0].role none)
refused leader_expands_isr_before_controller_writes(leader=1, replica=2, partition=0, broker=1)
    the state names it — false (zk[0].state.leader none)
refused controller_elects_preferred(broker=1, partition=0)
    the topic is not queued for deletion — false (cache[1].queued true)
brokers_shutting_down_are_not_elected: holds of every step
