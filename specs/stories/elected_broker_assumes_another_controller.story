# A broker is elected controller, the reply is lost, and it assumes that another one is.
# Shows: a broker that finds any id in /controller and asks no further whose it is leaves the controllership
# to one who does not act: itself. Nobody else can be elected as long as it is alive. (KAFKA-13407)
system replication version 2.3 without winner_reads_controller_back brokers 2

quietly broker_becomes_controller broker=1
quietly reply_to_registration_is_lost broker=1
check registered_controller_is_active
elected_broker_assumes_another_controller broker=1
check registered_controller_is_active
refused broker_becomes_controller broker=1
refused broker_becomes_controller broker=2
refused controller_reads_partition broker=1
----
registered_controller_is_active: holds
elected_broker_assumes_another_controller(broker=1)
    campaign[1]: 1 → 0
    reply_lost[1]: true → false
registered_controller_is_active: broken — the broker in /controller acts as the controller, or has not learned yet that it won, as long as its process runs
    (belief[1] 0, campaign[1] 0, up {1,2}, zk.controller 1, zk.epoch 1)
refused broker_becomes_controller(broker=1)
    /controller does not exist — false (zk.controller 1)
refused broker_becomes_controller(broker=2)
    /controller does not exist — false (zk.controller 1)
refused controller_reads_partition(broker=1)
    the broker believes it is the controller — false (belief[1] 0)

# Only when its session ends somebody acts again.
quietly session_expires broker=1
quietly broker_becomes_controller broker=2
broker_learns_it_won broker=2
check registered_controller_is_active
----
broker_learns_it_won(broker=2)
    campaign[2]: 2 → 0
    belief[2]: 0 → 2
registered_controller_is_active: holds
