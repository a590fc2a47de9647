# A dead new replica is accepted only by a request under /admin; it is not cancelled then.
# Shows: the two ways to ask have guards of their own.
system reassignment version 2.4 brokers 2 replicas 2

quietly topic_is_created first=1 second=none third=none
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1

quietly session_expires broker=2
quietly controller_sees_broker_failure broker=1 dead=2
refused controller_is_asked_to_reassign broker=1 first=1 second=2 third=none
quietly admin_requests_reassignment first=1 second=2 third=none
quietly controller_begins_move broker=1
quietly controller_writes_union_of_replicas broker=1
quietly controller_bumps_epoch broker=1
refused controller_cancels_move broker=1
----
refused controller_is_asked_to_reassign(broker=1, first=1, second=2, third=none)
    every new replica is alive — false (cache[1].live {1}, zk[2].assignment none)
refused controller_cancels_move(broker=1)
    there is no request under /admin — false (zk[1].requested 0)
