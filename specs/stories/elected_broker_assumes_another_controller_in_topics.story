# A broker wins the election, the reply is lost, it finds a controller: and no controller acts.
# Shows: without a look at whose the node is, deletions and creations wait for ever (KAFKA-13407).
system topics version 2.3 without winner_reads_controller_back brokers 2

quietly broker_becomes_controller broker=1
quietly reply_to_registration_is_lost broker=1
elected_broker_assumes_another_controller broker=1
refused broker_learns_it_won broker=1
refused broker_becomes_controller broker=2
----
elected_broker_assumes_another_controller(broker=1)
    campaign[1]: 1 → 0
    reply_lost[1]: true → false
refused broker_learns_it_won(broker=1)
    the broker won and has not learned that yet — false (campaign[1] 0)
refused broker_becomes_controller(broker=2)
    /controller does not exist — false (zk.controller 1)
