# A broker gets another listener while it runs, and all brokers are notified of the new address.
# Shows: the data watch on its node fires once for two changes, the controller reads what is there
# and sends UpdateMetadata to all; other nodes are not read. (KIP-226, 1.1)
system cluster version 2.3 brokers 2 partitions 1 replicas 2

quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly controller_sends_initial_update_metadata broker=1
quietly controller_starts_replica_state_machine broker=1
quietly controller_sends_election_batch broker=1
broker_changes_endpoints broker=2
broker_changes_endpoints broker=2
quietly controller_finds_no_request broker=1
controller_reads_endpoints broker=1 subject=2
----
broker_changes_endpoints(broker=2)
    zk[2].endpoints: 0 → 1
    cache[1].watched: {1,2} → {1}
    cache[1].events: [] → [kind broker_modification subject 2]
broker_changes_endpoints(broker=2)
    zk[2].endpoints: 1 → 2
controller_reads_endpoints(broker=1, subject=2)
    cache[1].watched: {1} → {1,2}
    cache[1][2].endpoints: 0 → 2
    cache[1].events: [kind broker_modification subject 2] → []
    cache[1][1].queue: [kind update_metadata about {} alive {1,2} endpoints {}, kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1,2} endpoints {}] → [kind update_metadata about {} alive {1,2} endpoints {}, kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1,2} endpoints {}, kind update_metadata about {} alive {1,2} endpoints {2: 2}]
    cache[1][2].queue: [kind update_metadata about {} alive {1,2} endpoints {}, kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1,2} endpoints {}] → [kind update_metadata about {} alive {1,2} endpoints {}, kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1,2} endpoints {}, kind update_metadata about {} alive {1,2} endpoints {2: 2}]

# All that is queued arrives.
quietly broker_updates_metadata broker=1 sender=1
quietly older_epoch_is_refused broker=1 sender=1 partition=0
quietly broker_updates_metadata broker=1 sender=1
broker_updates_metadata broker=1 sender=1
quietly broker_updates_metadata broker=2 sender=1
quietly older_epoch_is_refused broker=2 sender=1 partition=0
quietly broker_updates_metadata broker=2 sender=1
broker_updates_metadata broker=2 sender=1
check idle_metadata_agrees_with_zookeeper
check no_event_is_missed
----
broker_updates_metadata(broker=1, sender=1)
    cache[1][1].queue: [kind update_metadata about {} alive {1,2} endpoints {2: 2}] → []
    addresses[1][2]: 0 → 2
broker_updates_metadata(broker=2, sender=1)
    cache[1][2].queue: [kind update_metadata about {} alive {1,2} endpoints {2: 2}] → []
    addresses[2][2]: 0 → 2
idle_metadata_agrees_with_zookeeper: holds
no_event_is_missed: holds
