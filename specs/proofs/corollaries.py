"""Corollaries of no_message_loss for clients, about states and about steps."""

from model.language import all_of, every, implies, not_, some
from model.replication.history.claims import holds_committed, leads
from model.replication.history.state import BROKERS, EPOCHS, OFFSETS


def a_lost_disk_is_survived(now):
    """If an ISR member loses its disk, each other ISR member has all committed records."""
    return every(BROKERS, lambda lost: implies(
        some(BROKERS, lambda other: all_of(other != lost, now.zk.isr.has(other))),
        some(BROKERS, lambda other: all_of(
            other != lost, now.zk.isr.has(other), holds_committed(now, other)))))  # fmt: skip


def visible_records_are_committed(now):
    """Below the high watermark that the leader of any epoch sent is what is committed."""
    return every(EPOCHS, lambda e: every(OFFSETS, lambda o: implies(
        o < now.sent_hw[e],
        all_of(o < now.committed.end, now.history[e][o] == now.committed.at[o]))))


def sent_high_watermark_never_falls(now, after):
    """The high watermark that the leader of an epoch has and sends never falls."""
    return all_of(
        every(EPOCHS, lambda e: now.sent_hw[e] <= after.sent_hw[e]),
        every(BROKERS, lambda b: implies(
            all_of(leads(now, b), leads(after, b),
                   now.replica[b].epoch == after.replica[b].epoch),
            not_(after.replica[b].hw < now.replica[b].hw))))  # fmt: skip
