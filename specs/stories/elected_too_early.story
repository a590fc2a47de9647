# A leader that is being removed from the ISR takes a follower into it, and nobody elects that one.
# Shows: a partition without a leader whose ISR is alive. onReplicasBecomeOffline elects by the state that
# it reads first, and removes the leader by a state that it reads again; no election follows. The leader
# had lost its session, was back with another, and died before the controller read that.
system cluster version 2.3 brokers 2 replicas 2 crashes 2 expiries 3 queue 8

# Broker 2 starts again and is the controller. Broker 1 leads, and is alone in the ISR.
quietly broker_crashes broker=2
quietly leader_shrinks_isr leader=1 replica=2 partition=0
quietly session_expires broker=2
quietly broker_starts broker=2
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly controller_sends_initial_update_metadata broker=2
quietly controller_starts_replica_state_machine broker=2
quietly controller_sends_election_batch broker=2
quietly controller_finds_no_request broker=2
quietly broker_updates_metadata broker=2 sender=2
quietly broker_becomes_follower broker=2 sender=2 partition=0
quietly broker_updates_metadata broker=2 sender=2

# The session of broker 1 ends. No ISR member is live when the controller elects.
quietly session_expires broker=1
quietly controller_sees_dead_brokers broker=2
quietly controller_reads_state broker=2 partition=0
controller_finds_no_leader broker=2 partition=0
quietly controller_sends_election_batch broker=2

# Broker 1 has a session again before it is removed, and none afterwards.
quietly broker_reconnects broker=1
leader_expands_isr leader=1 replica=2 partition=0
quietly controller_reads_state broker=2 partition=0
controller_removes_replica broker=2 replica=1 partition=0
quietly controller_sends_removal_batch broker=2
quietly broker_crashes broker=1
quietly session_expires broker=1
controller_finds_brokers_unchanged broker=2
quietly broker_finds_leader_not_in_metadata_cache broker=2 sender=2 partition=0
quietly broker_updates_metadata broker=2 sender=2
check idle_partitions_have_leaders
----
controller_finds_no_leader(broker=2, partition=0)
    partition[0][2].context.due: true → false
    partition[0][2].context.read: 1 → none
leader_expands_isr(leader=1, replica=2, partition=0)
    partition[0].version: 1 → 2
    partition[0][2].state.leader: none → 1
    partition[0][2].state.isr: {} → {1,2}
    partition[0][1].replica.version: 1 → 2
controller_removes_replica(broker=2, replica=1, partition=0)
    partition[0].version: 2 → 3
    partition[0][3].state.epoch: 0 → 1
    partition[0][3].state.isr: {} → {2}
    partition[0][3].state.controller: 0 → 1
    partition[0][2].context.version: 1 → 3
    partition[0][2].context.gone: {1} → {}
    partition[0][2].context.read: 2 → none
    partition[0][2].context.batched: false → true
controller_finds_brokers_unchanged(broker=2)
    cache[2].events: [kind broker_change subject none] → []
idle_partitions_have_leaders: broken — when nothing is under way, a partition with a live ISR member has a live leader in the registered epoch, which knows the registered ISR, and every other live replica fetches from it, except brokers that have requested a controlled shutdown
    (belief[2] 1, cache[2].events.end 0, cache[2].stage idle, leaving[2] stays, partition[0].failed {}, partition[0].version 3, partition[0][3].state.isr {2}, partition[0][3].state.leader none, up {2}, zk.controller 2, zk.epoch 1, zk.registered {2})
