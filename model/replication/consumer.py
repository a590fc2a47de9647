"""Consumers: they read below the high watermark of a broker that believes that it leads.

Whether that broker still leads they cannot know: a consumer of a deposed leader must read what
consumers of its successor read. What was read is history, kept by offset.

Source: Partition.readRecords, ReplicaManager.readFromLocalLog (2.3)
"""

from model.language import all_of, any_of, require, transition, version
from model.protocol.state import BROKERS
from model.replication.state import OFFSETS, is_unlocked


@transition(shows="consume", broker=BROKERS, offset=OFFSETS)
def consumer_reads(now, new, broker, offset):
    """A consumer is given the record at an offset below the high watermark."""
    record, was = now.log[broker][offset], now.read[offset]
    require(now.replica[broker].role == "leader",          "the broker believes it leads")
    if version.isr_write_locks:
        # redundant because it is the same record later: a read waits as Kafka's does.
        require(is_unlocked(now, broker),                 "no ISR write of it waits for an answer")
    require(offset < now.replica[broker].hw,              "the offset is below the high watermark")

    new.read[offset]  = {"done": True, "id": record.id, "epoch": record.epoch}
    new.read_differed = any_of(now.read_differed, all_of(
        was.done, any_of(was.id != record.id, was.epoch != record.epoch)))
