# The leader is dead, the ISR has no other member, and the controller is deposed before its write.
# Shows: that nobody may lead is written over a state that is current, behind the fence.
system reassignment version 2.3 brokers 3

quietly topic_is_created first=1 second=none third=none
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly session_expires broker=1
controller_sees_broker_failure broker=2 dead=1
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=3
refused controller_removes_dead_replica broker=2 dead=1
check deposed_controllers_write_nothing
----
controller_sees_broker_failure(broker=2, dead=1)
    cache[2].task: idle → removing
    cache[2].live: {1,2,3} → {2,3}
    cache[2].reached: {1,2,3} → {2,3}
refused controller_removes_dead_replica(broker=2, dead=1)
    the epoch that it won is the newest — false (belief[2] 1, zk.epoch 2)
deposed_controllers_write_nothing: holds of every step
