# What is refused at each moment while a target of a move is dead.
# Shows: what needs a process, a session or a registration; each line is refused for one reason
# alone.
system reassignment version 2.3 without waits_for_dead_targets brokers 2

quietly topic_is_created first=1 second=none third=none
quietly admin_requests_reassignment first=2 second=none third=none
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
refused controller_drops_move_to_dead_broker broker=2
quietly controller_reads_context broker=2
refused controller_drops_move_to_dead_broker broker=2
quietly controller_begins_move broker=2
quietly controller_writes_union_of_replicas broker=2
quietly broker_crashes broker=2
refused broker_crashes broker=2
refused broker_starts broker=2
quietly session_expires broker=2
refused broker_reconnects broker=2
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
refused controller_begins_move broker=1
quietly controller_drops_move_to_dead_broker broker=1
refused controller_sees_broker_failure broker=1 dead=2
refused controller_sees_broker_startup broker=1 started=2
refused controller_sees_targets_in_sync broker=1
refused controller_begins_with_targets_in_sync broker=1
----
refused controller_drops_move_to_dead_broker(broker=2)
    it waits for events, or has just begun — false (cache[2].task none)
refused controller_drops_move_to_dead_broker(broker=2)
    a target is not alive — false (cache[2].task beginning)
refused broker_crashes(broker=2)
    the process runs — false (up {1})
refused broker_starts(broker=2)
    the old registration is gone — false (zk.registered {1,2})
refused broker_reconnects(broker=2)
    the process runs — false (up {1})
refused controller_begins_move(broker=1)
    every target is alive — false (cache[1].live {1}, cache[1].task beginning, cache[1][2].target 0, zk[2].requested 0)
refused controller_sees_broker_failure(broker=1, dead=2)
    the broker was alive — false (cache[1].live {1})
refused controller_sees_broker_startup(broker=1, started=2)
    the broker is registered — false (zk.registered {1})
refused controller_sees_targets_in_sync(broker=1)
    the partition is to move — false
refused controller_begins_with_targets_in_sync(broker=1)
    the request names the partition — false (cache[1].task idle)
