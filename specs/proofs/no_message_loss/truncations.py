"""No follower truncates below its own high watermark: committed records are in both logs."""

from dataclasses import replace

from model.language import all_of, implies
from model.replication.history.state import BROKERS, OFFSETS
from specs.invariants import lemma
from specs.proofs.no_message_loss.bookkeeping import (
    epochs_start_within_their_history,
    hw_is_within_the_log,
)
from specs.proofs.no_message_loss.commits import (
    below_high_watermarks_is_committed,
    epochs_commit_history,
    epochs_commit_the_same,
    high_watermarks_come_from_epochs,
    what_is_committed_may_be,
)
from specs.proofs.no_message_loss.definitions import at
from specs.proofs.no_message_loss.logs import (
    answers_are_for_who_asked,
    answers_keep_what_is_common,
)
from specs.proofs.no_message_loss.possible_commits import (
    later_epochs_have_what_may_be_committed,
    later_epochs_start_beyond,
)

FROM_ANY = replace(
    high_watermarks_come_from_epochs, triggers=lambda now, b: [now.replica[b].hw])
"""The same, thought of for every high watermark: in the proof itself that would be too often."""


@lemma("what is below a broker's high watermark is in the history of its epoch, if that began",
       over=(BROKERS, OFFSETS), triggers=lambda now, b, o: [at(now.log[b], o)],
       using=(
           hw_is_within_the_log, FROM_ANY,
           below_high_watermarks_is_committed, epochs_commit_history, epochs_commit_the_same,
           epochs_start_within_their_history, what_is_committed_may_be, later_epochs_start_beyond,
           later_epochs_have_what_may_be_committed),
       why="an epoch no newer than its own committed it")
def high_watermarks_are_in_histories(now, b, o):
    history = now.history[now.replica[b].epoch]
    return implies(
        all_of(now.began[now.replica[b].epoch], o < now.replica[b].hw),
        all_of(o < history.end, at(now.log[b], o) == at(history, o)))


@lemma("an answer about truncation leaves all that is below the follower's high watermark",
       over=(BROKERS, OFFSETS),
       triggers=lambda now, b, o: [(now.answer[b].given, at(now.log[b], o))],
       using=(
           answers_are_for_who_asked, answers_keep_what_is_common, hw_is_within_the_log,
           high_watermarks_are_in_histories),
       why="a high watermark, or a checkpoint of it, is never above the log's end")
def high_watermarks_are_not_cut(now, b, o):
    history = now.history[now.replica[b].epoch]
    return implies(
        all_of(now.answer[b].given, o < now.replica[b].hw, at(now.log[b], o) == at(history, o)),
        o < now.answer[b].cut)


LEMMAS = (high_watermarks_are_in_histories, high_watermarks_are_not_cut)
