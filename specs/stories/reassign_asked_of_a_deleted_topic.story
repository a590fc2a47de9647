# Since KIP-455 a controller is asked itself: it refuses to move a topic that is to be deleted.
# Shows: nor does it begin what was asked for under /admin.
system reassignment version 2.4 brokers 2 replicas 2

quietly topic_is_created first=1 second=none third=none
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly admin_requests_reassignment first=1 second=none third=none
quietly admin_deletes_topic
quietly controller_drops_move_of_deleted_topic broker=1
refused controller_is_asked_for_move broker=1 first=1 second=2 third=none
----
refused controller_is_asked_for_move(broker=1, first=1, second=2, third=none)
    the topic is not to be deleted — false (zk.deleting true)
