# KIP-320 as released: what passes between leader and follower is fenced by the leader epoch.
# Shows: the run that breaks the first try ends where a follower of epoch 0 asks a leader of epoch 2.
system classic version kip_320 brokers 3 log 2 records 2 epoch 2

quietly controller_elects_leader replica=1
quietly controller_elects_leader replica=2
quietly controller_elects_leader replica=1
quietly becomes_leader replica=2 epoch=1
quietly becomes_leader replica=1 epoch=2
quietly leader_writes leader=1
quietly fenced_leader_shrinks_isr leader=1 follower=2

# Replica 3 cannot even begin to follow in epoch 0: its leader has gone on to epoch 2.
refused fenced_becomes_follower follower=3 leader=1 epoch=0
fenced_becomes_follower follower=3 leader=2 epoch=1
refused fenced_follower_fetches leader=1 follower=3
refused fenced_leader_raises_hw leader=1
----
refused fenced_becomes_follower(follower=3, leader=1, epoch=0)
    the leader leads in the request's epoch — false (view[1].epoch 2)
fenced_becomes_follower(follower=3, leader=2, epoch=1)
    view[3].epoch: none → 1
    view[3].leader: none → 2
    view[3].isr: {} → {1,2,3}
refused fenced_follower_fetches(leader=1, follower=3)
    the follower follows in the leader's epoch — false (view[1].epoch 2, view[3].epoch 1, view[3].leader 2)
refused fenced_leader_raises_hw(leader=1)
    every ISR member follows the epoch and has it — false (log[3].end 0, view[1].epoch 2, view[1].hw 0, view[1].isr {1,3}, view[3].epoch 1, view[3].leader 2)

# In epoch 2 it may, and then it never goes back.
fenced_becomes_follower follower=3 leader=1 epoch=2
fenced_follower_fetches leader=1 follower=3
fenced_leader_raises_hw leader=1
refused fenced_becomes_follower follower=3 leader=2 epoch=1
check strong_isr
----
fenced_becomes_follower(follower=3, leader=1, epoch=2)
    view[3].epoch: 1 → 2
    view[3].leader: 2 → 1
fenced_follower_fetches(leader=1, follower=3)
    log[3]: [] → [id 0 epoch 2]
fenced_leader_raises_hw(leader=1)
    view[1].hw: 0 → 1
refused fenced_becomes_follower(follower=3, leader=2, epoch=1)
    the request is newer than its own epoch — false (view[3].epoch 2)
strong_isr: holds
