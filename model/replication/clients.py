"""Producers and consumers: when a record is acknowledged, and when it may be read.

A record is sent with acks=0, 1 or all. Only its producer knows the value, so it is ghost state. A
leader acknowledges acks=1 when the record is in its log, and acks=all when its high watermark has
passed the record. Answers of a leader in a later epoch of its own (its purgatory outlives the
epoch) are left out, because they are the same.

Consumers read below the high watermark of a broker that believes that it leads. They cannot know
whether it still does, so a consumer of a deposed leader must read the same records as consumers of
its successor. What was read is ghost state, kept by offset.

Source: ReplicaManager.appendRecords, readFromLocalLog, Partition.appendRecordsToLeader,
checkEnoughReplicasReachOffset, readRecords (2.3)
"""

from model.language import all_of, any_of, how_many, not_, require, transition, version, when
from model.protocol.state import BROKERS
from model.replication.state import OFFSETS, is_unlocked


def min_isr_above_one(v):
    return v.min_insync_replicas > 1


def has_min_isr(now, leader):
    """The leader's ISR, itself included, has min.insync.replicas members."""
    isr = now.replica[leader].isr
    return how_many(BROKERS, lambda b: isr.has(b)) >= version.min_insync_replicas


def append(now, new, leader, acks):
    mine = now.replica[leader]
    new.log[leader]            = now.log[leader].append(id=now.next_record, epoch=mine.epoch)
    if version.epoch_recorded == "on_append":              # up to 1.1, KAFKA-7415
        new.replica[leader].latest_epoch = mine.epoch
    new.next_record            = now.next_record + 1
    new.acks[now.next_record]  = acks


@transition(shows="produce", broker=BROKERS)
def leader_appends(now, new, broker):
    """A record is appended by a broker that believes it leads; its producer asked for acks=0 or 1.

    With acks=0 nobody waits for an answer: such a record is never acknowledged.
    """
    require(now.replica[broker].role == "leader",          "the broker believes it leads")
    if version.isr_write_locks:
        # redundant because a record more changes no ISR: it waits as Kafka's does.
        require(is_unlocked(now, broker), "none of its ISR writes waits for an answer")

    append(now, new, broker, "one")


@transition(shows="produce", broker=BROKERS)
def leader_appends_acks_all(now, new, broker):
    """A record with acks=all is appended, if the ISR has min.insync.replicas members.

    Refused: leader_answers_not_enough_replicas
    """
    require(now.replica[broker].role == "leader",          "the broker believes it leads")
    if version.isr_write_locks:
        # redundant because a record more changes no ISR: it waits as Kafka's does.
        require(is_unlocked(now, broker), "none of its ISR writes waits for an answer")
    if version.min_insync_replicas > 1:
        # redundant because it is asked again when the record is acknowledged.
        require(has_min_isr(now, broker),                 "its ISR has min.insync.replicas members")

    append(now, new, broker, "all")


@transition(only=min_isr_above_one, broker=BROKERS)
def leader_answers_not_enough_replicas(now, new, broker):
    """NOT_ENOUGH_REPLICAS: a record with acks=all is not appended; nothing changes."""
    require(now.replica[broker].role == "leader",          "the broker believes it leads")
    if version.isr_write_locks:
        # redundant because a refusal changes nothing: it waits as Kafka's does.
        require(is_unlocked(now, broker), "none of its ISR writes waits for an answer")
    # redundant because a refusal changes nothing.
    require(not_(has_min_isr(now, broker)),               "its ISR has too few members")


def require_own(now, broker, offset):
    log, mine = now.log[broker], now.replica[broker]
    require(mine.role == "leader",                         "the broker believes it leads")
    # redundant because beyond the end of its log nothing is of the leader's epoch.
    require(offset < log.end,                             "the record is in its log")
    require(log[offset].epoch == mine.epoch,              "the record is of the leader's own epoch")


def answer(now, new, record, acks):
    """The producer is acknowledged, if its acks ask for it."""
    new.acknowledged = when(
        now.acks[record] == acks, now.acknowledged.including(record), now.acknowledged)


@transition(shows="acknowledge", broker=BROKERS, offset=OFFSETS)
def leader_acknowledges(now, new, broker, offset):
    """acks=1: the leader has the record, and its producer is acknowledged; it may still be lost."""
    require_own(now, broker, offset)

    answer(now, new, now.log[broker][offset].id, "one")


@transition(shows="acknowledge", broker=BROKERS, offset=OFFSETS)
def leader_acknowledges_acks_all(now, new, broker, offset):
    """acks=all: the high watermark has passed the record, and its producer is acknowledged.

    Kafka: DelayedProduce.tryComplete
    Refused: leader_answers_not_enough_replicas_after_append
    """
    require_own(now, broker, offset)
    require(offset < now.replica[broker].hw,              "the high watermark has passed it")
    if version.min_insync_replicas > 1:
        require(has_min_isr(now, broker),                 "its ISR has min.insync.replicas members")

    answer(now, new, now.log[broker][offset].id, "all")


@transition(only=min_isr_above_one, broker=BROKERS, offset=OFFSETS)
def leader_answers_not_enough_replicas_after_append(now, new, broker, offset):
    """NOT_ENOUGH_REPLICAS_AFTER_APPEND: the record stays, and its producer gets an error."""
    require_own(now, broker, offset)
    require(offset < now.replica[broker].hw,              "the high watermark has passed it")
    require(not_(has_min_isr(now, broker)),               "its ISR has too few members")

    record = now.log[broker][offset].id
    new.acks[record] = when(
        all_of(now.acks[record] == "all", not_(now.acknowledged.has(record))), "none",
        now.acks[record])


@transition(shows="consume", broker=BROKERS, offset=OFFSETS)
def consumer_reads(now, new, broker, offset):
    """A consumer is given the record at an offset below the high watermark."""
    record, was = now.log[broker][offset], now.read[offset]
    require(now.replica[broker].role == "leader",          "the broker believes it leads")
    if version.isr_write_locks:
        # redundant because it is the same record later: a read waits as Kafka's does.
        require(is_unlocked(now, broker), "none of its ISR writes waits for an answer")
    require(offset < now.replica[broker].hw,              "the offset is below the high watermark")

    new.read[offset]  = {"done": True, "id": record.id, "epoch": record.epoch}
    new.read_differed = any_of(now.read_differed, all_of(
        was.done, any_of(was.id != record.id, was.epoch != record.epoch)))
