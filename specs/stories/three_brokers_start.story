# Three brokers start one after the other, as the source article 001 traced them under 1.1.
# Shows: the controller's own node is sent U L U; a node that joins, and makes an offline partition
# electable, U L U L U; those that are there already U U U. (U UpdateMetadata, L LeaderAndIsr)
system cluster version 1.1 brokers 3 partitions 3 replicas 1

# Each broker has a partition of its own. All were stopped; nobody wrote that the leaders are gone.
quietly broker_crashes broker=1
quietly broker_crashes broker=2
quietly broker_crashes broker=3
quietly session_expires broker=1
quietly session_expires broker=2
quietly session_expires broker=3
quietly broker_starts broker=1
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
controller_reads_context broker=1
----
controller_reads_context(broker=1)
    cache[1].stage: starting → announcing
    cache[1].live: {} → {1}
    cache[1].reached: {} → {1}
    cache[1].watched: {} → {1}

# Failover: UpdateMetadata, then the replica machine, then the partition machine, which finds nobody
# for the partitions of brokers 2 and 3, and sends nothing.
quietly controller_sends_initial_update_metadata broker=1
quietly controller_starts_replica_state_machine broker=1
quietly controller_reads_state broker=1 partition=1
quietly controller_finds_no_leader broker=1 partition=1
quietly controller_reads_state broker=1 partition=2
quietly controller_finds_no_leader broker=1 partition=2
controller_sends_election_batch broker=1
show cache[1].queue
----
controller_sends_election_batch(broker=1)
    cache[1].stage: onlining → looking
cache[1][1].queue: [kind update_metadata about {0: 0,1: 0,2: 0} alive {1} endpoints {}, kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1} endpoints {}]
cache[1][2].queue: []
cache[1][3].queue: []

quietly broker_updates_metadata broker=1 sender=1
broker_becomes_leader broker=1 sender=1 partition=0
quietly broker_updates_metadata broker=1 sender=1
----
broker_becomes_leader(broker=1, sender=1, partition=0)
    cache[1][1].queue: [kind leader_and_isr about {0: 0} alive {} endpoints {}, kind update_metadata about {0: 0} alive {1} endpoints {}] → [kind update_metadata about {0: 0} alive {1} endpoints {}]
    partition[0][1].replica.version: none → 0

# Broker 2 joins.
quietly broker_starts broker=2
quietly controller_finds_no_request broker=1
quietly controller_sees_new_brokers broker=1
quietly controller_sends_update_metadata_for_new_brokers broker=1
quietly controller_brings_replicas_online broker=1
controller_reads_state broker=1 partition=1
quietly controller_reads_state broker=1 partition=2
quietly controller_finds_no_leader broker=1 partition=2
controller_elects_leader broker=1 leader=2 partition=1
quietly controller_sends_election_batch broker=1
show cache[1].queue
----
controller_reads_state(broker=1, partition=1)
    partition[1][1].context.read: none → 0
controller_elects_leader(broker=1, leader=2, partition=1)
    partition[1].version: 0 → 1
    partition[1][1].state.leader: none → 2
    partition[1][1].state.epoch: 0 → 1
    partition[1][1].state.isr: {} → {2}
    partition[1][1].state.controller: 0 → 1
    partition[1][1].context.version: 0 → 1
    partition[1][1].context.offline: true → false
    partition[1][1].context.due: true → false
    partition[1][1].context.read: 0 → none
    partition[1][1].context.batched: false → true
cache[1][1].queue: [kind update_metadata about {0: 0,1: 0,2: 0} alive {1,2} endpoints {}, kind update_metadata about {1: 0} alive {1,2} endpoints {}, kind update_metadata about {1: 1} alive {1,2} endpoints {}]
cache[1][2].queue: [kind update_metadata about {0: 0,1: 0,2: 0} alive {1,2} endpoints {}, kind leader_and_isr about {1: 0} alive {} endpoints {}, kind update_metadata about {1: 0} alive {1,2} endpoints {}, kind leader_and_isr about {1: 1} alive {} endpoints {}, kind update_metadata about {1: 1} alive {1,2} endpoints {}]
cache[1][3].queue: []

# The first LeaderAndIsr has the old epoch, which a broker that knows none obeys; the second the new.
quietly broker_updates_metadata broker=1 sender=1
quietly broker_updates_metadata broker=1 sender=1
quietly broker_updates_metadata broker=1 sender=1
quietly broker_updates_metadata broker=2 sender=1
broker_becomes_leader broker=2 sender=1 partition=1
quietly broker_updates_metadata broker=2 sender=1
broker_becomes_leader broker=2 sender=1 partition=1
quietly broker_updates_metadata broker=2 sender=1
----
broker_becomes_leader(broker=2, sender=1, partition=1)
    cache[1][2].queue: [kind leader_and_isr about {1: 0} alive {} endpoints {}, kind update_metadata about {1: 0} alive {1,2} endpoints {}, kind leader_and_isr about {1: 1} alive {} endpoints {}, kind update_metadata about {1: 1} alive {1,2} endpoints {}] → [kind update_metadata about {1: 0} alive {1,2} endpoints {}, kind leader_and_isr about {1: 1} alive {} endpoints {}, kind update_metadata about {1: 1} alive {1,2} endpoints {}]
    partition[1][2].replica.version: none → 0
broker_becomes_leader(broker=2, sender=1, partition=1)
    cache[1][2].queue: [kind leader_and_isr about {1: 1} alive {} endpoints {}, kind update_metadata about {1: 1} alive {1,2} endpoints {}] → [kind update_metadata about {1: 1} alive {1,2} endpoints {}]
    partition[1][2].replica.version: 0 → 1

# Broker 3 joins: the same for it, and three UpdateMetadata for the two that are there.
quietly broker_starts broker=3
quietly controller_sees_new_brokers broker=1
quietly controller_sends_update_metadata_for_new_brokers broker=1
quietly controller_brings_replicas_online broker=1
quietly controller_reads_state broker=1 partition=2
quietly controller_elects_leader broker=1 leader=3 partition=2
quietly controller_sends_election_batch broker=1
show cache[1].queue
----
cache[1][1].queue: [kind update_metadata about {0: 0,1: 1,2: 0} alive {1,2,3} endpoints {}, kind update_metadata about {2: 0} alive {1,2,3} endpoints {}, kind update_metadata about {2: 1} alive {1,2,3} endpoints {}]
cache[1][2].queue: [kind update_metadata about {0: 0,1: 1,2: 0} alive {1,2,3} endpoints {}, kind update_metadata about {2: 0} alive {1,2,3} endpoints {}, kind update_metadata about {2: 1} alive {1,2,3} endpoints {}]
cache[1][3].queue: [kind update_metadata about {0: 0,1: 1,2: 0} alive {1,2,3} endpoints {}, kind leader_and_isr about {2: 0} alive {} endpoints {}, kind update_metadata about {2: 0} alive {1,2,3} endpoints {}, kind leader_and_isr about {2: 1} alive {} endpoints {}, kind update_metadata about {2: 1} alive {1,2,3} endpoints {}]

# All of it arrives, and everybody knows everything.
quietly broker_updates_metadata broker=1 sender=1
quietly broker_updates_metadata broker=1 sender=1
quietly broker_updates_metadata broker=1 sender=1
quietly broker_updates_metadata broker=2 sender=1
quietly broker_updates_metadata broker=2 sender=1
quietly broker_updates_metadata broker=2 sender=1
quietly broker_updates_metadata broker=3 sender=1
quietly broker_becomes_leader broker=3 sender=1 partition=2
quietly broker_updates_metadata broker=3 sender=1
quietly broker_becomes_leader broker=3 sender=1 partition=2
quietly broker_updates_metadata broker=3 sender=1
check the_cluster_settles_after_an_election
check idle_metadata_agrees_with_zookeeper
check idle_partitions_have_leaders
----
the_cluster_settles_after_an_election: so it is — nothing is under way, after a controller has raised a leader epoch
idle_metadata_agrees_with_zookeeper: holds
idle_partitions_have_leaders: holds
