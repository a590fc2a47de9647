# What is refused at each moment while one controller takes over from another.
# Shows: who may elect, and what a controller that is deposed may still do: nothing.
system replication version 2.3 brokers 3

refused reply_to_registration_is_lost broker=1
refused controller_resigns broker=1
refused controller_node_is_deleted
refused leader_and_isr_is_lost broker=1 epoch=1 controller=1
refused leaderless_request_is_ignored broker=1 epoch=1 controller=1
quietly broker_becomes_controller broker=1
quietly reply_to_registration_is_lost broker=1
refused reply_to_registration_is_lost broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_partition broker=1
refused controller_election_conflicts broker=1 leader=2
refused controller_removes_replica broker=1 replica=2
quietly controller_elects_leader broker=1 leader=2
refused controller_issues_leader_and_isr broker=1 replica=2
refused broker_becomes_follower broker=1 epoch=1 controller=2
refused broker_becomes_follower broker=2 epoch=1 controller=1
refused leaderless_request_is_ignored broker=1 epoch=1 controller=1
refused older_controller_is_refused broker=1 epoch=1 controller=1
refused older_epoch_is_refused broker=1 epoch=1 controller=1
quietly broker_becomes_leader broker=2 epoch=1 controller=1
refused older_epoch_is_refused broker=2 epoch=1 controller=1
quietly broker_becomes_follower broker=1 epoch=1 controller=1
----
refused reply_to_registration_is_lost(broker=1)
    the broker won and has not learned that yet — false (campaign[1] 0)
refused controller_resigns(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
refused controller_node_is_deleted()
    /controller exists — false (zk.controller none)
refused leader_and_isr_is_lost(broker=1, epoch=1, controller=1)
    the request is in flight — false (request[1][1][1].in_flight false)
refused leaderless_request_is_ignored(broker=1, epoch=1, controller=1)
    the request is in flight — false (request[1][1][1].in_flight false)
refused reply_to_registration_is_lost(broker=1)
    the reply is on its way — false (reply_lost[1] true)
refused controller_election_conflicts(broker=1, leader=2)
    the version that it read is out of date — false (cache[1].version 0, zk.version 0)
refused controller_removes_replica(broker=1, replica=2)
    the replica was dead when it read — false (cache[1].live {1,2,3})
refused controller_issues_leader_and_isr(broker=1, replica=2)
    no such request is in flight to it already — false (request[1][1][2].in_flight true)
refused broker_becomes_follower(broker=1, epoch=1, controller=2)
    the request is in flight — false (request[1][2][1].in_flight false)
refused broker_becomes_follower(broker=2, epoch=1, controller=1)
    the request names another broker the leader — false (elected[1] 2)
refused leaderless_request_is_ignored(broker=1, epoch=1, controller=1)
    the request names no leader — false (elected[1] 2)
refused older_controller_is_refused(broker=1, epoch=1, controller=1)
    the broker has seen a newer controller — false (replica[1].controller_epoch 0)
refused older_epoch_is_refused(broker=1, epoch=1, controller=1)
    the broker knows this leader epoch or a newer one — false (replica[1].epoch none)
refused older_epoch_is_refused(broker=2, epoch=1, controller=1)
    the request is in flight — false (request[1][1][2].in_flight false)

# Broker 2 leads, and its session ends; the controller reads that. Then it is deposed.
quietly session_expires broker=2
refused controller_issues_leader_and_isr broker=1 replica=2
quietly controller_reads_partition broker=1
refused controller_removal_conflicts broker=1 replica=2
quietly controller_node_is_deleted
----
refused controller_issues_leader_and_isr(broker=1, replica=2)
    the replica is registered — false (zk.registered {1,3})
refused controller_removal_conflicts(broker=1, replica=2)
    the version that it read is out of date — false (cache[1].version 1, zk.version 1)

# Broker 3 is the next controller. Broker 1 believes that it still is the controller.
refused broker_becomes_controller broker=1
refused controller_issues_leader_and_isr broker=1 replica=1
quietly broker_becomes_controller broker=3
refused controller_elects_leader broker=1 leader=3
refused controller_election_is_fenced broker=1 leader=2
refused controller_removes_replica broker=1 replica=2
refused controller_removal_is_fenced broker=1 replica=3
quietly broker_learns_it_won broker=3
quietly controller_reads_partition broker=3
quietly controller_removes_replica broker=3 replica=2
refused controller_election_conflicts broker=1 leader=3
refused controller_removes_replica broker=3 replica=2
refused controller_removal_conflicts broker=1 replica=2
refused broker_becomes_follower broker=1 epoch=2 controller=2
quietly leaderless_request_is_ignored broker=3 epoch=2 controller=2
refused broker_becomes_follower broker=3 epoch=1 controller=1
refused older_controller_is_refused broker=3 epoch=2 controller=1
quietly controller_reads_partition broker=3
quietly controller_elects_leader broker=3 leader=3
quietly broker_becomes_leader broker=3 epoch=3 controller=2
refused older_epoch_is_refused broker=3 epoch=1 controller=1
quietly older_controller_is_refused broker=3 epoch=1 controller=1
quietly broker_becomes_follower broker=1 epoch=3 controller=2
refused leaderless_request_is_ignored broker=1 epoch=2 controller=2
quietly older_epoch_is_refused broker=1 epoch=2 controller=2
----
refused broker_becomes_controller(broker=1)
    it does not believe it is the controller — false (belief[1] 1)
refused controller_issues_leader_and_isr(broker=1, replica=1)
    /controller is its own — false (zk.controller none)
refused controller_elects_leader(broker=1, leader=3)
    the epoch that it won is the newest — false (belief[1] 1, zk.epoch 2)
refused controller_election_is_fenced(broker=1, leader=2)
    the candidate was alive when it read — false (cache[1].live {1,3})
refused controller_removes_replica(broker=1, replica=2)
    the epoch that it won is the newest — false (belief[1] 1, zk.epoch 2)
refused controller_removal_is_fenced(broker=1, replica=3)
    the replica was dead when it read — false (cache[1].live {1,3})
refused controller_election_conflicts(broker=1, leader=3)
    the epoch that it won is the newest — false (belief[1] 1, zk.epoch 2)
refused controller_removes_replica(broker=3, replica=2)
    the replica is in the ISR that it read — false (cache[3].isr {1,3})
refused controller_removal_conflicts(broker=1, replica=2)
    the epoch that it won is the newest — false (belief[1] 1, zk.epoch 2)
refused broker_becomes_follower(broker=1, epoch=2, controller=2)
    the request names a leader — false (elected[2] none)
refused broker_becomes_follower(broker=3, epoch=1, controller=1)
    the broker has seen no newer controller — false (replica[3].controller_epoch 2)
refused older_controller_is_refused(broker=3, epoch=2, controller=1)
    the request is in flight — false (request[2][1][3].in_flight false)
refused older_epoch_is_refused(broker=3, epoch=1, controller=1)
    the broker has seen no newer controller — false (replica[3].controller_epoch 2)
refused leaderless_request_is_ignored(broker=1, epoch=2, controller=2)
    the leader epoch is newer than the broker's — false (replica[1].epoch 3)

# Broker 2 is back, and is notified of the leader.
quietly broker_reconnects broker=2
quietly controller_issues_leader_and_isr broker=3 replica=2
quietly leader_and_isr_is_lost broker=2 epoch=3 controller=2
quietly controller_election_is_fenced broker=1 leader=1

# Broker 1 wins again, and does not hear of it before it is over.
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=1
refused controller_removal_is_fenced broker=3 replica=2
quietly reply_to_registration_is_lost broker=1
quietly controller_node_is_deleted
refused broker_becomes_controller broker=1
quietly broker_loses_controller_election broker=1
quietly controller_resigns broker=3
----
refused controller_removal_is_fenced(broker=3, replica=2)
    the replica is in the ISR that it read — false (cache[3].isr {1,3})
refused broker_becomes_controller(broker=1)
    it has learned the outcome of its registration — false (campaign[1] 3)
