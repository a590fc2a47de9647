"""Claims about replication, for any number of brokers, epochs and records."""

from model.language import (
    all_of,
    always,
    below,
    every,
    implies,
    not_,
    some,
    sometimes,
)
from model.replication.history.state import BROKERS, EPOCHS, OFFSETS


def holds_committed(now, broker):
    """Every committed record is in the broker's log, at its offset."""
    return all_of(
        now.committed.end <= now.log[broker].end,
        every(below(OFFSETS, now.committed.end),
              lambda o: now.log[broker][o] == now.committed.at[o]))


def leads(now, broker):
    return now.replica[broker].role == "leading"


@always("every record that a leader commits in one epoch is in the log of the leader of every "
        "later epoch, at its offset; every committed record is in the log of the registered "
        "leader; and no two records are ever committed at one offset",
        companion="a_deposed_leader_commits_beside_its_successor")
def no_message_loss(now):
    return all_of(
        every(BROKERS, lambda later: every(EPOCHS, lambda epoch: every(OFFSETS, lambda o: implies(
            all_of(leads(now, later), epoch < now.replica[later].epoch,
                   now.began[epoch], o < now.committed_in[epoch]),
            all_of(o < now.log[later].end,
                   now.log[later][o] == now.history[epoch][o]))))),
        every(BROKERS, lambda b: implies(
            all_of(now.zk.named, now.zk.leader == b), holds_committed(now, b))),
        not_(now.committed_twice))


@always("every member of the registered ISR holds every committed record",
        companion="a_deposed_leader_commits_beside_its_successor")
def isr_holds_committed(now):
    return every(BROKERS, lambda b: implies(now.zk.isr.has(b), holds_committed(now, b)))


@always("any two logs hold the same records below both high watermarks",
        companion="a_deposed_leader_commits_beside_its_successor")
def log_matching(now):
    return every(BROKERS, lambda one: every(BROKERS, lambda other: every(OFFSETS, lambda o: implies(
        all_of(o < now.replica[one].hw, o < now.replica[other].hw),
        now.log[one][o] == now.log[other][o]))))


@always("no two brokers lead in one leader epoch",
        companion="a_deposed_leader_commits_beside_its_successor")
def leader_unique(now):
    return every(BROKERS, lambda one: every(BROKERS, lambda other: implies(
        all_of(leads(now, one), leads(now, other),
               now.replica[one].epoch == now.replica[other].epoch),
        one == other)))


@sometimes("a deposed leader has committed a record, still leads, and its successor leads too")
def a_deposed_leader_commits_beside_its_successor(now):
    return some(BROKERS, lambda one: some(BROKERS, lambda other: all_of(
        leads(now, one), leads(now, other),
        now.replica[one].epoch < now.replica[other].epoch,
        now.committed_in[now.replica[one].epoch] > 0)))


CLAIMS = (
    no_message_loss, isr_holds_committed, log_matching, leader_unique,
    a_deposed_leader_commits_beside_its_successor)
