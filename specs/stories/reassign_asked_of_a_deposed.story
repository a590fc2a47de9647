# A deposed controller is asked to start a reassignment, and to cancel one.
# Shows: the znode of the topic is written behind the fence.
system reassignment version 2.4 brokers 3 replicas 2

quietly topic_is_created first=1 second=none third=none
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1

refused controller_is_asked_to_reassign broker=1 first=1 second=2 third=2
refused controller_is_asked_to_reassign broker=1 first=1 second=2 third=3
controller_is_asked_to_reassign broker=1 first=1 second=2 third=none
quietly controller_bumps_epoch broker=1
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=2
refused controller_is_asked_to_reassign broker=1 first=3 second=none third=none
refused controller_cancels_move broker=1
check deposed_controllers_write_nothing
----
refused controller_is_asked_to_reassign(broker=1, first=1, second=2, third=2)
    the third replica is another — false
refused controller_is_asked_to_reassign(broker=1, first=1, second=2, third=3)
    the list may have three replicas — false
controller_is_asked_to_reassign(broker=1, first=1, second=2, third=none)
    zk[2].assignment: none → 1
    zk.adding: {} → {2}
    cache[1].task: idle → bumping
    cache[1][2].assignment: none → 1
    cache[1][1].target: none → 0
    cache[1][2].target: none → 1
refused controller_is_asked_to_reassign(broker=1, first=3, second=none, third=none)
    the epoch that it won is the newest — false (belief[1] 1, zk.epoch 2)
refused controller_cancels_move(broker=1)
    the epoch that it won is the newest — false (belief[1] 1, zk.epoch 2)
deposed_controllers_write_nothing: holds of every step
