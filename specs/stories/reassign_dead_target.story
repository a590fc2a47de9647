# A reassignment is dropped in the middle because the controller and a target restart together.
# Shows: the next controller finds a dead target and drops the request, and the assignment stays
# between the old list and the new. (KAFKA-4214, fixed in 0.10.1)
system reassignment version 2.3 without waits_for_dead_targets brokers 2

quietly topic_is_created first=1 second=none third=none
quietly admin_requests_reassignment first=2 second=none third=none
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly controller_begins_move broker=2
controller_writes_union_of_replicas broker=2
quietly broker_crashes broker=2
quietly session_expires broker=2
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
refused controller_begins_move broker=1
controller_drops_move_to_dead_broker broker=1
show zk.assignment
check assignment_is_original_or_requested
----
controller_writes_union_of_replicas(broker=2)
    zk[1].assignment: 0 → 1
    zk[2].assignment: none → 0
    cache[2].task: assigning → bumping
    cache[2][1].assignment: 0 → 1
    cache[2][2].assignment: none → 0
refused controller_begins_move(broker=1)
    every target is alive — false (cache[1].live {1}, cache[1].task beginning, cache[1][2].target 0, zk[2].requested 0)
controller_drops_move_to_dead_broker(broker=1)
    zk[2].requested: 0 → none
    cache[1].task: beginning → idle
    cache[1][2].target: 0 → none
    wanted[2]: 0 → none
zk[1].assignment: 1
zk[2].assignment: 0
assignment_is_original_or_requested: broken — without a request the assignment is a list that was requested, in its order, unless a request was withdrawn, or the topic is to be deleted
    (origin[1] 0, wanted[1] none, withdrawn false, zk.deleting false, zk[1].assignment 1)
