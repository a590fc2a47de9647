# The first design of KIP-320 survives one change of leader and breaks at the second.
# Shows: a follower that compares the epoch of its last record, and nothing else, replicates from a
# leader of an epoch that it has not heard of, and later leaves it for the leader of an older one.
# The design was never released; the run is the shortest there is, 12 steps.
system classic version kip_320_first_try brokers 3 log 2 records 2 epoch 2

# Three elections in a row: replica 1, then 2, then 1 again. Three requests are on their way.
controller_elects_leader replica=1
controller_elects_leader replica=2
controller_elects_leader replica=1
----
controller_elects_leader(replica=1)
    next_epoch: 0 → 1
    quorum.epoch: none → 0
    quorum.leader: none → 1
    request[0].leader: none → 1
    request[0].isr: {} → {1,2,3}
controller_elects_leader(replica=2)
    next_epoch: 1 → 2
    quorum.epoch: 0 → 1
    quorum.leader: 1 → 2
    request[1].leader: none → 2
    request[1].isr: {} → {1,2,3}
controller_elects_leader(replica=1)
    next_epoch: 2 → 3
    quorum.epoch: 1 → 2
    quorum.leader: 2 → 1
    request[2].leader: none → 1
    request[2].isr: {} → {1,2,3}

# Replica 3 takes up the first, replica 2 the second, replica 1 the third.
quietly first_try_becomes_follower follower=3 leader=1 epoch=0
quietly becomes_leader replica=2 epoch=1
quietly becomes_leader replica=1 epoch=2
show view
----
view[1].hw: 0
view[2].hw: 0
view[3].hw: 0
view[1].epoch: 2
view[2].epoch: 1
view[3].epoch: 0
view[1].leader: 1
view[2].leader: 2
view[3].leader: 1
view[1].isr: {1,2,3}
view[2].isr: {1,2,3}
view[3].isr: {1,2,3}

# Replica 3 follows replica 1 in epoch 0, which leads in epoch 2. Both logs are empty, and so they
# fit; replica 3 has the record, and replica 1 commits it.
leader_writes leader=1
first_try_leader_shrinks_isr leader=1 follower=2
first_try_follower_fetches leader=1 follower=3
first_try_leader_raises_hw leader=1
check strong_isr
----
leader_writes(leader=1)
    log[1]: [] → [id 0 epoch 2]
    next_record: 0 → 1
first_try_leader_shrinks_isr(leader=1, follower=2)
    view[1].isr: {1,2,3} → {1,3}
    quorum.isr: {1,2,3} → {1,3}
first_try_follower_fetches(leader=1, follower=3)
    log[3]: [] → [id 0 epoch 2]
first_try_leader_raises_hw(leader=1)
    view[1].hw: 0 → 1
strong_isr: holds

# Now replica 3 hears of epoch 1, which is newer than 0. Replica 2 leads it, with an empty log.
first_try_becomes_follower follower=3 leader=2 epoch=1
first_try_follower_truncates leader=2 follower=3
check strong_isr
----
first_try_becomes_follower(follower=3, leader=2, epoch=1)
    view[3].epoch: 0 → 1
    view[3].leader: 1 → 2
first_try_follower_truncates(leader=2, follower=3)
    log[3]: [id 0 epoch 2] → []
strong_isr: broken — what a presumed leader calls committed is in the log of every registered ISR member
    (log[1][0].epoch 2, log[3].end 0, log[3][0].epoch 0, quorum.isr {1,3}, view[1].leader 1)
