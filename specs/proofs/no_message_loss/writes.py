"""Pending ISR writes, which may be executed at any moment, whether their sender is alive or not."""

from model.language import all_of, any_of, implies
from model.replication.history.state import BROKERS, EPOCHS
from specs.invariants import invariant


@invariant("only the leader of an epoch that began has an ISR write under way",
           over=(EPOCHS,), triggers=lambda now, e: [now.leader[e].write],
           why="the write mentions an ISR that somebody became leader with")
def isr_writes_are_of_leaders_that_began(now, e):
    return implies(now.leader[e].write != "none", now.began[e])


@invariant("an ISR write on its way keeps the leader",
           over=(EPOCHS,), triggers=lambda now, e: [now.leader[e].write],
           why="a leader never drops itself")
def isr_writes_keep_the_leader(now, e):
    return implies(now.leader[e].write == "sent",
                   now.leader[e].written_isr.has(now.request[e].leader))


@invariant("whom an ISR write on its way takes in has asked for the epoch's start, and for all "
           "that its leader committed",
           over=(EPOCHS, BROKERS),
           triggers=lambda now, e, b: [now.leader[e].written_isr.has(b)],
           why="the leader moves no high watermark while the write is under way, so that this is "
               "still so when it is executed, however late")
def replicas_that_join_have_caught_up(now, e, b):
    mine = now.leader[e]
    return implies(
        all_of(mine.write == "sent", mine.written_isr.has(b)),
        any_of(mine.isr.has(b), all_of(
            now.asked[b][e] >= mine.start, now.asked[b][e] >= now.committed_in[e])))


def is_executed_but_unknown(now, e):
    """ZooKeeper executed the write, and the leader does not know."""
    return any_of(now.leader[e].write == "executed", now.leader[e].write == "unanswered")


@invariant("as long as a leader has not heard of its executed write, what it had before is old",
           over=(EPOCHS,), triggers=lambda now, e: [now.leader[e].write],
           why="a leader that gives up keeps a version by which it writes no more")
def versions_before_an_executed_write_are_old(now, e):
    return implies(is_executed_but_unknown(now, e), now.leader[e].version_before < now.zk.version)


@invariant("and whom it counted on before has asked for all that it committed",
           over=(EPOCHS, BROKERS),
           triggers=lambda now, e, b: [
               (now.leader[e].isr_before.has(b), now.committed_in[e]),
               (now.leader[e].isr_before.has(b), now.asked[b][e])],
           why="a leader that gives up counts on the larger of the two ISRs")
def isrs_before_asked_for_commits(now, e, b):
    return implies(
        all_of(is_executed_but_unknown(now, e), now.leader[e].isr_before.has(b),
               b != now.request[e].leader,
               now.committed_in[e] > 0),
        now.asked[b][e] >= now.committed_in[e])


INVARIANTS = (
    isr_writes_are_of_leaders_that_began, isr_writes_keep_the_leader,
    replicas_that_join_have_caught_up, versions_before_an_executed_write_are_old,
    isrs_before_asked_for_commits)
