# A process is dead and its session has not expired.
# Shows: whatever is sent to it, it takes up no role and no controllership, and answers nothing.
system replication version 2.3 brokers 3

quietly broker_becomes_controller broker=3
quietly broker_learns_it_won broker=3
quietly controller_reads_partition broker=3
quietly broker_crashes broker=2
quietly controller_elects_leader broker=3 leader=1
refused broker_becomes_follower broker=2 epoch=1 controller=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly broker_becomes_follower broker=3 epoch=1 controller=1
----
refused broker_becomes_follower(broker=2, epoch=1, controller=1)
    the process runs — false (up {1,3})

# The leader dies too.
quietly broker_crashes broker=1
quietly follower_sends_fetch broker=3 leader=1
refused leader_refuses_fetch leader=1 follower=3
quietly session_expires broker=1
quietly controller_reads_partition broker=3
quietly controller_removes_replica broker=3 replica=1
refused leaderless_request_is_ignored broker=2 epoch=2 controller=1
quietly controller_node_is_deleted
refused broker_becomes_controller broker=2
----
refused leader_refuses_fetch(leader=1, follower=3)
    the process that is asked runs — false (up {3})
refused leaderless_request_is_ignored(broker=2, epoch=2, controller=1)
    the process runs — false (up {3})
refused broker_becomes_controller(broker=2)
    its process runs — false (up {3})
