# A deposed controller writes, and the version of /controller_epoch fences it.
# Shows: the check of /controller_epoch and the write are one multi, so that no time is left between
# them; the deposed controller's cached version is that of the epoch which it won. (KAFKA-6082, 2.1)
system election version 2.1 brokers 2

# Both stand, broker 1 is elected, and sends a write of the partition's state. Then it stops for a
# long time.
quietly broker_connects broker=1
quietly broker_connects broker=2
quietly broker_reads_epoch broker=1
quietly broker_reads_epoch broker=2
broker_wins_election broker=1
refused broker_wins_election broker=2
broker_loses_controller_election broker=2
broker_learns_it_won broker=1
controller_starts_write broker=1
refused controller_starts_write broker=1
----
broker_wins_election(broker=1)
    zk.controller: none → 1
    zk.epoch: 0 → 1
    zk.epoch_version: 0 → 1
    won: {} → {(1,1)}
refused broker_wins_election(broker=2)
    /controller does not exist — false (zk.controller 1)
broker_loses_controller_election(broker=2)
    read[2].done: true → false
broker_learns_it_won(broker=1)
    read[1].done: true → false
    belief[1].held: false → true
    belief[1].epoch: 0 → 1
    belief[1].version: 0 → 1
controller_starts_write(broker=1)
    pending[1].any: false → true
    pending[1].epoch: 0 → 1
    pending[1].epoch_version: 0 → 1
refused controller_starts_write(broker=1)
    no write of the broker is under way — false (pending[1].any true)

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

# Now the write arrives. The refusal tells its sender that it is deposed, and it resigns; it takes
# nothing from its successor.
refused write_is_applied broker=1
write_is_refused broker=1
refused controller_resigns_and_deletes_znode broker=1
show zk.controller
check single_writer
check single_controller
----
refused write_is_applied(broker=1)
    /controller_epoch is as it was won — false (pending[1].epoch_version 1, zk.epoch_version 2)
write_is_refused(broker=1)
    belief[1].held: true → false
    belief[1].epoch: 1 → 0
    belief[1].version: 1 → 0
    pending[1].any: true → false
    pending[1].epoch: 1 → 0
    pending[1].epoch_version: 1 → 0
refused controller_resigns_and_deletes_znode(broker=1)
    the broker believes it is the controller — false (belief[1].held false)
zk.controller: 2
single_writer: holds
single_controller: holds
