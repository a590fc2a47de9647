# Two brokers act as the controller, and the others refuse the older one.
# Shows: with the controller epoch in every request the same run ends at the broker, which knows a
# newer controller. The older one is not stopped by this: it hears of it, or asks ZooKeeper. (0.8)
system election version 2.3 brokers 3

quietly broker_connects broker=1
quietly broker_connects broker=2
quietly broker_reads_epoch broker=1
quietly broker_wins_election broker=1
quietly broker_learns_it_won broker=1
quietly controller_sends_request broker=1
quietly session_expires broker=1
quietly broker_reads_epoch broker=2
quietly broker_wins_election broker=2
quietly broker_learns_it_won broker=2
quietly controller_sends_request broker=2
check two_brokers_believe_they_are_controller
broker_handles_request broker=3 sender=2 epoch=2
refused broker_handles_request broker=3 sender=1 epoch=1
check no_older_controller_is_obeyed
----
two_brokers_believe_they_are_controller: so it is — two brokers believe they are the controller, under different epochs
broker_handles_request(broker=3, sender=2, epoch=2)
    seen[3]: 0 → 2
    obeyed[3]: 0 → 2
refused broker_handles_request(broker=3, sender=1, epoch=1)
    the broker knows no newer controller — false (seen[3] 2)
no_older_controller_is_obeyed: holds

# A broker that has heard of neither may still obey the older one first; only then it is too late.
broker_handles_request broker=1 sender=1 epoch=1
broker_handles_request broker=1 sender=2 epoch=2
refused broker_handles_request broker=1 sender=1 epoch=1
check no_older_controller_is_obeyed
----
broker_handles_request(broker=1, sender=1, epoch=1)
    seen[1]: 0 → 1
    obeyed[1]: 0 → 1
broker_handles_request(broker=1, sender=2, epoch=2)
    seen[1]: 1 → 2
    obeyed[1]: 1 → 2
refused broker_handles_request(broker=1, sender=1, epoch=1)
    the broker knows no newer controller — false (seen[1] 2)
no_older_controller_is_obeyed: holds
