# What is refused at each moment of a leader's ISR writes, answered, lost and given up.
# Shows: one write at a time, by who leads and has a session, and each answer is heard once.
system replication version 2.3 brokers 3

refused leader_appends_acks_all broker=1
refused leader_expands_isr leader=1 replica=1
refused leader_learns_isr_is_written leader=1
refused isr_answer_is_lost leader=1
refused leader_learns_isr_is_refused leader=1
quietly broker_becomes_controller broker=3
quietly broker_learns_it_won broker=3
quietly controller_reads_partition broker=3
quietly controller_elects_leader broker=3 leader=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
refused leader_expands_isr leader=1 replica=1
quietly broker_becomes_follower broker=2 epoch=1 controller=1
quietly broker_becomes_follower broker=3 epoch=1 controller=1
quietly leader_appends broker=1
quietly leader_shrinks_isr leader=1 replica=2
refused controller_removal_conflicts broker=3 replica=1
refused leader_finds_isr_written leader=1
quietly isr_answer_is_lost leader=1
refused leader_learns_isr_is_refused leader=1
refused leader_gives_up_isr_write leader=1
quietly leader_finds_isr_written leader=1
----
refused leader_appends_acks_all(broker=1)
    the broker believes it leads — false (replica[1].role none)
refused leader_expands_isr(leader=1, replica=1)
    the broker believes it leads — false (replica[1].role none)
refused leader_learns_isr_is_written(leader=1)
    its write was applied — false (isr_write[1].state none)
refused isr_answer_is_lost(leader=1)
    its write was applied — false (isr_write[1].state none)
refused leader_learns_isr_is_refused(leader=1)
    its write was refused — false (isr_write[1].state none)
refused leader_expands_isr(leader=1, replica=1)
    the replica is not in the leader's ISR — false (replica[1].isr {1,2,3})
refused controller_removal_conflicts(broker=3, replica=1)
    the replica was dead when it read — false (cache[3].live {1,2,3})
refused leader_finds_isr_written(leader=1)
    its write was refused — false (isr_write[1].state applied)
refused leader_learns_isr_is_refused(leader=1)
    the registered state is another write — false (isr_write[1].state_epoch 1, replica[1].epoch 1, zk.leader 1, zk.leader_epoch 1, zk.state_epoch 1)
refused leader_gives_up_isr_write(leader=1)
    its session has expired — false (zk.registered {1,2,3})

# Broker 2 catches up, is taken back, and is dropped again.
refused leader_shrinks_isr leader=1 replica=2
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
quietly leader_expands_isr leader=1 replica=2
quietly leader_learns_isr_is_written leader=1
quietly leader_shrinks_isr leader=1 replica=2
quietly leader_learns_isr_is_written leader=1
----
refused leader_shrinks_isr(leader=1, replica=2)
    the replica is in the leader's ISR — false (replica[1].isr {1,3})

# The controller has read the state before all that. It reads it again, and loses its session.
quietly controller_election_conflicts broker=3 leader=1
quietly controller_reads_partition broker=3
quietly session_expires broker=2
refused leader_gives_up_isr_write leader=2
quietly session_expires broker=3
quietly broker_reconnects broker=3
quietly broker_becomes_controller broker=3
quietly broker_learns_it_won broker=3
quietly controller_reads_partition broker=3
quietly leader_expands_isr leader=1 replica=2
refused controller_removal_conflicts broker=3 replica=2
quietly leader_learns_isr_is_written leader=1
quietly controller_reads_partition broker=3
quietly leader_shrinks_isr leader=1 replica=2
quietly leader_learns_isr_is_written leader=1
quietly controller_removal_conflicts broker=3 replica=2
quietly broker_reconnects broker=2
----
refused leader_gives_up_isr_write(leader=2)
    its write was refused — false (isr_write[2].state none)
refused controller_removal_conflicts(broker=3, replica=2)
    the replica is in the ISR that it read — false (cache[3].isr {1,3})

# The controller elects another leader, of which broker 1 does not hear.
quietly controller_reads_partition broker=3
quietly controller_elects_leader broker=3 leader=3
refused leader_expands_isr leader=1 replica=2
quietly leader_shrink_is_refused leader=1 replica=3
refused broker_becomes_follower broker=1 epoch=2 controller=2
quietly leader_learns_isr_is_refused leader=1
quietly leader_expand_is_refused leader=1 replica=2
quietly session_expires broker=1
refused leader_learns_isr_is_refused leader=1
quietly leader_gives_up_isr_write leader=1
quietly broker_reconnects broker=1
quietly broker_crashes broker=1
----
refused leader_expands_isr(leader=1, replica=2)
    the cached version is current — false (replica[1].zk_version 6, zk.version 7)
refused broker_becomes_follower(broker=1, epoch=2, controller=2)
    none of its ISR writes waits for an answer — false (isr_write[1].state refused)
refused leader_learns_isr_is_refused(leader=1)
    it has a ZooKeeper session — false (zk.registered {2,3})
