# The first entry of a request is done, and the others are removed with it.
# Shows: what is left of the request is written from memory, where the other entry is not yet.
# (KAFKA-6193, fixed in 1.1)
system reassignment version 2.3 without requests_loaded_whole brokers 2

quietly topic_is_created first=1 second=2 third=none
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
admin_requests_two_reassignments first=2 second=1 third=none
quietly controller_begins_with_targets_in_sync broker=1
quietly controller_sets_target_in_memory broker=1
quietly controller_keeps_leader broker=1
quietly controller_deletes_old_replicas broker=1
quietly controller_writes_target_replicas broker=1
check other_request_is_kept
----
admin_requests_two_reassignments(first=2, second=1, third=none)
    zk[1].requested: none → 1
    zk[2].requested: none → 0
    zk.other: none → moving
    wanted[1]: none → 1
    wanted[2]: none → 0
    other_is_open: false → true
other_request_is_kept: holds

# The same replicas in another order is a real move, and it is done at once: nothing to wait for.
controller_removes_request_entry broker=1
check a_move_is_done
check other_request_is_kept
----
controller_removes_request_entry(broker=1)
    zk[1].requested: 1 → none
    zk[2].requested: 0 → none
    zk.other: moving → none
    cache[1].task: closing → telling
    cache[1][1].target: 1 → none
    cache[1][2].target: 0 → none
a_move_is_done: so it is — a move is done: the target is the assignment, it was not before, and no request is there
other_request_is_kept: broken — the entry of another partition stays in the request until its reassignment is done, unless a request was withdrawn
    (other_is_open true, withdrawn false, zk.other none)
