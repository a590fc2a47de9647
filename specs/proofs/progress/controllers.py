"""Proves that once faults have ended there is one controller, and every broker knows its epoch.

The system is `election`, unchanged. The faults that end are: a session expiry, except if the
session's process won with it and forgot that; a crash; the resignation of an active controller; and
a new write of a deposed controller. In Kafka the event queue of such a broker has the session
expiry behind the event that it is handling.
"""

from __future__ import annotations

from model.election import SYSTEM as ELECTION
from model.election.state import BROKERS, EPOCHS
from model.language import (
    all_of,
    always_eventually,
    any_of,
    every,
    implies,
    is_none,
    limit,
    not_,
    some,
)
from specs.invariants import Proof, invariant
from specs.progress.after_faults import after_faults, always_a_fault
from specs.progress.ranking import AwaitedStep, Rank, Ranking
from specs.proofs import single_controller as controllership

# -- faults ---------------------------------------------------------------------------------------


def has_forgotten_its_win(now, broker):
    """The broker owns /controller, but its new process does not know it and is never notified."""
    return all_of(
        now.zk.controller == broker, not_(now.belief[broker].held), not_(now.read[broker].done))


FAULTS = {
    "session_expires": lambda now, broker: not_(has_forgotten_its_win(now, broker)),
    "broker_crashes": always_a_fault,
    "controller_resigns_and_deletes_znode": lambda now, broker: now.zk.controller == broker,
    "controller_starts_write": lambda now, broker: now.zk.controller != broker,
}

# -- the claim ------------------------------------------------------------------------------------


def is_known_to_all(now):
    """A broker owns /controller and knows it, and every broker knows its epoch."""
    return some(BROKERS, lambda one: all_of(
        now.zk.controller == one, now.belief[one].held, now.belief[one].epoch == now.zk.epoch,
        every(BROKERS, lambda b: now.seen[b] >= now.zk.epoch)))


FAIR = (
    "session_expires", "broker_connects", "broker_reads_epoch", "broker_loses_controller_election",
    "broker_wins_election", "broker_learns_it_won", "controller_resigns_and_deletes_znode",
    "write_is_applied", "controller_sends_request", "broker_handles_request")


@always_eventually("once faults have ended, one broker is the controller and knows it, and every "
                   "broker knows its epoch",
                   fair=FAIR)
def all_brokers_know_the_controller(now):
    return any_of(not_(now.faults_ended), is_known_to_all(now))


SYSTEM = after_faults(ELECTION, FAULTS, (all_brokers_know_the_controller,))

EXPLORED = after_faults(ELECTION, FAULTS, (all_brokers_know_the_controller,), left_over={
    "broker_wins_election": lambda now, broker: now.zk.epoch + 1 < limit("epoch"),
    "write_is_applied": lambda now, broker: now.zk.state_version + 2 < limit("writes"),
})
"""For an explorer: one epoch is left for when faults have ended, and two writes."""

def is_current(now, b):
    """The write under way will be executed."""
    return all_of(now.pending[b].state_version == now.zk.state_version,
                  now.pending[b].epoch_version == now.zk.epoch_version)


# -- invariants -----------------------------------------------------------------------------------


@invariant("who believes it is the controller has no election under way",
           why="an owner that believes holds the newest epoch")
def a_controller_does_not_run(now):
    return every(BROKERS, lambda b: not_(all_of(now.belief[b].held, now.read[b].done)))


@invariant("who has an election under way has no write under way",
           why="what it has under way once it has won is of the epoch that it won")
def a_candidate_does_not_write(now):
    return every(BROKERS, lambda b: not_(all_of(now.read[b].done, now.pending[b].any)))


@invariant("whoever owns /controller and believes so, believes in the newest epoch",
           why="what it sends and writes is of that epoch")
def an_owner_believes_the_newest(now):
    return every(BROKERS, lambda b: implies(
        all_of(now.zk.controller == b, now.belief[b].held), now.belief[b].epoch == now.zk.epoch))


@invariant("whoever owns /controller and has its election under way, wrote the newest epoch",
           why="it will find that it won")
def an_owner_will_find_it_won(now):
    return every(BROKERS, lambda b: implies(
        all_of(now.zk.controller == b, now.read[b].done), now.zk.epoch == now.read[b].epoch + 1))


@invariant("whoever owns /controller has a session, and an epoch",
           why="the node goes with the session; the epoch 0 was won by nobody")
def owners_have_session_and_epoch(now):
    return every(BROKERS, lambda b: implies(
        now.zk.controller == b, all_of(now.session[b], now.zk.epoch >= 1)))


@invariant("a write under way of a broker that believes is of the epoch that it believes in",
           why="the write of the active controller is not refused for its epoch")
def writes_are_of_the_belief(now):
    return every(BROKERS, lambda b: implies(
        all_of(now.belief[b].held, now.pending[b].any),
        now.pending[b].epoch_version == now.belief[b].version))


@invariant("a belief, and a write under way, is of the last epoch that its broker won",
           why="nobody runs again before it has resigned, and before its write is answered")
def beliefs_and_writes_are_of_the_last_win(now):
    return every(BROKERS, lambda b: every(EPOCHS, lambda e: implies(now.won.has(b, e), all_of(
        implies(now.belief[b].held, e <= now.belief[b].epoch),
        implies(now.pending[b].any, e <= now.pending[b].epoch)))))


@invariant("a belief, and a write under way, is of some epoch",
           why="the epoch 0 was won by nobody, and so not by one broker only")
def beliefs_and_writes_have_an_epoch(now):
    return every(BROKERS, lambda b: all_of(
        implies(now.belief[b].held, now.belief[b].epoch >= 1),
        implies(now.pending[b].any, now.pending[b].epoch >= 1)))


@invariant("a write under way of the newest epoch will be executed",
           why="who won last is never refused, so that one broker at least can run again")
def writes_of_the_newest_are_current(now):
    return every(BROKERS, lambda b: implies(
        all_of(now.pending[b].any, now.pending[b].epoch == now.zk.epoch), is_current(now, b)))


@invariant("somebody won the newest epoch, if there is any",
           why="one broker at least can run again")
def somebody_won_the_newest(now):
    return implies(now.zk.epoch >= 1, some(BROKERS, lambda b: now.won.has(b, now.zk.epoch)))


# -- the ranking ----------------------------------------------------------------------------------


def nobody_is_registered(now):
    return is_none(now.zk.controller)


def can_win(now, b):
    return all_of(now.session[b], now.read[b].done,
                  now.read[b].version == now.zk.epoch_version)


def ran_without_winning(now, b):
    return all_of(now.read[b].done, any_of(
        not_(now.session[b]), now.read[b].version != now.zk.epoch_version))


def its_broker(now, broker):
    return (broker,)


RANKS = (
    Rank("forgotten_wins", "who owns /controller without knowing", (BROKERS,),
         has_forgotten_its_win, {"session_expires": its_broker}),
    Rank("no_controller", "/controller does not exist", (),
         nobody_is_registered, {"broker_wins_election": lambda now, broker: ()}),
    Rank("writes_under_way", "brokers with a write under way, while nobody is registered",
         (BROKERS,), lambda now, b: all_of(nobody_is_registered(now), now.pending[b].any),
         {"write_is_applied": its_broker, "write_is_refused": its_broker}),
    Rank("believers", "brokers that believe they are the controller, while nobody is",
         (BROKERS,), lambda now, b: all_of(nobody_is_registered(now), now.belief[b].held),
         {"controller_resigns_and_deletes_znode": its_broker}),
    Rank("without_session", "brokers without a session, while nobody is registered",
         (BROKERS,), lambda now, b: all_of(nobody_is_registered(now), not_(now.session[b])),
         {"broker_connects": its_broker}),
    Rank("runs_in_vain", "brokers whose session or turn is over, while nobody is registered",
         (BROKERS,), lambda now, b: all_of(nobody_is_registered(now), ran_without_winning(now, b)),
         {"broker_loses_controller_election": its_broker}),
    Rank("no_candidates", "brokers that cannot win yet, while nobody is registered",
         (BROKERS,), lambda now, b: all_of(nobody_is_registered(now), not_(can_win(now, b))),
         {"broker_reads_epoch": its_broker}),
    Rank("unlearned_wins", "who owns /controller and does not believe it yet", (BROKERS,),
         lambda now, b: all_of(now.zk.controller == b, not_(now.belief[b].held)),
         {"broker_learns_it_won": its_broker}),
    Rank("unsent", "the controller that has not sent its request", (BROKERS,),
         lambda now, b: all_of(now.zk.controller == b, not_(now.sent.has(b, now.zk.epoch))),
         {"controller_sends_request": its_broker}),
    Rank("unaware", "brokers that do not know the newest epoch", (BROKERS,),
         lambda now, b: now.seen[b] < now.zk.epoch,
         {"broker_handles_request": lambda now, broker, sender, epoch: (broker,)}),
)


def the_broker(now, b):
    return {"broker": b}


def while_no_controller(condition):
    """An awaited step of some broker while /controller is missing."""
    return lambda now, b: all_of(nobody_is_registered(now), condition(now, b))


AWAITED = (
    AwaitedStep("session_expires", has_forgotten_its_win, the_broker, (BROKERS,)),
    AwaitedStep("write_is_applied", while_no_controller(lambda now, b: all_of(
        now.pending[b].any, is_current(now, b))), the_broker, (BROKERS,)),
    AwaitedStep("controller_resigns_and_deletes_znode", while_no_controller(lambda now, b: all_of(
        now.belief[b].held, not_(now.pending[b].any))), the_broker, (BROKERS,)),
    AwaitedStep("broker_loses_controller_election", while_no_controller(ran_without_winning),
                the_broker, (BROKERS,)),
    AwaitedStep("broker_connects", while_no_controller(lambda now, b: all_of(
        not_(now.session[b]), not_(now.read[b].done))), the_broker, (BROKERS,)),
    AwaitedStep("broker_reads_epoch", while_no_controller(lambda now, b: all_of(
        now.session[b], not_(now.belief[b].held), not_(now.pending[b].any),
        not_(now.read[b].done))), the_broker, (BROKERS,)),
    AwaitedStep("broker_wins_election", while_no_controller(can_win), the_broker, (BROKERS,)),
    AwaitedStep("broker_learns_it_won", lambda now, b: all_of(
        now.zk.controller == b, now.read[b].done), the_broker, (BROKERS,)),
    AwaitedStep("controller_sends_request", lambda now, b: all_of(
        now.zk.controller == b, now.belief[b].held, not_(now.sent.has(b, now.zk.epoch))),
        the_broker, (BROKERS,)),
    AwaitedStep("broker_handles_request", lambda now, b, sender: all_of(
        now.zk.controller == sender, now.belief[sender].held,
        now.sent.has(sender, now.zk.epoch), now.seen[b] < now.zk.epoch),
        lambda now, b, sender: {"broker": b, "sender": sender, "epoch": now.zk.epoch},
        (BROKERS, BROKERS)),
)

RANKING = Ranking(
    RANKS, AWAITED,
    stays=lambda now: all_of(now.faults_ended, is_known_to_all(now)),
    explored=EXPLORED, bounds={"brokers": 2, "epoch": 3, "writes": 3})

PROOF = Proof(
    claim="all_brokers_know_the_controller",
    system="election",
    form=SYSTEM,
    invariants=(
        a_controller_does_not_run, a_candidate_does_not_write, an_owner_believes_the_newest,
        an_owner_will_find_it_won, owners_have_session_and_epoch, writes_are_of_the_belief,
        beliefs_and_writes_are_of_the_last_win, beliefs_and_writes_have_an_epoch,
        writes_of_the_newest_are_current, somebody_won_the_newest),
    premises=controllership.PROOF.invariants,
    ranking=RANKING,
    assumes=(
        "faults end: from some moment on no process crashes, no session expires but one whose "
        "process has forgotten that it won with it, no active controller resigns, and no "
        "deposed one begins another write",
        "every broker connects in the end; what ZooKeeper is asked it answers; a request that a "
        "active controller has sent arrives in the end, at every broker",
        *controllership.PROOF.assumes,
    ),
    given="single_controller",
    about=("given the invariants of single_controller",),
)
