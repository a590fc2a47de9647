# A broker learns of a newer controller by a request that gives it no role.
# Shows: from then on it refuses all that the older one has sent, whatever its leader epoch.
system replication version 2.3 brokers 3

quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_partition broker=1
quietly controller_elects_leader broker=1 leader=3
quietly controller_elects_leader broker=1 leader=2
quietly session_expires broker=2
quietly controller_reads_partition broker=1
quietly controller_removes_replica broker=1 replica=2

# Nothing of that has arrived yet at broker 3, which is the next controller.
quietly session_expires broker=1
quietly broker_becomes_controller broker=3
quietly broker_learns_it_won broker=3
quietly broker_reconnects broker=1
quietly controller_reads_partition broker=3
quietly controller_elects_leader broker=3 leader=1
quietly session_expires broker=1
quietly controller_reads_partition broker=3
quietly controller_removes_replica broker=3 replica=1

# It is notified by itself, as a controller, that nobody leads.
quietly leaderless_request_is_ignored broker=3 epoch=5 controller=2
refused broker_becomes_leader broker=3 epoch=1 controller=1
refused leaderless_request_is_ignored broker=3 epoch=3 controller=1
quietly older_controller_is_refused broker=3 epoch=3 controller=1
----
refused broker_becomes_leader(broker=3, epoch=1, controller=1)
    the broker has seen no newer controller — false (replica[3].controller_epoch 2)
refused leaderless_request_is_ignored(broker=3, epoch=3, controller=1)
    the broker has seen no newer controller — false (replica[3].controller_epoch 2)
