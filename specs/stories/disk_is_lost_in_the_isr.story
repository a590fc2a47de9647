# A broker restarts under its old id with an empty disk, before its failure was noticed.
# Shows: nothing in ZooKeeper tells it from the broker that was. It is in the ISR still, so that
# what was committed is lost with it when it leads. (a known limit of all releases with ZooKeeper;
# in KRaft, KIP-966 compares broker epochs)
system replication version 2.3 with disk_lost=by_any brokers 2

# Broker 1 leads; both brokers have the record, and it is committed.
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_partition broker=2
quietly controller_elects_leader broker=2 leader=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly broker_becomes_follower broker=2 epoch=1 controller=1
quietly leader_appends_acks_all broker=1
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
quietly follower_appends follower=2 leader=1
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
quietly leader_advances_hw broker=1
leader_acknowledges_acks_all broker=1 offset=0
show log
----
leader_acknowledges_acks_all(broker=1, offset=0)
    acknowledged: {} → {0}
log[1]: [id 0 epoch 1]
log[2]: [id 0 epoch 1]

# The machine of broker 1 is replaced, and its disk with it. Its old session has ended, but the
# controller looks only when it is back: as if it had never been away, it is the leader still.
quietly broker_crashes broker=1
quietly session_expires broker=1
broker_starts_empty broker=1
show zk.leader
show zk.isr
check no_message_loss
check acknowledged_is_never_lost
----
broker_starts_empty(broker=1)
    zk.registered: {2} → {1,2}
    up: {2} → {1,2}
    cache[2].reached: {1,2} → {2}
    replica[1].latest_epoch: 1 → none
    log[1]: [id 0 epoch 1] → []
zk.leader: 1
zk.isr: {1,2}
no_message_loss: broken — every committed record is in the log of the registered leader, at its offset, and no two records are ever committed at one offset
    (committed.end 1, committed[0].at.epoch 1, log[1].end 0, log[1][0].epoch 0, zk.leader 1)
acknowledged_is_never_lost: broken — a record acknowledged with acks=all is committed, and in the log of the registered leader from then on
    (acknowledged {0}, acks[0] all, log[1].end 0, zk.leader 1)

# It is elected once more, and its follower cuts its own log to fit: the last copy is gone.
quietly controller_reads_partition broker=2
quietly controller_elects_leader broker=2 leader=1
quietly broker_becomes_leader broker=1 epoch=2 controller=1
quietly broker_becomes_follower broker=2 epoch=2 controller=1
quietly fetch_answer_is_ignored follower=2 leader=1
quietly follower_sends_epoch_request broker=2 leader=1
quietly leader_answers_epoch leader=1 follower=2
follower_truncates follower=2 leader=1
show log
check acknowledged_is_never_lost
----
follower_truncates(follower=2, leader=1)
    replica[2].latest_epoch: 1 → none
    replica[2].truncating: true → false
    log[2]: [id 0 epoch 1] → []
    fetch[2][1].state: epoch_is_answered → idle
    fetch[2][1].epoch: 2 → none
    fetch[2][1].answer_epoch: 1 → none
    fetch[2][1].answer_end: 0 → none
log[1]: []
log[2]: []
acknowledged_is_never_lost: broken — a record acknowledged with acks=all is committed, and in the log of the registered leader from then on
    (acknowledged {0}, acks[0] all, log[1].end 0, zk.leader 1)
