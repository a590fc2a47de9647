"""Commits: the records below high watermarks form one sequence, which never shrinks."""

from model.language import all_of, any_of, implies, not_
from model.replication.history.state import BROKERS, EPOCHS, OFFSETS
from specs.invariants import invariant
from specs.proofs.no_message_loss.definitions import at, leads, may_be_committed


@invariant("every other member of a leader's ISR asked for all that the leader committed",
           over=(EPOCHS, BROKERS),
           triggers=lambda now, e, b: [
               (now.leader[e].isr.has(b), now.committed_in[e]),
               now.asked[b][e],
               (now.leader[e].isr.has(b), may_be_committed(now, e, now.committed_in[e]))],
           why="that is what makes it committed; who joins later has asked for it too")
def commits_were_asked_for(now, e, b):
    return implies(
        all_of(now.began[e], now.leader[e].isr.has(b), b != now.request[e].leader,
               now.committed_in[e] > 0),
        now.asked[b][e] >= now.committed_in[e])


@invariant("what a leader committed in its epoch is below its high watermark, or below the epoch's "
           "start, if it came back from a crash",
           over=(BROKERS,), triggers=lambda now, b: [now.replica[b].role],
           why="who reaches both reaches all that")
def leaders_remember_what_they_committed(now, b):
    epoch = now.replica[b].epoch
    return implies(leads(now, b), any_of(
        now.committed_in[epoch] <= now.replica[b].hw,
        now.committed_in[epoch] <= now.leader[epoch].start))


@invariant("what an epoch committed is within its history, and is committed",
           over=(EPOCHS,), triggers=lambda now, e: [now.committed_in[e]],
           why="`committed` is the longest of them")
def epochs_commit_history(now, e):
    return all_of(
        implies(now.committed_in[e] > 0, now.began[e]),
        implies(now.began[e], now.committed_in[e] <= now.history[e].end),
        now.committed_in[e] <= now.committed.end)


@invariant("all epochs commit the same records",
           over=(EPOCHS, OFFSETS),
           triggers=lambda now, e, o: [
               at(now.history[e], o), (now.committed_in[e], at(now.committed.at, o))],
           why="there is one committed sequence")
def epochs_commit_the_same(now, e, o):
    return implies(all_of(now.began[e], o < now.committed_in[e]),
                   at(now.history[e], o) == at(now.committed.at, o))


@invariant("what an epoch has committed is among what it may commit",
           over=(EPOCHS,), triggers=lambda now, e: [now.committed_in[e]],
           why="what holds of the one holds of the other")
def what_is_committed_may_be(now, e):
    return implies(all_of(now.began[e], now.committed_in[e] > 0),
                   may_be_committed(now, e, now.committed_in[e]))


@invariant("all that is committed was committed by the leader of one epoch",
           why="a property proved for one epoch's commits then holds for every committed record")
def one_epoch_committed_it_all(now):
    was = now.committed
    return any_of(was.end == 0, all_of(
        now.began[was.epoch], was.end <= now.committed_in[was.epoch]))


@invariant("no high watermark is above what is committed",
           over=(BROKERS,), triggers=lambda now, b: [now.replica[b].hw],
           why="consumers see committed records only")
def high_watermarks_are_committed(now, b):
    return now.replica[b].hw <= now.committed.end


@invariant("below its high watermark every log is what is committed",
           over=(BROKERS, OFFSETS), triggers=lambda now, b, o: [at(now.log[b], o)],
           why="consumers of any two replicas see the same")
def below_high_watermarks_is_committed(now, b, o):
    return implies(o < now.replica[b].hw, at(now.log[b], o) == at(now.committed.at, o))


@invariant("what is below a broker's high watermark was committed by an epoch no newer than its "
           "own",
           over=(BROKERS,), triggers=lambda now, b: [now.hw_from[b]],
           why="so it is in the history of its own epoch, and never cut")
def high_watermarks_come_from_epochs(now, b):
    return all_of(now.hw_from[b] <= now.replica[b].epoch,
                  now.replica[b].hw <= now.committed_in[now.hw_from[b]])


@invariant("and what is below one that a leader sent, by an epoch no newer than the leader's",
           over=(EPOCHS,), triggers=lambda now, e: [now.sent_from[e]],
           why="a follower's high watermark is such a one")
def sent_hw_comes_from_epochs(now, e):
    return all_of(now.sent_from[e] <= e, now.sent_hw[e] <= now.committed_in[now.sent_from[e]])


@invariant("no two records were ever committed at one offset",
           why="the third part of the claim")
def nothing_is_committed_twice(now):
    return not_(now.committed_twice)


INVARIANTS = (
    commits_were_asked_for, leaders_remember_what_they_committed, epochs_commit_history,
    epochs_commit_the_same, what_is_committed_may_be, one_epoch_committed_it_all,
    high_watermarks_are_committed, below_high_watermarks_is_committed,
    high_watermarks_come_from_epochs, sent_hw_comes_from_epochs, nothing_is_committed_twice)
