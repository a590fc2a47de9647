# A restarted broker obeys a deposed controller, and truncates committed records.
# Shows: a broker's memory alone has the newest controller epoch and its leader epochs (ReplicaManager,
# Partition, all releases). A deposed controller whose queue has a BrokerChange before the
# ControllerChange reads the new registration, so that the broker epoch (KIP-380) is the right one;
# what it sends is out of date. The broker follows a deposed leader, and a clean election then loses
# the record.
system cluster version 2.3 brokers 3 replicas 3 versions 6 epoch 3

# Broker 1 leads, and broker 3 is the controller.
quietly broker_becomes_controller broker=3
quietly broker_learns_it_won broker=3
quietly controller_reads_context broker=3
quietly controller_sends_initial_update_metadata broker=3
quietly controller_starts_replica_state_machine broker=3
quietly controller_sends_election_batch broker=3
quietly controller_finds_no_request broker=3

# Broker 1 loses its session, and broker 3 the controllership. It has both events still to handle.
quietly session_expires broker=1
quietly controller_node_is_deleted

# The new controller, broker 2, takes broker 1 out of the ISR and elects itself.
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly controller_sends_initial_update_metadata broker=2
quietly controller_starts_replica_state_machine broker=2
quietly controller_reads_state broker=2 partition=0
quietly controller_removes_replica broker=2 replica=1 partition=0
quietly controller_sends_removal_batch broker=2
quietly controller_reads_state broker=2 partition=0
controller_elects_leader broker=2 leader=2 partition=0
quietly controller_sends_election_batch broker=2
quietly broker_updates_metadata broker=2 sender=2
quietly older_epoch_is_refused broker=2 sender=2 partition=0
quietly broker_updates_metadata broker=2 sender=2
quietly broker_finds_leader_not_in_metadata_cache broker=2 sender=2 partition=0
quietly broker_updates_metadata broker=2 sender=2
quietly broker_becomes_leader broker=2 sender=2 partition=0
quietly broker_updates_metadata broker=3 sender=2
quietly older_epoch_is_refused broker=3 sender=2 partition=0
quietly broker_updates_metadata broker=3 sender=2
quietly broker_finds_leader_not_in_metadata_cache broker=3 sender=2 partition=0
quietly broker_updates_metadata broker=3 sender=2
quietly broker_becomes_follower broker=3 sender=2 partition=0

# A record is committed by two of three replicas: broker 1 lacks it.
leader_commits leader=2 partition=0

# Broker 2 starts again. Broker 1 has a session again, and takes itself for the leader still.
quietly broker_crashes broker=2
quietly session_expires broker=2
quietly broker_reconnects broker=1
quietly broker_starts broker=2

# Now broker 3 handles the BrokerChange. It writes nothing, since a newer controller has written.
quietly controller_sees_bounced_brokers broker=3
quietly controller_reads_state broker=3 partition=0
controller_finds_a_newer_controller broker=3 partition=0
quietly controller_sends_election_batch broker=3
quietly controller_reads_state broker=3 partition=0
quietly controller_skips_isr_removal broker=3 replica=1 partition=0
quietly controller_reads_state broker=3 partition=0
quietly controller_skips_isr_removal broker=3 replica=2 partition=0
quietly controller_sends_removal_batch broker=3
quietly controller_sends_update_metadata_for_new_brokers broker=3
quietly controller_brings_replicas_online broker=3
quietly broker_updates_metadata broker=2 sender=3
broker_becomes_follower broker=2 sender=3 partition=0
follower_catches_up follower=2 leader=1 partition=0
check isr_holds_committed
check no_message_loss
----
controller_elects_leader(broker=2, leader=2, partition=0)
    partition[0].version: 1 → 2
    partition[0][2].state.leader: none → 2
    partition[0][2].state.epoch: 0 → 2
    partition[0][2].state.isr: {} → {2,3}
    partition[0][2].state.controller: 0 → 2
    partition[0][2].context.version: 1 → 2
    partition[0][2].context.offline: true → false
    partition[0][2].context.due: true → false
    partition[0][2].context.read: 1 → none
    partition[0][2].context.batched: false → true
leader_commits(leader=2, partition=0)
    partition[0].complete: {1,2,3} → {2,3}
controller_finds_a_newer_controller(broker=3, partition=0)
    partition[0][3].context.due: true → false
    partition[0][3].context.read: 2 → none
broker_becomes_follower(broker=2, sender=3, partition=0)
    cache[3][2].queue: [kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1,2,3} endpoints {}] → [kind update_metadata about {0: 0} alive {1,2,3} endpoints {}]
    partition[0][2].replica.version: none → 0
    partition[0][2].replica.fetching: false → true
follower_catches_up(follower=2, leader=1, partition=0)
    partition[0].complete: {2,3} → {3}
isr_holds_committed: broken — every member of the registered ISR holds all that was committed
    (partition[0].complete {3}, partition[0][2].state.isr {2,3})
no_message_loss: broken — the registered leader holds all that was committed
    (partition[0].complete {3}, partition[0][2].state.leader 2)
