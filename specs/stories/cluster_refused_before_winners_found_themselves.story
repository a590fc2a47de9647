# What is refused where a winner does not compare /controller with its own id.
# Shows: it takes itself for another, though /controller is its own (KAFKA-13407).
system cluster version 2.3 without winner_reads_controller_back brokers 2 partitions 1 replicas 2

refused elected_broker_assumes_another_controller broker=1
quietly broker_becomes_controller broker=1
refused elected_broker_assumes_another_controller broker=1
quietly reply_to_registration_is_lost broker=1
refused broker_loses_controller_election broker=1
quietly controller_node_is_deleted
refused elected_broker_assumes_another_controller broker=1
quietly broker_loses_controller_election broker=1
----
refused elected_broker_assumes_another_controller(broker=1)
    the broker won and has not learned that yet — false (campaign[1] 0)
refused elected_broker_assumes_another_controller(broker=1)
    its reply was lost — false (reply_lost[1] false)
refused broker_loses_controller_election(broker=1)
    /controller or the epoch is another's by now — false (campaign[1] 1, zk.controller 1, zk.epoch 1)
refused elected_broker_assumes_another_controller(broker=1)
    /controller and the epoch are its own — false (zk.controller none)
