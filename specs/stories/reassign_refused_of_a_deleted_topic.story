# A topic is to be deleted: a move that was asked for is dropped, and none begins.
# Shows: it is asked to be deleted once; who has not read the cluster drops nothing.
system reassignment version 2.3 brokers 2 replicas 2

quietly topic_is_created first=1 second=none third=none
quietly admin_deletes_topic
refused admin_deletes_topic
quietly admin_requests_reassignment first=1 second=none third=none
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
refused controller_drops_move_of_deleted_topic broker=1
quietly controller_reads_context broker=1
refused controller_drops_request_already_assigned broker=1
quietly controller_drops_move_of_deleted_topic broker=1
refused controller_drops_move_of_deleted_topic broker=1
----
refused admin_deletes_topic()
    it is not to be deleted yet — false (zk.deleting true)
refused controller_drops_move_of_deleted_topic(broker=1)
    it waits for events, or has just begun — false (cache[1].task none)
refused controller_drops_request_already_assigned(broker=1)
    the topic is not to be deleted — false (zk.deleting true)
refused controller_drops_move_of_deleted_topic(broker=1)
    the request names the partition — false (cache[1].task idle)
