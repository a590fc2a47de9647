# Since KIP-455 the request goes to the controller: which requests it refuses.
# Shows: somebody dead, a list with somebody twice, what is so already, a request under /admin.
system reassignment version 2.4 brokers 2 replicas 2

quietly topic_is_created first=1 second=none third=none
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly session_expires broker=2
quietly controller_reads_context broker=1
refused controller_is_asked_to_reassign broker=1 first=2 second=none third=none
quietly broker_reconnects broker=2
quietly controller_sees_broker_startup broker=1 started=2

refused controller_deletes_cancelled_adding_replicas broker=1
refused controller_is_asked_to_reassign broker=1 first=1 second=none third=none
refused controller_is_asked_to_reassign broker=1 first=1 second=1 third=none
refused controller_is_asked_to_reassign broker=1 first=1 second=none third=1
quietly admin_requests_reassignment first=1 second=none third=none
refused controller_is_asked_to_reassign broker=1 first=1 second=2 third=none
----
refused controller_is_asked_to_reassign(broker=1, first=2, second=none, third=none)
    every new replica is alive — false (cache[1].live {1}, zk[2].assignment none)
refused controller_deletes_cancelled_adding_replicas(broker=1)
    a move was changed — false (cache[1].task idle)
refused controller_is_asked_to_reassign(broker=1, first=1, second=none, third=none)
    another list is asked for than it works on — false
refused controller_is_asked_to_reassign(broker=1, first=1, second=1, third=none)
    the second replica is another — false
refused controller_is_asked_to_reassign(broker=1, first=1, second=none, third=1)
    there is no third replica without a second — false
refused controller_is_asked_to_reassign(broker=1, first=1, second=2, third=none)
    there is no request under /admin — false (zk[1].requested 0)
