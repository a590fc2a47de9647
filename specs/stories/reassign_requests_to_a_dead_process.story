# A controller sends requests to a process that has died, whose session has not expired.
# Shows: the requests wait, and nobody takes them.
system reassignment version 2.3 brokers 2 replicas 2

quietly topic_is_created first=1 second=none third=none
quietly broker_crashes broker=1
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
refused broker_becomes_follower broker=1 epoch=0 controller=1
refused leaderless_request_is_ignored broker=1 epoch=0 controller=1
refused older_controller_is_refused broker=1 epoch=0 controller=1
refused request_to_non_replica_is_refused broker=1 epoch=0 controller=1
quietly session_expires broker=1
quietly controller_sees_broker_failure broker=2 dead=1
refused controller_removes_dead_replica broker=2 dead=2

----
refused broker_becomes_follower(broker=1, epoch=0, controller=1)
    the process runs — false (up {2})
refused leaderless_request_is_ignored(broker=1, epoch=0, controller=1)
    the process runs — false (up {2})
refused older_controller_is_refused(broker=1, epoch=0, controller=1)
    the process runs — false (up {2})
refused request_to_non_replica_is_refused(broker=1, epoch=0, controller=1)
    the process runs — false (up {2})
refused controller_removes_dead_replica(broker=2, dead=2)
    the replica leads or is in the ISR — false (cache[2].isr {1}, cache[2].leader 1)
