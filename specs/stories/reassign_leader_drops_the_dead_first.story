# A leader removes a dead follower from the ISR before the controller does.
# Shows: the controller reads again, finds nothing to write, and goes on to its next event.
system reassignment version 2.4 brokers 2 replicas 2

quietly topic_is_created first=1 second=2 third=none
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly older_epoch_is_refused broker=1 epoch=0 controller=1
quietly older_epoch_is_refused broker=2 epoch=0 controller=1
quietly leader_appends leader=1
quietly session_expires broker=2
quietly controller_sees_broker_failure broker=1 dead=2
quietly leader_shrinks_isr leader=1 replica=2
controller_write_conflicts broker=1
quietly broker_reconnects broker=2
controller_sees_broker_startup broker=1 started=2
check leader_in_isr
----
controller_write_conflicts(broker=1)
    cache[1].task: removing → idle
    cache[1].isr: {1,2} → {1}
    cache[1].version: 0 → 1
controller_sees_broker_startup(broker=1, started=2)
    cache[1].live: {1} → {1,2}
    cache[1].reached: {1} → {1,2}
    request[0][1].to: {} → {2}
    request[0][1].leader: none → 1
    request[0][1].isr: {} → {1}
    request[0][1].version: 0 → 1
    request[0][1].replicas: {} → {1,2}
leader_in_isr: holds
