# What is refused during preferred elections, by request and by imbalance.
# Shows: the request is read, worked off and deleted; the timer may find nothing to do.
system cluster version 2.1 brokers 2 partitions 2 replicas 2

quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly controller_sends_initial_update_metadata broker=2
quietly controller_starts_replica_state_machine broker=2
quietly controller_sends_election_batch broker=2
quietly broker_updates_metadata broker=1 sender=2
quietly broker_updates_metadata broker=2 sender=2
quietly older_epoch_is_refused broker=1 sender=2 partition=0
refused older_epoch_is_refused broker=1 sender=2 partition=0
quietly older_epoch_is_refused broker=1 sender=2 partition=1
quietly broker_updates_metadata broker=1 sender=2
quietly older_epoch_is_refused broker=2 sender=2 partition=0
quietly older_epoch_is_refused broker=2 sender=2 partition=1
quietly broker_updates_metadata broker=2 sender=2
refused controller_finds_no_imbalance broker=2
refused rebalance_timer_fires broker=1
quietly rebalance_timer_fires broker=2
refused controller_begins_rebalance broker=2
refused controller_finds_no_imbalance broker=1
quietly controller_finds_no_request broker=2
quietly controller_finds_no_imbalance broker=2
quietly admin_asks_for_preferred_leaders
quietly controller_begins_preferred_election broker=2
refused controller_finds_no_imbalance broker=2
quietly controller_reads_state broker=2 partition=0
refused controller_elects_preferred broker=2 leader=2 partition=1
quietly controller_reads_state broker=2 partition=1
quietly controller_elects_preferred broker=2 leader=1 partition=0
refused controller_elects_leader broker=2 leader=2 partition=1
refused controller_elects_preferred broker=2 leader=1 partition=0
quietly controller_elects_preferred broker=2 leader=2 partition=1
quietly controller_sends_preferred_batch broker=2
quietly controller_deletes_preferred_request broker=2
quietly controller_finds_no_request broker=2
quietly broker_becomes_leader broker=1 sender=2 partition=0
refused broker_becomes_follower broker=2 sender=2 partition=1
quietly broker_becomes_leader broker=2 sender=2 partition=1
quietly broker_becomes_follower broker=1 sender=2 partition=1
quietly broker_updates_metadata broker=1 sender=2
quietly broker_becomes_follower broker=2 sender=2 partition=0
quietly broker_updates_metadata broker=2 sender=2
----
refused older_epoch_is_refused(broker=1, sender=2, partition=0)
    it names the partition — false (cache.queue[2][1][0][0].about none)
refused controller_finds_no_imbalance(broker=2)
    its event thread is done with the last event — false (cache[2].stage looking)
refused rebalance_timer_fires(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_begins_rebalance(broker=2)
    its event thread is done with the last event — false (cache[2].stage looking)
refused controller_finds_no_imbalance(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_finds_no_imbalance(broker=2)
    its event thread is done with the last event — false (cache[2].stage preferring)
refused controller_elects_preferred(broker=2, leader=2, partition=1)
    it has read the state — false (partition[1][2].context.read none)
refused controller_elects_leader(broker=2, leader=2, partition=1)
    it brings offline partitions online — false (cache[2].stage preferring)
refused controller_elects_preferred(broker=2, leader=1, partition=0)
    the partition is asked for — false (partition[0][2].context.due false)
refused broker_becomes_follower(broker=2, sender=2, partition=1)
    it names another the leader, or none — false (partition[1][1].state.leader 2)

# Broker 1 was away, and broker 2 leads both.
quietly broker_crashes broker=1
quietly session_expires broker=1
quietly controller_sees_dead_brokers broker=2
quietly controller_reads_state broker=2 partition=0
refused controller_cannot_elect_preferred broker=2 partition=0
quietly controller_elects_leader broker=2 leader=2 partition=0
quietly controller_sends_election_batch broker=2
quietly controller_reads_state broker=2 partition=0
quietly controller_finds_replica_not_in_isr broker=2 replica=1 partition=0
quietly controller_reads_state broker=2 partition=1
quietly controller_removes_replica broker=2 replica=1 partition=1
quietly controller_sends_removal_batch broker=2
quietly broker_becomes_leader broker=2 sender=2 partition=0
quietly broker_updates_metadata broker=2 sender=2
quietly broker_becomes_leader broker=2 sender=2 partition=1
quietly older_epoch_is_refused broker=2 sender=2 partition=0
quietly broker_updates_metadata broker=2 sender=2
quietly admin_asks_for_preferred_leaders
quietly controller_begins_preferred_election broker=2
quietly controller_reads_state broker=2 partition=0
refused controller_cannot_elect_preferred broker=1 partition=0
refused controller_cannot_elect_preferred broker=2 partition=1
quietly controller_cannot_elect_preferred broker=2 partition=0
refused controller_cannot_elect_preferred broker=2 partition=0
quietly controller_reads_state broker=2 partition=1
refused controller_cannot_elect_preferred broker=2 partition=1
quietly controller_elects_preferred broker=2 leader=2 partition=1
quietly controller_sends_preferred_batch broker=2
quietly controller_deletes_preferred_request broker=2
quietly controller_finds_no_request broker=2
quietly broker_starts broker=1
quietly controller_sees_new_brokers broker=2
quietly controller_sends_update_metadata_for_new_brokers broker=2
quietly controller_brings_replicas_online broker=2
quietly controller_sends_election_batch broker=2
quietly broker_updates_metadata broker=1 sender=2
quietly broker_becomes_leader broker=2 sender=2 partition=1
quietly broker_updates_metadata broker=2 sender=2
quietly broker_updates_metadata broker=2 sender=2
quietly broker_updates_metadata broker=2 sender=2
quietly broker_becomes_follower broker=1 sender=2 partition=0
quietly broker_becomes_follower broker=1 sender=2 partition=1
quietly broker_updates_metadata broker=1 sender=2
refused controller_begins_rebalance broker=2
----
refused controller_cannot_elect_preferred(broker=2, partition=0)
    it elects preferred leaders — false (cache[2].stage electing)
refused controller_cannot_elect_preferred(broker=1, partition=0)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_cannot_elect_preferred(broker=2, partition=1)
    it has read the state — false (partition[1][2].context.read none)
refused controller_cannot_elect_preferred(broker=2, partition=0)
    the partition is asked for — false (partition[0][2].context.due false)
refused controller_cannot_elect_preferred(broker=2, partition=1)
    the preferred replica cannot lead — false (cache[2].live {2}, cache[2].shutting {}, partition[1].replicas {1,2}, partition[1][2].context.lost {}, partition[1][2].place 0, partition[1][2].state.isr {2})
refused controller_begins_rebalance(broker=2)
    the timer's event is next in its queue — false (cache.events[2][0].kind controller_change, cache[2].events.end 0)

# Broker 1 is back, out of the ISR: the balance asks for it, and cannot have it.
quietly rebalance_timer_fires broker=2
refused controller_begins_rebalance broker=1
refused controller_finds_no_imbalance broker=2
quietly controller_begins_rebalance broker=2
refused controller_begins_rebalance broker=2
quietly controller_reads_state broker=2 partition=0
----
refused controller_begins_rebalance(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_finds_no_imbalance(broker=2)
    no partition is led by another than preferred — false (cache[2].live {1,2}, cache[2].shutting {}, partition[0].replicas {1,2}, partition[0][1].place 0, partition[0][2].context.lost {}, partition[0][2].state.leader 2)
refused controller_begins_rebalance(broker=2)
    its event thread is done with the last event — false (cache[2].stage rebalancing)

# The controller is deposed in the middle.
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=1
refused controller_elects_leader broker=2 leader=2 partition=0
refused controller_removes_replica broker=2 replica=2 partition=0
quietly broker_learns_it_won broker=1
refused rebalance_timer_fires broker=1
quietly session_expires broker=2
refused controller_elects_leader broker=2 leader=2 partition=0
refused controller_elects_preferred broker=2 leader=1 partition=0
refused controller_reads_state broker=2 partition=0
refused controller_removes_replica broker=2 replica=2 partition=0
----
refused controller_elects_leader(broker=2, leader=2, partition=0)
    the epoch that it won is the newest — false (belief[2] 1, zk.epoch 2)
refused controller_removes_replica(broker=2, replica=2, partition=0)
    the epoch that it won is the newest — false (belief[2] 1, zk.epoch 2)
refused rebalance_timer_fires(broker=1)
    it has begun its work as the controller — false (cache[1].stage starting)
refused controller_elects_leader(broker=2, leader=2, partition=0)
    it has a ZooKeeper session — false (zk.registered {1})
refused controller_elects_preferred(broker=2, leader=1, partition=0)
    it has a ZooKeeper session — false (zk.registered {1})
refused controller_reads_state(broker=2, partition=0)
    it has a ZooKeeper session — false (zk.registered {1})
refused controller_removes_replica(broker=2, replica=2, partition=0)
    it has a ZooKeeper session — false (zk.registered {1})
