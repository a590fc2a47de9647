# A restarted broker refuses a request that was made for it before it restarted.
# Shows: from 2.2 a request names the incarnation of the broker that it is for (the broker epoch: the
# czxid of its registration), and so the late request of a deposed controller does nothing. (KIP-380)
system election version 2.3 brokers 2

# Broker 1 is controller under epoch 1, and sends a request that is long on its way.
quietly broker_connects broker=1
quietly broker_connects broker=2
quietly broker_reads_epoch broker=1
quietly broker_wins_election broker=1
quietly broker_learns_it_won broker=1
controller_sends_request broker=1
----
controller_sends_request(broker=1)
    sent: {} → {(1,1)}

# It is deposed. Broker 2, controller under epoch 2, sends a request, and obeys it itself.
quietly session_expires broker=1
quietly broker_reads_epoch broker=2
quietly broker_wins_election broker=2
quietly broker_learns_it_won broker=2
controller_sends_request broker=2
broker_handles_request broker=2 sender=2 epoch=2
check a_deposed_request_is_in_flight
refused broker_handles_request broker=2 sender=1 epoch=1
----
controller_sends_request(broker=2)
    sent: {(1,1)} → {(1,1),(2,2)}
broker_handles_request(broker=2, sender=2, epoch=2)
    seen[2]: 0 → 2
    obeyed[2]: 0 → 2
a_deposed_request_is_in_flight: so it is — a broker knows the newer controller, and a request of the older one may still arrive
refused broker_handles_request(broker=2, sender=1, epoch=1)
    the broker knows no newer controller — false (seen[2] 2)

# Broker 2 restarts, and the old request of broker 1 arrives.
broker_crashes broker=2
refused broker_handles_request broker=2 sender=1 epoch=1
check no_older_controller_is_obeyed
----
broker_crashes(broker=2)
    belief[2].held: true → false
    belief[2].epoch: 2 → 0
    belief[2].version: 2 → 0
refused broker_handles_request(broker=2, sender=1, epoch=1)
    the broker knows no newer controller — false (seen[2] 2)
no_older_controller_is_obeyed: holds
