# A broker is elected controller, the reply is lost, and it reads its own id in /controller.
# Shows: /controller and the epoch are written by one multi, so a winner that never heard of it can
# tell by reading both whether it is the one: its own id, and the epoch that it wrote. (KAFKA-6082)
system replication version 2.3 brokers 2

broker_becomes_controller broker=1
reply_to_registration_is_lost broker=1
refused broker_becomes_controller broker=2
refused controller_reads_partition broker=1
----
broker_becomes_controller(broker=1)
    zk.controller: none → 1
    zk.epoch: 0 → 1
    campaign[1]: 0 → 1
reply_to_registration_is_lost(broker=1)
    reply_lost[1]: false → true
refused broker_becomes_controller(broker=2)
    /controller does not exist — false (zk.controller 1)
refused controller_reads_partition(broker=1)
    the broker believes it is the controller — false (belief[1] 0)

# It looks, finds itself, and is the controller.
refused broker_loses_controller_election broker=1
broker_learns_it_won broker=1
quietly controller_reads_partition broker=1
controller_elects_leader broker=1 leader=2
check leader_in_isr
----
refused broker_loses_controller_election(broker=1)
    /controller or the epoch is another's by now — false (campaign[1] 1, zk.controller 1, zk.epoch 1)
broker_learns_it_won(broker=1)
    campaign[1]: 1 → 0
    reply_lost[1]: true → false
    belief[1]: 0 → 1
controller_elects_leader(broker=1, leader=2)
    zk.leader: none → 2
    zk.leader_epoch: 0 → 1
    zk.state_epoch: 0 → 1
    zk.version: 0 → 1
    cache[1].leader: none → 2
    cache[1].version: 0 → 1
    elected[1]: none → 2
    request[1][1][1].in_flight: false → true
    request[1][1][2].in_flight: false → true
    request[1][1][1].isr: {} → {1,2}
    request[1][1][2].isr: {} → {1,2}
    request[1][1][1].version: 0 → 1
    request[1][1][2].version: 0 → 1
leader_in_isr: holds
