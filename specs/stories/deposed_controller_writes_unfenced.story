# A deposed controller writes, and ZooKeeper executes the write.
# Shows: until 2.1 a write was checked against the version of the partition's state only; who was
# deposed while it was under way was still obeyed. (KAFKA-6082)
system election version 2.0 brokers 2

# Broker 1 is elected, and sends a write of the partition's state. Then it stops for a long time.
quietly broker_connects broker=1
quietly broker_connects broker=2
quietly broker_reads_epoch broker=1
broker_wins_election broker=1
broker_learns_it_won broker=1
controller_starts_write broker=1
----
broker_wins_election(broker=1)
    zk.controller: none → 1
    zk.epoch: 0 → 1
    zk.epoch_version: 0 → 1
    won: {} → {(1,1)}
broker_learns_it_won(broker=1)
    read[1].done: true → false
    belief[1].held: false → true
    belief[1].epoch: 0 → 1
    belief[1].version: 0 → 1
controller_starts_write(broker=1)
    pending[1].any: false → true
    pending[1].epoch: 0 → 1
    pending[1].epoch_version: 0 → 1

# Its session expires, /controller vanishes, and broker 2 is elected under the next epoch.
session_expires broker=1
quietly broker_reads_epoch broker=2
broker_wins_election broker=2
quietly broker_learns_it_won broker=2
check two_brokers_believe_they_are_controller
check a_deposed_controller_has_a_write_in_flight
----
session_expires(broker=1)
    zk.controller: 1 → none
    session[1]: true → false
broker_wins_election(broker=2)
    zk.controller: none → 2
    zk.epoch: 1 → 2
    zk.epoch_version: 1 → 2
    won: {(1,1)} → {(1,1),(2,2)}
two_brokers_believe_they_are_controller: so it is — two brokers believe they are the controller, under different epochs
a_deposed_controller_has_a_write_in_flight: so it is — a deposed controller has a write under way, and the partition is as it had read it

# Now the write arrives.
refused write_is_refused broker=1
write_is_applied broker=1
check single_writer
check single_controller
----
refused write_is_refused(broker=1)
    a version in it is out of date — false (pending[1].state_version 0, zk.state_version 0)
write_is_applied(broker=1)
    zk.state_version: 0 → 1
    zk.state_epoch: 0 → 1
    pending[1].any: true → false
    pending[1].epoch: 1 → 0
    pending[1].epoch_version: 1 → 0
    stale_write: false → true
single_writer: broken — ZooKeeper accepts no controller write from an older controller epoch
    (stale_write true)
single_controller: broken — per controller epoch at most one broker ever holds it, ZooKeeper accepts no controller write from an older epoch, and no broker obeys an older controller after a newer one
    (stale_write true)
