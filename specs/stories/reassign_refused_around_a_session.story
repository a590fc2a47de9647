# What a controller cannot do in the middle of a task, or without its session.
# Shows: it handles one event at a time; and who has read nothing yet has nothing to do.
system reassignment version 2.3 brokers 2 replicas 2

quietly topic_is_created first=1 second=none third=none
quietly admin_requests_two_reassignments first=1 second=none third=none
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
refused controller_completes_other_reassignment broker=1
quietly session_expires broker=1
refused controller_reads_context broker=1
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly session_expires broker=2
quietly broker_reconnects broker=1
quietly broker_becomes_controller broker=1
refused controller_write_is_fenced broker=2
check only_controllers_have_tasks
----
refused controller_completes_other_reassignment(broker=1)
    it waits for events — false (cache[1].task none)
refused controller_reads_context(broker=1)
    it has a ZooKeeper session — false (zk.registered {2})
refused controller_write_is_fenced(broker=2)
    it has a ZooKeeper session — false (zk.registered {1})
only_controllers_have_tasks: holds
