# A leader misses the response to its ISR write and commits with another: lost, though min ISR is 2.
# Shows: up to 2.6 no min.insync.replicas below the number of replicas keeps what is acknowledged. As
# large as that, it does: whoever counts on all replicas counts on whoever may be elected.
# (insync prove sure_commits_are_kept)
system replication version 2.3 without lost_isr_answer_blocks with min_insync_replicas=2 brokers 3

# Broker 1 leads. Broker 3 is at the high watermark, which is 0, when a record comes; it is slow then,
# and is dropped.
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_partition broker=1
quietly controller_elects_leader broker=1 leader=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly broker_becomes_follower broker=2 epoch=1 controller=1
quietly broker_becomes_follower broker=3 epoch=1 controller=1
quietly follower_sends_fetch broker=3 leader=1
quietly leader_answers_fetch leader=1 follower=3
quietly leader_appends_acks_all broker=1
quietly leader_shrinks_isr leader=1 replica=3
quietly leader_learns_isr_is_written leader=1
show replica[1].isr
----
replica[1].isr: {1,2}

# It is taken back. The controller elects it: a clean election. Broker 1 hears of neither, gives its
# write up, and goes on with the ISR that it had.
quietly leader_expands_isr leader=1 replica=3
quietly controller_reads_partition broker=1
quietly controller_elects_leader broker=1 leader=3
quietly isr_answer_is_lost leader=1
quietly leader_learns_isr_is_refused leader=1
show replica[1].isr
show zk.isr
check leader_in_isr
----
replica[1].isr: {1,2}
zk.isr: {1,2,3}
leader_in_isr: holds

# Broker 2 still follows it, and has the record soon. Two replicas have it: the producer is acknowledged.
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
quietly follower_appends follower=2 leader=1
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
leader_advances_hw broker=1
leader_acknowledges_acks_all broker=1 offset=0
check acknowledged_records_have_min_isr_copies
----
leader_advances_hw(broker=1)
    replica[1].hw: 0 → 1
    committed.end: 0 → 1
leader_acknowledges_acks_all(broker=1, offset=0)
    acknowledged: {} → {0}
acknowledged_records_have_min_isr_copies: holds

# Broker 3 leads, and has nothing of it.
quietly broker_becomes_leader broker=3 epoch=2 controller=1
check acknowledged_is_never_lost
show log[3]
----
acknowledged_is_never_lost: broken — a record acknowledged with acks=all is committed, and in the log of the registered leader from then on
    (acknowledged {0}, acks[0] all, log[3].end 0, zk.leader 3)
log[3]: []
