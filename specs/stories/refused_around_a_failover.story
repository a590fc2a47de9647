# What is refused at each moment while a controller crashes and another takes over.
# Shows: what needs a process, a session, a controllership or a broker that starts.
system topics version 2.3 brokers 2 partitions 1

quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly replica_state_machine_starts broker=1
quietly partition_state_machine_starts broker=1
quietly admin_creates_topic first=1 second=2 third=none count=1
refused controller_sees_topic_gone broker=1
refused controller_finds_no_new_topic broker=1
quietly controller_sees_topic broker=1
quietly controller_creates_new_partitions broker=1
quietly controller_creates_new_replicas broker=1
quietly broker_crashes broker=1
refused broker_crashes broker=1
refused broker_starts broker=1
refused broker_reconnects broker=1
refused broker_obeys_leader_and_isr broker=1 controller=1
refused broker_refuses_older_controller broker=1 controller=1
refused broker_stops_replicas broker=1 controller=1
refused broker_cannot_delete broker=1 controller=1
quietly session_expires broker=1
refused session_expires broker=1
refused broker_becomes_controller broker=1
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly replica_state_machine_starts broker=2
quietly partition_state_machine_starts broker=2
refused controller_sees_failure broker=2 failed=1
refused controller_sees_start broker=2 started=1
quietly broker_obeys_leader_and_isr broker=2 controller=2
refused leader_expands_isr leader=2 replica=1 partition=0
quietly broker_starts broker=1
quietly controller_sees_start broker=2 started=1
quietly controller_elects_for_started broker=2
quietly broker_obeys_leader_and_isr broker=1 controller=2
quietly leader_expands_isr leader=2 replica=1 partition=0
refused leader_expands_isr leader=2 replica=1 partition=0
----
refused controller_sees_topic_gone(broker=1)
    the topic does not exist — false (zk[0][0].assignment 1)
refused controller_finds_no_new_topic(broker=1)
    it knows whether the topic exists — false (cache[1][0][0].known none, zk[0][0].assignment 1)
refused broker_crashes(broker=1)
    the process runs — false (up {2})
refused broker_starts(broker=1)
    the old registration is gone — false (zk.registered {1,2})
refused broker_reconnects(broker=1)
    the process runs — false (up {2})
refused broker_obeys_leader_and_isr(broker=1, controller=1)
    the broker's process runs — false (up {2})
refused broker_refuses_older_controller(broker=1, controller=1)
    the broker's process runs — false (up {2})
refused broker_stops_replicas(broker=1, controller=1)
    the broker's process runs — false (up {2})
refused broker_cannot_delete(broker=1, controller=1)
    the broker's process runs — false (up {2})
refused session_expires(broker=1)
    the broker is registered — false (zk.registered {2})
refused broker_becomes_controller(broker=1)
    the broker has a session — false (zk.registered {2})
refused controller_sees_failure(broker=2, failed=1)
    the broker is alive, as far as it knows — false (cache[2].live {2}, cache[2].shutting {})
refused controller_sees_start(broker=2, started=1)
    the broker is registered — false (zk.registered {2})
refused leader_expands_isr(leader=2, replica=1, partition=0)
    the replica follows — false (replica[1][0].role none)
refused leader_expands_isr(leader=2, replica=1, partition=0)
    it is not in the ISR — false (zk[0].state.isr {1,2})
