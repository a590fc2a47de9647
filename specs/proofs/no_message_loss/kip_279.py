"""Lemmas about two logs: KIP-279's exchange gives the answers of the form that is proved.

A follower sends the last epoch of its log. The leader answers with its greatest epoch up to that
one, and the end offset of this epoch. The follower looks up the same epoch in its own log. If it
has the epoch, it truncates to the smaller of the two end offsets, and is done; otherwise it
truncates to the end of its own older epochs, and asks again.

Source: KIP-279, LeaderEpochFileCache.endOffsetFor, AbstractFetcherThread.getOffsetTruncationState.
"""

from model.language import all_of, any_of, below, every, implies, not_, smaller
from model.replication.history.state import BROKERS, ENDS, OFFSETS
from model.replication.history.truncation import keeps_what_is_common
from specs.invariants import lemma
from specs.proofs.no_message_loss.bookkeeping import hw_is_within_the_log, leaders_were_elected
from specs.proofs.no_message_loss.definitions import at, leads, truncates
from specs.proofs.no_message_loss.logs import (
    a_leaders_log_ends_with_history,
    a_leaders_log_is_history,
    histories_match,
    history_comes_from_epochs,
    logs_match_histories,
    records_come_from_epochs,
)

OF_LOGS = (
    leaders_were_elected, hw_is_within_the_log, a_leaders_log_ends_with_history,
    a_leaders_log_is_history, records_come_from_epochs, logs_match_histories,
    history_comes_from_epochs, histories_match)


def epoch_at(now, broker, offset):
    """The epoch of a record in a broker's log."""
    return now.written_in[at(now.log[broker], offset)]


def ends_at(now, broker, epoch, end):
    """In this log, the records of that epoch and of all older epochs end there."""
    log = now.log[broker]
    return all_of(
        end <= log.end,
        every(below(OFFSETS, end), lambda o: epoch_at(now, broker, o) <= epoch),
        any_of(end == log.end, epoch_at(now, broker, end) > epoch))


def asks_epoch_end(now, follower, leader):
    """The follower has records and does not know where to cut; it asks the leader of its epoch."""
    return all_of(
        truncates(now, follower), leads(now, leader), now.log[follower].end > 0,
        now.replica[follower].epoch == now.replica[leader].epoch)


def is_answered(now, follower, leader, theirs):
    """The leader's older epochs, up to the last one of the follower, end there."""
    last = epoch_at(now, follower, now.log[follower].end - 1)
    return ends_at(now, leader, last, theirs)


@lemma("epochs never fall along a log",
       over=(BROKERS, OFFSETS, OFFSETS),
       triggers=lambda now, b, o, p: [(at(now.log[b], o), at(now.log[b], p))],
       using=OF_LOGS,
       why="so that an epoch ends at one place")
def epochs_never_fall_along_a_log(now, b, o, p):
    return implies(all_of(o <= p, p < now.log[b].end),
                   epoch_at(now, b, o) <= epoch_at(now, b, p))


BOTH = (*OF_LOGS, epochs_never_fall_along_a_log)


@lemma("if the leader has no record of an epoch up to the follower's last, the logs have nothing "
       "in common",
       over=(BROKERS, BROKERS), using=BOTH,
       why="the follower may cut everything, and is done")
def an_unknown_epoch_leaves_nothing(now, follower, leader):
    return implies(
        all_of(asks_epoch_end(now, follower, leader), is_answered(now, follower, leader, 0)),
        keeps_what_is_common(now, leader, follower, 0))


def has_it(now, follower, leader, theirs, mine):
    """The follower's log has the epoch of the answer: its records end there."""
    answered = epoch_at(now, leader, theirs - 1)
    return all_of(mine > 0, epoch_at(now, follower, mine - 1) == answered)


def is_looked_up(now, follower, leader, theirs, mine):
    """The follower's epochs, up to that of the answer, end there."""
    return all_of(
        asks_epoch_end(now, follower, leader), theirs > 0,
        is_answered(now, follower, leader, theirs),
        ends_at(now, follower, epoch_at(now, leader, theirs - 1), mine))


@lemma("if the follower has the answer's epoch, nothing common is beyond the first end of the two",
       over=(BROKERS, BROKERS, ENDS, ENDS), using=BOTH,
       why="that is where it cuts")
def the_first_end_keeps_what_is_common(now, follower, leader, theirs, mine):
    return implies(
        all_of(is_looked_up(now, follower, leader, theirs, mine),
               has_it(now, follower, leader, theirs, mine)),
        keeps_what_is_common(now, leader, follower, smaller(theirs, mine)))


@lemma("if the follower has the answer's epoch, all below the first end of the two is common",
       over=(BROKERS, BROKERS, ENDS, ENDS), using=BOTH,
       why="it need not ask again")
def the_first_end_leaves_what_is_common(now, follower, leader, theirs, mine):
    cut = smaller(theirs, mine)
    return implies(
        all_of(is_looked_up(now, follower, leader, theirs, mine),
               has_it(now, follower, leader, theirs, mine)),
        all_of(cut <= now.log[follower].end, cut <= now.log[leader].end,
               every(below(OFFSETS, cut), lambda o: now.log[follower][o] == now.log[leader][o])))


@lemma("if the follower has not the answer's epoch, nothing common is beyond its older epochs",
       over=(BROKERS, BROKERS, ENDS, ENDS), using=BOTH,
       why="it may cut that much before it asks again")
def its_older_epochs_keep_what_is_common(now, follower, leader, theirs, mine):
    return implies(
        all_of(is_looked_up(now, follower, leader, theirs, mine),
               not_(has_it(now, follower, leader, theirs, mine))),
        all_of(mine <= now.log[follower].end, keeps_what_is_common(now, leader, follower, mine)))


LEMMAS = (
    epochs_never_fall_along_a_log, an_unknown_epoch_leaves_nothing,
    the_first_end_keeps_what_is_common, the_first_end_leaves_what_is_common,
    its_older_epochs_keep_what_is_common)
