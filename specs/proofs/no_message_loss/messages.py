"""Messages: the content of a message that arrives late is still valid."""

from model.language import all_of, any_of, implies
from model.replication.history.state import BROKERS, EPOCHS, OFFSETS, RECORDS
from specs.invariants import invariant
from specs.proofs.no_message_loss.definitions import at


@invariant("who asked in an epoch asked within its history, or for its start before it began, and "
           "has that epoch or a newer one",
           over=(BROKERS, EPOCHS), triggers=lambda now, b, e: [now.asked[b][e]],
           why="a fetch request is of a follower of an epoch that began")
def fetches_are_within_history(now, b, e):
    return implies(now.asked[b][e] >= 0, all_of(
        any_of(now.began[e], now.asked[b][e] == 0), now.asked[b][e] <= now.history[e].end,
        e <= now.replica[b].epoch))


@invariant("who asked in the newest epoch still has that many records",
           over=(BROKERS, EPOCHS), triggers=lambda now, b, e: [now.asked[b][e]],
           why="as long as no later leader exists nobody has cut them")
def what_was_asked_is_long_enough(now, b, e):
    return implies(e == now.newest, now.asked[b][e] <= now.log[b].end)


@invariant("and they are the newest epoch's history",
           over=(BROKERS, EPOCHS, OFFSETS),
           triggers=lambda now, b, e, o: [
               (now.asked[b][e], at(now.log[b], o)), (now.asked[b][e], at(now.history[e], o))],
           why="a request acknowledges all before its offset")
def what_was_asked_is_held(now, b, e, o):
    return implies(all_of(e == now.newest, o < now.asked[b][e]),
                   at(now.log[b], o) == at(now.history[e], o))


@invariant("data of an epoch is its history",
           over=(EPOCHS, OFFSETS, RECORDS),
           triggers=lambda now, e, o, v: [now.answered.has(e, o, v)],
           why="whoever follows in that epoch may append it, however late")
def data_is_history(now, e, o, v):
    return implies(now.answered.has(e, o, v), all_of(
        now.began[e], o < now.history[e].end, at(now.history[e], o) == v))


@invariant("a high watermark that was sent is within its epoch's history and what is committed",
           over=(EPOCHS,), triggers=lambda now, e: [now.sent_hw[e]],
           why="a follower that takes it shows nothing uncommitted")
def sent_hw_is_committed(now, e):
    return implies(now.sent_hw[e] > 0, all_of(
        now.began[e], now.sent_hw[e] <= now.history[e].end, now.sent_hw[e] <= now.committed.end))


@invariant("and below it the epoch's history is what is committed",
           over=(EPOCHS, OFFSETS),
           triggers=lambda now, e, o: [(now.sent_hw[e], at(now.history[e], o))],
           why="a follower's log is that history as far as it goes")
def sent_history_is_committed(now, e, o):
    return implies(o < now.sent_hw[e], at(now.history[e], o) == at(now.committed.at, o))


@invariant("a leader knows of a follower no more than it asked for in that epoch",
           over=(EPOCHS, BROKERS), triggers=lambda now, e, b: [now.leader[e].known_end[b]],
           why="what is committed was asked for; a fetch of another epoch would lie")
def known_ends_were_asked_for(now, e, b):
    return now.leader[e].known_end[b] <= now.asked[b][e]


INVARIANTS = (
    fetches_are_within_history, what_was_asked_is_long_enough, what_was_asked_is_held,
    data_is_history, sent_hw_is_committed, sent_history_is_committed, known_ends_were_asked_for)
