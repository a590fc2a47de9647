# A controller that is deposed after a broker has started makes it commit with an ISR of before.
# Shows: that a broker which starts reads /controller_epoch does not suffice for what was committed. The
# deposed controller is as new as that epoch. It finds a newer controller in the state, leaves the
# partition as it is, and sends the broker the state that it had cached. The leader then commits without
# a member of the registered ISR, and a clean election loses the record.
system cluster version 2.3 with controller_epoch_kept=true brokers 4 replicas 3 versions 5 epoch 3 crashes 3 expiries 5 queue 8

# Broker 4 is the controller. Broker 3 starts again, and the ISR is {1,2} when the controller reads it.
quietly broker_becomes_controller broker=4
quietly broker_learns_it_won broker=4
quietly controller_reads_context broker=4
quietly controller_sends_initial_update_metadata broker=4
quietly controller_starts_replica_state_machine broker=4
quietly controller_sends_election_batch broker=4
quietly controller_finds_no_request broker=4
quietly broker_crashes broker=3
quietly leader_shrinks_isr leader=1 replica=3 partition=0
quietly session_expires broker=3
quietly broker_starts broker=3
quietly controller_sees_bounced_brokers broker=4
quietly controller_reads_state broker=4 partition=0
controller_finds_replica_not_in_isr broker=4 replica=3 partition=0
quietly controller_sends_removal_batch broker=4
quietly controller_sends_update_metadata_for_dead_brokers broker=4
quietly controller_sends_update_metadata_for_new_brokers broker=4
quietly controller_brings_replicas_online broker=4
quietly controller_sends_election_batch broker=4
quietly broker_updates_metadata broker=3 sender=4
quietly broker_becomes_follower broker=3 sender=4 partition=0
leader_expands_isr leader=1 replica=3 partition=0

# The leader starts again, and knows the epoch of broker 4. Then broker 3 becomes the controller.
quietly broker_crashes broker=1
quietly session_expires broker=1
broker_starts broker=1
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=3
quietly broker_learns_it_won broker=3
quietly controller_reads_context broker=3
quietly controller_sends_initial_update_metadata broker=3
quietly controller_starts_replica_state_machine broker=3
quietly controller_sends_election_batch broker=3
quietly controller_finds_no_request broker=3

# Broker 2 loses its session, and goes on fetching. The new controller takes it out of the ISR.
quietly session_expires broker=2
quietly controller_sees_dead_brokers broker=3
quietly controller_reads_state broker=3 partition=0
controller_removes_replica broker=3 replica=2 partition=0

# Only now broker 4 handles the BrokerChange. It writes nothing, since a newer controller has written.
quietly controller_sees_bounced_brokers broker=4
quietly controller_reads_state broker=4 partition=0
quietly controller_finds_a_newer_controller broker=4 partition=0
quietly controller_sends_election_batch broker=4
quietly controller_reads_state broker=4 partition=0
quietly controller_skips_isr_removal broker=4 replica=1 partition=0
quietly controller_sends_removal_batch broker=4
quietly controller_sends_update_metadata_for_new_brokers broker=4
quietly controller_brings_replicas_online broker=4
quietly broker_updates_metadata broker=1 sender=4
broker_becomes_leader broker=1 sender=4 partition=0
leader_commits leader=1 partition=0
check isr_holds_committed

# Broker 1 dies, and the only ISR member left, which lacks the record, is elected.
quietly controller_sends_removal_batch broker=3
quietly controller_sends_update_metadata_for_dead_brokers broker=3
quietly broker_crashes broker=1
quietly session_expires broker=1
quietly controller_sees_dead_brokers broker=3
quietly controller_reads_state broker=3 partition=0
controller_elects_leader broker=3 leader=3 partition=0
check no_message_loss
----
controller_finds_replica_not_in_isr(broker=4, replica=3, partition=0)
    partition[0][4].context.version: 0 → 1
    partition[0][4].context.gone: {3} → {}
    partition[0][4].context.read: 1 → none
    partition[0][4].context.batched: false → true
leader_expands_isr(leader=1, replica=3, partition=0)
    partition[0].version: 1 → 2
    partition[0][2].state.leader: none → 1
    partition[0][2].state.isr: {} → {1,2,3}
    partition[0][1].replica.version: 1 → 2
broker_starts(broker=1)
    zk.registered: {2,3,4} → {1,2,3,4}
    up: {2,3,4} → {1,2,3,4}
    cache[4].reached: {1,2,3,4} → {2,3,4}
    cache[4][1].queue: [kind update_metadata about {} alive {1,2,3,4} endpoints {}, kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1,2,3,4} endpoints {}, kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1,2,4} endpoints {}, kind update_metadata about {} alive {1,2,4} endpoints {}, kind update_metadata about {} alive {1,2,3,4} endpoints {}, kind update_metadata about {0: 1} alive {1,2,3,4} endpoints {}] → []
    seen[1]: 0 → 1
controller_removes_replica(broker=3, replica=2, partition=0)
    partition[0].version: 2 → 3
    partition[0][3].state.leader: none → 1
    partition[0][3].state.epoch: 0 → 1
    partition[0][3].state.isr: {} → {1,3}
    partition[0][3].state.controller: 0 → 2
    partition[0][3].context.version: 2 → 3
    partition[0][3].context.gone: {2} → {}
    partition[0][3].context.read: 2 → none
    partition[0][3].context.batched: false → true
broker_becomes_leader(broker=1, sender=4, partition=0)
    cache[4][1].queue: [kind leader_and_isr about {0: 1} alive {} endpoints {}, kind update_metadata about {0: 1} alive {1,2,3,4} endpoints {}] → [kind update_metadata about {0: 1} alive {1,2,3,4} endpoints {}]
    partition[0][1].replica.version: none → 1
leader_commits(leader=1, partition=0)
    partition[0].complete: {1,2,3} → {1,2}
isr_holds_committed: broken — every member of the registered ISR holds all that was committed
    (partition[0].complete {1,2}, partition[0][3].state.isr {1,3})
controller_elects_leader(broker=3, leader=3, partition=0)
    partition[0].version: 3 → 4
    partition[0][4].state.leader: none → 3
    partition[0][4].state.epoch: 0 → 2
    partition[0][4].state.isr: {} → {3}
    partition[0][4].state.controller: 0 → 2
    partition[0][3].context.version: 3 → 4
    partition[0][3].context.offline: true → false
    partition[0][3].context.due: true → false
    partition[0][3].context.read: 3 → none
    partition[0][3].context.batched: false → true
no_message_loss: broken — the registered leader holds all that was committed
    (partition[0].complete {1,2}, partition[0][4].state.leader 3)
