"""Claims about clients: records acknowledged with acks=all are kept, and so are records once read.

With acks=1 a record may be lost after it was acknowledged.
"""

from model.language import (
    all_of,
    always,
    below,
    every,
    how_many,
    implies,
    not_,
    some,
    sometimes,
    version,
)
from model.protocol.state import BROKERS
from model.replication.state import OFFSETS, RECORDS


def log_contains(now, broker, record):
    """The record is somewhere in the broker's log."""
    return some(below(OFFSETS, now.log[broker].end), lambda o: now.log[broker][o].id == record)


def is_acknowledged(now, record, acks):
    return all_of(now.acknowledged.has(record), now.acks[record] == acks)


@always("a record acknowledged with acks=all is committed, and in the log of the registered leader "
        "from then on",
        companion="a_record_is_acknowledged_by_the_isr")
def acknowledged_is_never_lost(now):
    return every(RECORDS, lambda r: implies(is_acknowledged(now, r, "all"), all_of(
        some(below(OFFSETS, now.committed.end), lambda o: now.committed.at[o].id == r),
        every(BROKERS, lambda b: implies(now.zk.leader == b, log_contains(now, b, r))))))


@always("a record acknowledged with acks=all is in as many logs as min.insync.replicas asks for, "
        "from then on",
        companion="a_record_is_acknowledged_by_the_isr")
def acknowledged_records_have_min_isr_copies(now):
    return every(RECORDS, lambda r: implies(
        is_acknowledged(now, r, "all"),
        how_many(BROKERS, lambda b: log_contains(now, b, r)) >= version.min_insync_replicas))


@always("two reads of one offset give the same record, and the registered leader has it",
        companion="a_record_is_read")
def reads_agree(now):
    return all_of(
        not_(now.read_differed),
        every(OFFSETS, lambda o: every(BROKERS, lambda b: implies(
            all_of(now.read[o].done, now.zk.leader == b),
            all_of(
                o < now.log[b].end,
                now.log[b][o].id == now.read[o].id,
                now.log[b][o].epoch == now.read[o].epoch)))))


@sometimes("a record is acknowledged with acks=all")
def a_record_is_acknowledged_by_the_isr(now):
    return some(RECORDS, lambda r: is_acknowledged(now, r, "all"))


@sometimes("a record acknowledged with acks=1 is lost: the registered leader leads without it")
def an_acknowledged_record_is_lost(now):
    return some(RECORDS, lambda r: all_of(
        is_acknowledged(now, r, "one"),
        some(BROKERS, lambda b: all_of(
            now.zk.leader == b, now.replica[b].role == "leader",
            now.replica[b].epoch == now.zk.leader_epoch, not_(log_contains(now, b, r))))))


@sometimes("a consumer has read a record")
def a_record_is_read(now):
    return some(OFFSETS, lambda o: now.read[o].done)


CLIENTS = (
    acknowledged_is_never_lost, acknowledged_records_have_min_isr_copies, reads_agree,
    a_record_is_acknowledged_by_the_isr, an_acknowledged_record_is_lost, a_record_is_read)
