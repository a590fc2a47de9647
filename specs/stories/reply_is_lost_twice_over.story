# A broker that won misses the reply, and reads whether it still is the controller.
# Shows: a lost reply can be lost only once; who finds itself in ZooKeeper has not been deposed.
system topics version 2.3 brokers 2 partitions 1

quietly broker_becomes_controller broker=1
refused broker_loses_controller_election broker=1
reply_to_registration_is_lost broker=1
refused reply_to_registration_is_lost broker=1
refused broker_loses_controller_election broker=1
controller_node_is_deleted
refused broker_learns_it_won broker=1
broker_loses_controller_election broker=1
refused broker_loses_controller_election broker=1
----
refused broker_loses_controller_election(broker=1)
    its reply was lost — false (reply_lost[1] false)
reply_to_registration_is_lost(broker=1)
    reply_lost[1]: false → true
refused reply_to_registration_is_lost(broker=1)
    the reply is on its way — false (reply_lost[1] true)
refused broker_loses_controller_election(broker=1)
    /controller or the epoch is another's by now — false (campaign[1] 1, zk.controller 1, zk.epoch 1)
controller_node_is_deleted()
    zk.controller: 1 → none
refused broker_learns_it_won(broker=1)
    the reply arrives, or the broker finds itself — false (reply_lost[1] true, zk.controller none)
broker_loses_controller_election(broker=1)
    campaign[1]: 1 → 0
    reply_lost[1]: true → false
refused broker_loses_controller_election(broker=1)
    the broker won and has not learned that yet — false (campaign[1] 0)
