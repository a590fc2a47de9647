# What is refused on a run through failovers, shutdowns and elections, part 2.
# Shows: guards that no other story meets first.
system cluster version 2.3 brokers 3 partitions 1 replicas 2 versions 8 epoch 8 controllers 5 queue 8 events 6 endpoints 2 crashes 3 expiries 4 losses 2 shutdowns 2 requests 3 directories 1 lingering 2

quietly broker_becomes_controller broker=2
quietly broker_asks_for_controlled_shutdown broker=2
quietly broker_crashes broker=3
quietly session_expires broker=1
quietly broker_crashes broker=2
quietly broker_reconnects broker=1
quietly leader_shrinks_isr leader=1 replica=2 partition=0
quietly broker_reports_isr_change broker=1 partition=0
quietly leader_commits leader=1 partition=0
quietly broker_asks_for_controlled_shutdown broker=1
quietly session_expires broker=1
quietly broker_reconnects broker=1
quietly session_expires broker=2
quietly broker_becomes_controller broker=1
quietly broker_starts broker=2
refused broker_asks_for_controlled_shutdown broker=2
quietly broker_learns_it_won broker=1
quietly shutdown_request_arrives broker=1 subject=1
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=2
refused controller_reads_context broker=1
----
refused broker_asks_for_controlled_shutdown(broker=2)
    no earlier request of the broker is in flight — false (asked {1,2})
refused controller_reads_context(broker=1)
    its epoch is the newest, or no notification is to be deleted — false (belief[1] 2, partition[0].noted true, zk.epoch 3)
