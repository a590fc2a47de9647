# A broker that had left the ISR restarts under its old id with an empty disk.
# Shows: nothing committed is lost by it, as long as no leader takes it for what it was: it fetches
# all again before it is taken back. (known limit: the leader knows its follower by id alone)
system replication version 2.3 with disk_lost=when_forgotten brokers 2

# Broker 1 leads; both brokers have the record, and it is committed. Broker 2 dies, and is dropped.
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_partition broker=1
quietly controller_elects_leader broker=1 leader=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly broker_becomes_follower broker=2 epoch=1 controller=1
quietly leader_appends_acks_all broker=1
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
quietly follower_appends follower=2 leader=1
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
quietly leader_advances_hw broker=1
quietly broker_crashes broker=2
quietly session_expires broker=2
show known_end[1][2]
refused broker_starts_empty broker=2
----
known_end[1][2]: 1
refused broker_starts_empty(broker=2)
    it is not in the registered ISR — false (zk.isr {1,2})

# Dropped from the ISR it may not come back empty yet: its leader still knows it as it was, and
# might take it back at once, for what the old disk had.
quietly controller_reads_partition broker=1
controller_removes_replica broker=1 replica=2
refused broker_starts_empty broker=2
----
controller_removes_replica(broker=1, replica=2)
    zk.leader_epoch: 1 → 2
    zk.isr: {1,2} → {1}
    zk.version: 1 → 2
    cache[1].isr: {1,2} → {1}
    cache[1].version: 1 → 2
    elected[2]: none → 1
    request[2][1][1].in_flight: false → true
    request[2][1][1].isr: {} → {1}
    request[2][1][1].version: 0 → 2
refused broker_starts_empty(broker=2)
    no leader remembers how far it was — false (known_end[1][2] 1, replica[1].role leader)

# A leader that was restarted has forgotten it. Being alone in the ISR, it is elected, and has committed
# all that it has.
quietly broker_crashes broker=1
quietly session_expires broker=1
quietly broker_starts broker=1
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_partition broker=1
quietly controller_elects_leader broker=1 leader=1
quietly broker_becomes_leader broker=1 epoch=3 controller=2
quietly leader_advances_hw broker=1
broker_starts_empty broker=2
refused leader_expands_isr leader=1 replica=2
check no_message_loss
check isr_holds_committed
----
broker_starts_empty(broker=2)
    zk.registered: {1} → {1,2}
    up: {1} → {1,2}
    replica[2].latest_epoch: 1 → none
    log[2]: [id 0 epoch 1] → []
refused leader_expands_isr(leader=1, replica=2)
    the replica has reached the HW — false (known_end[1][2] none, log[1].end 1, replica[1].hw 1)
no_message_loss: holds
isr_holds_committed: holds

# It fetches what it lacks. Only then is it taken back.
quietly controller_issues_leader_and_isr broker=1 replica=2
quietly broker_becomes_follower broker=2 epoch=3 controller=2
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
quietly follower_appends follower=2 leader=1
refused leader_expands_isr leader=1 replica=2
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
leader_expands_isr leader=1 replica=2
show log
check no_message_loss
check isr_holds_committed
----
refused leader_expands_isr(leader=1, replica=2)
    the replica has reached the HW — false (known_end[1][2] 0, log[1].end 1, replica[1].hw 1)
leader_expands_isr(leader=1, replica=2)
    zk.isr: {1} → {1,2}
    zk.version: 3 → 4
    isr_write[1].state: none → applied
    isr_write[1].isr: {} → {1,2}
    isr_write[1].state_epoch: 0 → 2
    isr_write[1].version: 0 → 4
log[1]: [id 0 epoch 1]
log[2]: [id 0 epoch 1]
no_message_loss: holds
isr_holds_committed: holds
