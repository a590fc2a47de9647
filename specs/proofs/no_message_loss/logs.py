"""Logs and histories: every log consists of pieces of the logs of leaders in their epochs."""

from model.language import all_of, implies
from model.replication.history.state import BROKERS, EPOCHS, OFFSETS
from specs.invariants import given, invariant
from specs.proofs.no_message_loss.definitions import at, follows, has_died_leading, leads, truncates


@invariant("a leader's log is as long as the history of its epoch",
           over=(BROKERS,), triggers=lambda now, b: [now.replica[b].role, now.log[b].end],
           why="the history is what it is said to be")
def a_leaders_log_ends_with_history(now, b):
    return implies(leads(now, b), now.log[b].end == now.history[now.replica[b].epoch].end)


@invariant("a leader's log is the history of its epoch",
           over=(BROKERS, OFFSETS),
           triggers=lambda now, b, o: [
               at(now.log[b], o), at(now.history[now.replica[b].epoch], o)],
           why="what is proved of histories holds of the logs of leaders")
def a_leaders_log_is_history(now, b, o):
    return implies(all_of(leads(now, b), o < now.log[b].end),
                   at(now.log[b], o) == at(now.history[now.replica[b].epoch], o))


@invariant("the log of a leader whose process died is still as long as its history",
           over=(BROKERS,), triggers=lambda now, b: [given(b)],
           why="a leader that comes back has all of it")
def a_dead_leaders_log_ends_with_history(now, b):
    return implies(has_died_leading(now, b),
                   now.log[b].end == now.history[now.replica[b].epoch].end)


@invariant("and is its history",
           over=(BROKERS, OFFSETS), triggers=lambda now, b, o: [
               (given(b), at(now.log[b], o)),
               (given(b), at(now.history[now.replica[b].epoch], o))],
           why="a leader that comes back has all of it")
def a_dead_leaders_log_is_history(now, b, o):
    return implies(all_of(has_died_leading(now, b), o < now.log[b].end),
                   at(now.log[b], o) == at(now.history[now.replica[b].epoch], o))


@invariant("a follower's log is no longer than the history of its epoch",
           over=(BROKERS,), triggers=lambda now, b: [now.replica[b].role, now.log[b].end],
           why="it fetches from that epoch's leader only")
def a_followers_log_ends_in_history(now, b):
    return implies(follows(now, b), now.log[b].end <= now.history[now.replica[b].epoch].end)


@invariant("a follower's log is a prefix of the history of its epoch",
           over=(BROKERS, OFFSETS),
           triggers=lambda now, b, o: [
               at(now.log[b], o), at(now.history[now.replica[b].epoch], o)],
           why="truncation left nothing else, and data is of the same epoch")
def a_followers_log_is_history(now, b, o):
    return implies(all_of(follows(now, b), o < now.log[b].end),
                   at(now.log[b], o) == at(now.history[now.replica[b].epoch], o))


@invariant("a record in a log is of an epoch that began, whose history goes that far, and which is "
           "no newer than the broker's",
           over=(BROKERS, OFFSETS), triggers=lambda now, b, o: [at(now.log[b], o)],
           why="it got there by that epoch's leader")
def records_come_from_epochs(now, b, o):
    epoch = now.written_in[at(now.log[b], o)]
    return implies(o < now.log[b].end, all_of(
        now.began[epoch], o < now.history[epoch].end, epoch <= now.replica[b].epoch))


@invariant("log matching: below a record of an epoch a log is that epoch's history",
           over=(BROKERS, OFFSETS, OFFSETS),
           triggers=lambda now, b, o, p: [(at(now.log[b], o), at(now.log[b], p))],
           why="one common record makes all before it common; so the cut can be found")
def logs_match_histories(now, b, o, p):
    return implies(all_of(p <= o, o < now.log[b].end),
                   at(now.log[b], p) == at(now.history[now.written_in[at(now.log[b], o)]], p))


@invariant("a record in a history is of an epoch that began, whose history goes that far, and "
           "which is no newer",
           over=(EPOCHS, OFFSETS), triggers=lambda now, e, o: [at(now.history[e], o)],
           why="a leader starts with its log, and adds records of its own epoch")
def history_comes_from_epochs(now, e, o):
    epoch = now.written_in[at(now.history[e], o)]
    return implies(all_of(now.began[e], o < now.history[e].end), all_of(
        now.began[epoch], o < now.history[epoch].end, epoch <= e))


@invariant("log matching, of histories: below a record of an epoch they are that epoch's history",
           over=(EPOCHS, OFFSETS, OFFSETS),
           triggers=lambda now, e, o, p: [(at(now.history[e], o), at(now.history[e], p))],
           why="a new leader's log becomes its history")
def histories_match(now, e, o, p):
    return implies(
        all_of(now.began[e], p <= o, o < now.history[e].end),
        at(now.history[e], p) == at(now.history[now.written_in[at(now.history[e], o)]], p))


@invariant("an answer about truncation is for a follower that still truncates, in an epoch that "
           "began, and cuts within its log",
           over=(BROKERS,), triggers=lambda now, b: [now.answer[b].given],
           why="the follower's log is as it was when the leader looked at both")
def answers_are_for_who_asked(now, b):
    return implies(now.answer[b].given, all_of(
        truncates(now, b), now.began[now.replica[b].epoch], now.answer[b].cut <= now.log[b].end))


@invariant("it cuts nothing that the follower's log has in common with the history of its epoch",
           over=(BROKERS, OFFSETS),
           triggers=lambda now, b, o: [(now.answer[b].given, at(now.log[b], o))],
           why="what the follower asked for beyond it keeps; what the leader appends since is new")
def answers_keep_what_is_common(now, b, o):
    history = now.history[now.replica[b].epoch]
    return implies(
        all_of(now.answer[b].given, o < now.log[b].end, o < history.end,
               at(now.log[b], o) == at(history, o)),
        o < now.answer[b].cut)


@invariant("if it ends the search, it cuts within the history of the follower's epoch",
           over=(BROKERS,), triggers=lambda now, b: [now.answer[b].given],
           why="the follower's log becomes a prefix of it")
def last_answers_cut_within_history(now, b):
    return implies(all_of(now.answer[b].given, now.answer[b].agreed),
                   now.answer[b].cut <= now.history[now.replica[b].epoch].end)


@invariant("and below its cut the follower's log is that history",
           over=(BROKERS, OFFSETS),
           triggers=lambda now, b, o: [
               (now.answer[b].given, at(now.log[b], o)),
               (now.answer[b].given, at(now.history[now.replica[b].epoch], o))],
           why="the follower's log becomes a prefix of it")
def last_answers_leave_history(now, b, o):
    return implies(all_of(now.answer[b].given, now.answer[b].agreed, o < now.answer[b].cut),
                   at(now.log[b], o) == at(now.history[now.replica[b].epoch], o))


INVARIANTS = (
    a_leaders_log_ends_with_history, a_leaders_log_is_history,
    a_dead_leaders_log_ends_with_history, a_dead_leaders_log_is_history,
    a_followers_log_ends_in_history, a_followers_log_is_history,
    records_come_from_epochs, logs_match_histories, history_comes_from_epochs, histories_match,
    answers_are_for_who_asked, answers_keep_what_is_common, last_answers_cut_within_history,
    last_answers_leave_history)
