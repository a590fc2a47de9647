# Since KIP-455 the request goes to the controller: a topic queued for deletion is not moved.
# Shows: a request is dropped, the move that its znode has goes on; brokers hear that nobody leads.
system reassignment version 2.4 brokers 2 replicas 2

quietly topic_is_created first=1 second=none third=none
quietly admin_requests_reassignment first=2 second=none third=none
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly controller_begins_move broker=1
quietly controller_writes_union_of_replicas broker=1
quietly admin_deletes_topic
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
controller_reads_context broker=2
refused controller_begins_move broker=2
controller_drops_move_of_deleted_topic broker=2
quietly controller_bumps_epoch broker=2
refused controller_is_asked_to_reassign broker=2 first=1 second=2 third=none
refused controller_cancels_move broker=2
refused controller_sees_broker_failure broker=2 dead=1
refused controller_sees_broker_startup broker=2 started=1
----
controller_reads_context(broker=2)
    cache[2].task: none → beginning
    cache[2].leader: none → 1
    cache[2].isr: {} → {1}
    cache[2].live: {} → {1,2}
    cache[2].reached: {} → {1,2}
    cache[2][1].assignment: none → 1
    cache[2][2].assignment: none → 0
    cache[2][2].target: none → 0
    cache[2].deleting: false → true
    request[0][2].to: {} → {1,2}
    request[0][2].leader: none → 1
    request[0][2].isr: {} → {1}
    request[0][2].replicas: {} → {1,2}
    metadata[1].leader: 1 → none
    metadata[2].leader: 1 → none
    metadata[1].controller: 1 → 2
    metadata[2].controller: 1 → 2
refused controller_begins_move(broker=2)
    the topic is not queued for deletion — false (cache[2].deleting true)
controller_drops_move_of_deleted_topic(broker=2)
    zk[2].requested: 0 → none
    cache[2].task: beginning → bumping
refused controller_is_asked_to_reassign(broker=2, first=1, second=2, third=none)
    the topic is not queued for deletion — false (cache[2].deleting true)
refused controller_cancels_move(broker=2)
    the topic is not queued for deletion — false (cache[2].deleting true)
refused controller_sees_broker_failure(broker=2, dead=1)
    the topic is not queued for deletion — false (cache[2].deleting true)
refused controller_sees_broker_startup(broker=2, started=1)
    the topic is not queued for deletion — false (cache[2].deleting true)
