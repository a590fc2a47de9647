# A new controller finds a deletion and a reassignment of one topic: it removes the latter.
# Shows: it is asked to be deleted once; who has not read the cluster drops nothing.
system reassignment version 2.3 brokers 2 replicas 2

quietly topic_is_created first=1 second=none third=none
quietly admin_deletes_topic
refused admin_deletes_topic
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
refused controller_drops_move_of_deleted_topic broker=1
refused controller_reads_context broker=1
quietly admin_requests_reassignment first=1 second=none third=none
quietly controller_reads_context broker=1
refused controller_drops_request_already_assigned broker=1
refused controller_begins_move broker=1
refused controller_begins_with_targets_in_sync broker=1
quietly controller_drops_move_of_deleted_topic broker=1
refused controller_drops_move_of_deleted_topic broker=1
----
refused admin_deletes_topic()
    it is not to be deleted yet — false (zk.deleting true)
refused controller_drops_move_of_deleted_topic(broker=1)
    it waits for events, or has just begun — false (cache[1].task none)
refused controller_reads_context(broker=1)
    it does not begin to delete the topic — false (zk.deleting true)
refused controller_drops_request_already_assigned(broker=1)
    the topic is not queued for deletion — false (cache[1].deleting true)
refused controller_begins_move(broker=1)
    the topic is not queued for deletion — false (cache[1].deleting true)
refused controller_begins_with_targets_in_sync(broker=1)
    the topic is not queued for deletion — false (cache[1].deleting true)
refused controller_drops_move_of_deleted_topic(broker=1)
    the request names the partition — false (cache[1].task idle)
