# What is refused to a controller that is deposed before it knows a topic.
# Shows: each line is refused for one reason alone.
system reassignment version 2.3 brokers 2 replicas 2

quietly broker_becomes_controller broker=1
refused topic_is_created first=1 second=none third=none
quietly reply_to_registration_is_lost broker=1
refused broker_loses_controller_election broker=1
quietly broker_learns_it_won broker=1
refused controller_reads_context broker=1
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=2
refused controller_write_is_fenced broker=1
quietly controller_node_is_deleted
refused broker_becomes_controller broker=2
----
refused topic_is_created(first=1, second=none, third=none)
    no controller was there before — false (zk.epoch 1)
refused broker_loses_controller_election(broker=1)
    /controller or the epoch is another's by now — false (campaign[1] 1, zk.controller 1, zk.epoch 1)
refused controller_reads_context(broker=1)
    the partition exists — false
refused controller_write_is_fenced(broker=1)
    it is about to write to ZooKeeper — false (cache[1].task none, zk.other none)
refused broker_becomes_controller(broker=2)
    it has learned the outcome of its registration — false (campaign[2] 2)
