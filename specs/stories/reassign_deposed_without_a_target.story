# A dead target leaves the ISR and joins it again, and the controller is deposed.
# Shows: that no target may lead is written over a state that is current, behind the fence.
system reassignment version 2.3 brokers 3

quietly topic_is_created first=1 second=none third=none
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly admin_requests_two_reassignments first=3 second=none third=none
quietly controller_begins_move broker=2
quietly controller_writes_union_of_replicas broker=2
quietly controller_bumps_epoch broker=2
quietly older_epoch_is_refused broker=1 epoch=0 controller=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly broker_becomes_follower broker=3 epoch=1 controller=1
quietly session_expires broker=3
quietly controller_sees_broker_failure broker=2 dead=3
quietly leader_expands_isr leader=1 replica=3
quietly controller_sees_targets_in_sync broker=2
quietly controller_sets_target_in_memory broker=2
quietly leader_appends leader=1
leader_shrinks_isr leader=1 replica=3
refused controller_finds_no_target_to_lead broker=2
quietly follower_catches_up leader=1 follower=3
quietly leader_expands_isr leader=1 replica=3
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=1
refused controller_finds_no_target_to_lead broker=2
controller_resigns broker=2
----
leader_shrinks_isr(leader=1, replica=3)
    zk.isr: {1,3} → {1}
    zk.version: 2 → 3
    replica[1].isr: {1,3} → {1}
    replica[1].zk_version: 2 → 3
refused controller_finds_no_target_to_lead(broker=2)
    the version that it read is current — false (cache[2].version 2, zk.version 3)
refused controller_finds_no_target_to_lead(broker=2)
    the epoch that it won is the newest — false (belief[2] 1, zk.epoch 2)
controller_resigns(broker=2)
    belief[2]: 1 → 0
    cache[2].task: leading → none
    cache[2].leader: 1 → none
    cache[2].isr: {1,3} → {}
    cache[2].version: 2 → 0
    cache[2].epoch: 1 → 0
    cache[2].live: {1,2} → {}
    cache[2].reached: {1,2} → {}
    cache[2][3].assignment: 0 → none
    cache[2][3].target: 0 → none
    cache[2].old: {1} → {}
    cache[2].leaving: {1} → {}
    cache[2].other: moving → none
