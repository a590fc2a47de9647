"""What can still be committed: a deposed leader commits only what every later ISR member has."""

from model.language import all_of, implies
from model.replication.history.state import BROKERS, ENDS, EPOCHS, OFFSETS
from specs.invariants import invariant
from specs.proofs.no_message_loss.definitions import at, commits_with_the_log_of, may_be_committed


@invariant("what an epoch has committed, or may yet, lies below the start of every later epoch",
           over=(EPOCHS, EPOCHS, ENDS),
           triggers=lambda now, e, later, end: [(may_be_committed(now, e, end), now.began[later])],
           why="who reaches that start has it all: that is why the ISR is joined only there")
def later_epochs_start_beyond(now, e, later, end):
    return implies(
        all_of(now.began[later], e < later, end > 0, may_be_committed(now, e, end)),
        end <= now.leader[later].start)


@invariant("and is in the history of every later epoch",
           over=(EPOCHS, EPOCHS, ENDS, OFFSETS),
           triggers=lambda now, e, later, end, o: [
               (may_be_committed(now, e, end), at(now.history[later], o)),
               (may_be_committed(now, e, end), now.began[later], at(now.history[e], o))],
           why="leader completeness, of zombies too")
def later_epochs_have_what_may_be_committed(now, e, later, end, o):
    return implies(
        all_of(now.began[later], e < later, may_be_committed(now, e, end), o < end),
        at(now.history[later], o) == at(now.history[e], o))


@invariant("a registered ISR member whose word an epoch's leader has, or does not need, has as "
           "many records as that leader may commit",
           over=(BROKERS, EPOCHS, ENDS),
           triggers=lambda now, b, e, end: [(now.zk.isr.has(b), may_be_committed(now, e, end))],
           why="it may be elected next")
def members_are_long_enough(now, b, e, end):
    return implies(
        all_of(now.zk.isr.has(b), end > 0, may_be_committed(now, e, end),
               commits_with_the_log_of(now, b, e, end)),
        end <= now.log[b].end)


@invariant("and they are that epoch's history",
           over=(BROKERS, EPOCHS, ENDS, OFFSETS),
           triggers=lambda now, b, e, end, o: [
               (now.zk.isr.has(b), may_be_committed(now, e, end), at(now.log[b], o)),
               (now.zk.isr.has(b), may_be_committed(now, e, end), at(now.history[e], o))],
           why="it may be elected next")
def members_have_what_may_be_committed(now, b, e, end, o):
    return implies(
        all_of(now.zk.isr.has(b), may_be_committed(now, e, end),
               commits_with_the_log_of(now, b, e, end), o < end),
        at(now.log[b], o) == at(now.history[e], o))


def is_unaware_member(now, b, e, later):
    """The broker is in the ISR of a later request that it has not got yet: it may lead or follow
    any time
    """
    return all_of(now.request[later].sent, now.request[later].isr.has(b),
                  now.replica[b].epoch < later, e < later)


@invariant("the same for the members of a later request's ISR that have not heard of it: length",
           over=(BROKERS, EPOCHS, EPOCHS, ENDS),
           triggers=lambda now, b, e, later, end: [
               (now.request[later].isr.has(b), may_be_committed(now, e, end))],
           why="one of them may be the next leader, though it left the registered ISR since")
def candidates_are_long_enough(now, b, e, later, end):
    return implies(
        all_of(is_unaware_member(now, b, e, later), end > 0, may_be_committed(now, e, end),
               commits_with_the_log_of(now, b, e, end)),
        end <= now.log[b].end)


@invariant("the same for the members of a later request's ISR that have not heard of it: records",
           over=(BROKERS, EPOCHS, EPOCHS, ENDS, OFFSETS),
           triggers=lambda now, b, e, later, end, o: [
               (now.request[later].isr.has(b), may_be_committed(now, e, end), at(now.log[b], o)),
               (now.request[later].isr.has(b), may_be_committed(now, e, end),
                at(now.history[e], o))],
           why="one of them may be the next leader, though it left the registered ISR since")
def candidates_have_what_may_be_committed(now, b, e, later, end, o):
    return implies(
        all_of(is_unaware_member(now, b, e, later), may_be_committed(now, e, end),
               commits_with_the_log_of(now, b, e, end), o < end),
        at(now.log[b], o) == at(now.history[e], o))


INVARIANTS = (
    later_epochs_start_beyond, later_epochs_have_what_may_be_committed, members_are_long_enough,
    members_have_what_may_be_committed, candidates_are_long_enough,
    candidates_have_what_may_be_committed)
