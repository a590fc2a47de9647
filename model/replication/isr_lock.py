"""leaderIsrUpdateLock: while a leader's ISR write is with ZooKeeper, all else about it waits.

Up to 2.6 the leader holds the write lock until it is answered. Appends, fetches, questions about
epochs and the high watermark need the lock for reading, makeLeader and makeFollower for writing:
so a LeaderAndIsr waits too, and is carried out on what the answer left. What is refused for its
epoch is refused before the lock. From 2.7 (KIP-497) nothing waits, and the answer must be compared
with what the partition has become meanwhile (KAFKA-12686).

Source: Partition.maybeExpandIsr, maybeShrinkIsr, makeLeader, readRecords (2.3)
"""


def is_unlocked(now, broker):
    return now.isr_write[broker].state == "none"
