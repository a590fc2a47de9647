# A broker is elected controller, the reply is lost, and by its next read another is controller.
# Shows: its own id in /controller is not enough, and an epoch as high as its own is not either; it
# must find both, and else it never acts as controller. (KAFKA-6082)
system replication version 2.3 brokers 2

quietly broker_becomes_controller broker=1
quietly reply_to_registration_is_lost broker=1
quietly session_expires broker=1
broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
refused broker_learns_it_won broker=1
broker_loses_controller_election broker=1
refused controller_reads_partition broker=1
show belief
----
broker_becomes_controller(broker=2)
    zk.controller: none → 2
    zk.epoch: 1 → 2
    campaign[2]: 0 → 2
refused broker_learns_it_won(broker=1)
    the reply arrives, or the broker finds itself — false (campaign[1] 1, reply_lost[1] true, zk.controller 2, zk.epoch 2)
broker_loses_controller_election(broker=1)
    campaign[1]: 1 → 0
    reply_lost[1]: true → false
refused controller_reads_partition(broker=1)
    the broker believes it is the controller — false (belief[1] 0)
belief[1]: 0
belief[2]: 2
