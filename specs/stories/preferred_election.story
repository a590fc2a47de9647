# The preferred replica leads again, by an administrator's request.
# Shows: it must be live and in the ISR, the ISR stays as it is, the request is deleted at last;
# whoever leads already is elected again, under another epoch. (KafkaController, 1.1 to 2.3)
system cluster version 2.3 brokers 2 partitions 1 replicas 2

quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly controller_sends_initial_update_metadata broker=2
quietly controller_starts_replica_state_machine broker=2
quietly controller_sends_election_batch broker=2

# The session of broker 1 expires, broker 2 is elected, and broker 1 comes back.
quietly session_expires broker=1
quietly controller_finds_no_request broker=2
quietly controller_sees_dead_brokers broker=2
quietly controller_reads_state broker=2 partition=0
quietly controller_elects_leader broker=2 leader=2 partition=0
quietly controller_sends_election_batch broker=2
quietly controller_reads_state broker=2 partition=0
quietly controller_finds_replica_not_in_isr broker=2 replica=1 partition=0
quietly controller_sends_removal_batch broker=2
quietly broker_reconnects broker=1
quietly controller_sees_new_brokers broker=2
quietly controller_sends_update_metadata_for_new_brokers broker=2
quietly controller_brings_replicas_online broker=2
quietly controller_sends_election_batch broker=2
admin_asks_for_preferred_leaders
controller_begins_preferred_election broker=2
----
admin_asks_for_preferred_leaders()
    cache[2].events: [] → [kind preferred_election subject none]
    partition[0].wanted: false → true
controller_begins_preferred_election(broker=2)
    cache[2].stage: idle → preferring
    cache[2].events: [kind preferred_election subject none] → []
    partition[0][2].context.due: false → true

# It is not in the ISR yet: the election fails, and the request is deleted all the same.
quietly controller_reads_state broker=2 partition=0
refused controller_elects_preferred broker=2 leader=1 partition=0
controller_cannot_elect_preferred broker=2 partition=0
quietly controller_sends_preferred_batch broker=2
controller_deletes_preferred_request broker=2
----
refused controller_elects_preferred(broker=2, leader=1, partition=0)
    the replica is online, and in the ISR — false (partition[0][1].state.isr {2})
controller_cannot_elect_preferred(broker=2, partition=0)
    partition[0][2].context.due: true → false
    partition[0][2].context.read: 1 → none
controller_deletes_preferred_request(broker=2)
    cache[2].stage: cleaning → idle
    cache[2].events: [] → [kind preferred_election subject none]
    partition[0].wanted: true → false

# It catches up, and is taken into the ISR.
quietly broker_updates_metadata broker=2 sender=2
quietly older_epoch_is_refused broker=2 sender=2 partition=0
quietly broker_updates_metadata broker=2 sender=2
quietly broker_becomes_leader broker=2 sender=2 partition=0
quietly broker_updates_metadata broker=2 sender=2
quietly older_epoch_is_refused broker=2 sender=2 partition=0
quietly broker_updates_metadata broker=2 sender=2
quietly broker_updates_metadata broker=2 sender=2
quietly broker_updates_metadata broker=2 sender=2
quietly broker_updates_metadata broker=1 sender=2
quietly broker_becomes_follower broker=1 sender=2 partition=0
quietly broker_updates_metadata broker=1 sender=2
leader_expands_isr leader=2 replica=1 partition=0
quietly broker_reports_isr_change broker=2 partition=0
quietly controller_finds_no_request broker=2
quietly controller_reads_isr_changes broker=2
quietly controller_finds_no_isr_change broker=2
----
leader_expands_isr(leader=2, replica=1, partition=0)
    partition[0].version: 1 → 2
    partition[0][2].state.leader: none → 2
    partition[0][2].state.epoch: 0 → 1
    partition[0][2].state.isr: {} → {1,2}
    partition[0][2].state.controller: 0 → 1
    partition[0][2].replica.version: 1 → 2
    partition[0][2].replica.unreported: false → true

# Now the imbalance asks for it, and it leads.
rebalance_timer_fires broker=2
controller_begins_rebalance broker=2
controller_reads_state broker=2 partition=0
controller_elects_preferred broker=2 leader=1 partition=0
controller_sends_preferred_batch broker=2
quietly broker_updates_metadata broker=1 sender=2
broker_becomes_leader broker=1 sender=2 partition=0
check leader_in_isr
check isr_holds_committed
----
rebalance_timer_fires(broker=2)
    cache[2].events: [] → [kind rebalance subject none]
controller_begins_rebalance(broker=2)
    cache[2].stage: idle → rebalancing
    cache[2].events: [kind rebalance subject none] → []
    partition[0][2].context.due: false → true
controller_reads_state(broker=2, partition=0)
    partition[0][2].context.read: none → 2
controller_elects_preferred(broker=2, leader=1, partition=0)
    partition[0].version: 2 → 3
    partition[0][3].state.leader: none → 1
    partition[0][3].state.epoch: 0 → 2
    partition[0][3].state.isr: {} → {1,2}
    partition[0][3].state.controller: 0 → 1
    partition[0][2].context.version: 2 → 3
    partition[0][2].context.due: true → false
    partition[0][2].context.read: 2 → none
    partition[0][2].context.batched: false → true
controller_sends_preferred_batch(broker=2)
    cache[2].stage: rebalancing → idle
    cache[2][1].queue: [kind update_metadata about {0: 2} alive {1,2} endpoints {}] → [kind update_metadata about {0: 2} alive {1,2} endpoints {}, kind leader_and_isr about {0: 3} alive {} endpoints {}, kind update_metadata about {0: 3} alive {1,2} endpoints {}]
    cache[2][2].queue: [kind update_metadata about {0: 2} alive {1,2} endpoints {}] → [kind update_metadata about {0: 2} alive {1,2} endpoints {}, kind leader_and_isr about {0: 3} alive {} endpoints {}, kind update_metadata about {0: 3} alive {1,2} endpoints {}]
    partition[0][2].context.batched: true → false
broker_becomes_leader(broker=1, sender=2, partition=0)
    cache[2][1].queue: [kind leader_and_isr about {0: 3} alive {} endpoints {}, kind update_metadata about {0: 3} alive {1,2} endpoints {}] → [kind update_metadata about {0: 3} alive {1,2} endpoints {}]
    partition[0][1].replica.version: 1 → 3
    partition[0][1].replica.fetching: true → false
leader_in_isr: holds
isr_holds_committed: holds
