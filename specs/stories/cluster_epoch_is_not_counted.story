# A new controller's write of the epoch is executed, and refused when it is sent again; it goes on.
# Shows: up to 1.0 it has the epoch of the controller before it, which may be alive (KAFKA-5642).
system cluster version 0.11 brokers 2 partitions 1 replicas 2

quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=2
reply_to_registration_is_lost broker=2
refused broker_loses_controller_election broker=2
broker_learns_it_won broker=2
----
reply_to_registration_is_lost(broker=2)
    reply_lost[2]: false → true
refused broker_loses_controller_election(broker=2)
    it is the first controller there is — false (campaign[2] 2)
broker_learns_it_won(broker=2)
    campaign[2]: 2 → 0
    reply_lost[2]: true → false
    belief[2]: 0 → 1
