"""What replication promises: what was committed is never lost, and logs agree below it."""

from model.language import (
    all_of,
    always,
    any_of,
    below,
    every,
    implies,
    not_,
    some,
    sometimes,
)
from model.replication.state import BROKERS, OFFSETS


def holds_committed(now, broker):
    """Every committed record is in the broker's log, at its offset."""
    return all_of(
        now.committed.end <= now.log[broker].end,
        every(below(OFFSETS, now.committed.end),
              lambda o: now.log[broker][o] == now.committed.at[o]))


@always("every committed record is in the log of the registered leader, at its offset, and no two "
        "records are ever committed at one offset",
        companion="a_commit_survives_an_election")
def no_message_loss(now):
    return all_of(
        not_(now.committed_twice),
        every(BROKERS, lambda b: implies(now.zk.leader == b, holds_committed(now, b))))


@always("every member of the registered ISR holds every committed record",
        companion="a_commit_survives_an_election")
def isr_holds_committed(now):
    return every(BROKERS, lambda b: implies(now.zk.isr.has(b), holds_committed(now, b)))


@always("any two logs hold the same records below both high watermarks",
        companion="two_replicas_have_a_high_watermark")
def log_matching(now):
    return every(BROKERS, lambda one: every(BROKERS, lambda other: every(OFFSETS, lambda o: implies(
        all_of(o < now.replica[one].hw, o < now.replica[other].hw),
        all_of(
            o < now.log[one].end, o < now.log[other].end,
            now.log[one][o] == now.log[other][o])))))


@always("no two brokers lead in one leader epoch", companion="zombies_overlap")
def leader_unique(now):
    return every(BROKERS, lambda one: every(BROKERS, lambda other: implies(
        all_of(now.replica[one].role == "leader", now.replica[other].role == "leader",
               now.replica[one].epoch == now.replica[other].epoch),
        one == other)))


@always("the registered leader, if there is one, is in the registered ISR",
        companion="a_leader_is_elected")
def clean_election(now):
    return every(BROKERS, lambda b: implies(now.zk.leader == b, now.zk.isr.has(b)))


@sometimes("a leader is registered")
def a_leader_is_elected(now):
    return some(BROKERS, lambda b: now.zk.leader == b)


@sometimes("a record is committed, and a later epoch's leader holds office")
def a_commit_survives_an_election(now):
    return some(BROKERS, lambda b: all_of(
        now.committed.end > 0,
        now.replica[b].role == "leader",
        now.replica[b].epoch > now.committed.at[0].epoch))


@sometimes("two replicas have a high watermark above zero")
def two_replicas_have_a_high_watermark(now):
    return some(BROKERS, lambda one: some(BROKERS, lambda other: all_of(
        one != other, now.replica[one].hw > 0, now.replica[other].hw > 0)))


@sometimes("two brokers believe they lead, under different epochs")
def zombies_overlap(now):
    return some(BROKERS, lambda one: some(BROKERS, lambda other: all_of(
        now.replica[one].role == "leader", now.replica[other].role == "leader",
        now.replica[one].epoch < now.replica[other].epoch)))


@sometimes("a fetch request of an older epoch is still on its way to a deposed leader")
def an_old_fetch_is_in_flight(now):
    return some(BROKERS, lambda follower: some(BROKERS, lambda leader: all_of(
        any_of(now.fetch[follower][leader].state == "asks_records",
               now.fetch[follower][leader].state == "records_are_answered"),
        now.replica[follower].epoch > now.fetch[follower][leader].epoch)))


CLAIMS = (
    no_message_loss, isr_holds_committed, log_matching, leader_unique, clean_election,
    a_leader_is_elected, a_commit_survives_an_election, two_replicas_have_a_high_watermark,
    zombies_overlap, an_old_fetch_is_in_flight)
