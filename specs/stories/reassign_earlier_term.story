# A withdrawn reassignment runs again when its controller becomes controller again.
# Shows: what was being reassigned outlives the resignation, and no request says so any more.
# (KAFKA-5310, fixed in 0.11)
system reassignment version 2.3 without moves_forgotten_on_resign brokers 2

quietly topic_is_created first=1 second=none third=none
quietly admin_requests_reassignment first=2 second=none third=none
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly controller_begins_move broker=1

# The administrator changes his mind: the request is deleted, and the controller resigns.
admin_withdraws_request
quietly session_expires broker=1
quietly broker_reconnects broker=1
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
controller_reads_context broker=1
show zk.requested
check withdrawn_reassignments_do_not_start
----
admin_withdraws_request()
    zk[2].requested: 0 → none
    withdrawn: false → true
    withdrawn_in: 0 → 1
controller_reads_context(broker=1)
    cache[1].task: none → beginning
    cache[1].leader: none → 1
    cache[1].isr: {} → {1}
    cache[1].live: {} → {1,2}
    cache[1].reached: {} → {1,2}
    cache[1][1].assignment: none → 0
    cache[1][2].target: none → 0
    request[0][2].to: {} → {1}
    request[0][2].leader: none → 1
    request[0][2].isr: {} → {1}
    request[0][2].replicas: {} → {1}
    metadata[1].controller: 1 → 2
    metadata[2].controller: 1 → 2
zk[1].requested: none
zk[2].requested: none
withdrawn_reassignments_do_not_start: broken — a controller that was elected after a request was withdrawn does not work on it
    (belief[1] 2, cache[1][2].target 0, withdrawn true, withdrawn_in 1, zk.epoch 2, zk[2].requested none)
