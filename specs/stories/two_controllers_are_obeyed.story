# Two brokers act as the controller, and a third obeys both in turn.
# Shows: before 0.8 a request did not say how new its controller is, so that one who was paused, and
# does not know that it is deposed, is obeyed as before. (KAFKA-532)
system election version 2.3 without requests_fenced brokers 3

quietly broker_connects broker=1
quietly broker_connects broker=2
quietly broker_reads_epoch broker=1
quietly broker_wins_election broker=1
quietly broker_learns_it_won broker=1
quietly controller_sends_request broker=1

# Broker 1 is paused for so long that its session ends; what it sent is still on its way.
quietly session_expires broker=1
quietly broker_reads_epoch broker=2
quietly broker_wins_election broker=2
quietly broker_learns_it_won broker=2
quietly controller_sends_request broker=2
check two_brokers_believe_they_are_controller
broker_handles_request broker=3 sender=2 epoch=2
broker_handles_request broker=3 sender=1 epoch=1
show seen[3]
check no_older_controller_is_obeyed
----
two_brokers_believe_they_are_controller: so it is — two brokers believe they are the controller, under different epochs
broker_handles_request(broker=3, sender=2, epoch=2)
    seen[3]: 0 → 2
    obeyed[3]: 0 → 2
broker_handles_request(broker=3, sender=1, epoch=1)
    seen[3]: 2 → 1
    stale_obedience: false → true
seen[3]: 1
no_older_controller_is_obeyed: broken — no broker obeys an older controller after a newer one
    (stale_obedience true)
