"""Proves a single controller: twelve invariants, for any number of brokers, epochs and requests.

Bookkeeping comes first, then the two fences: the multi that creates /controller only together with
a new epoch, and the version check in every write of a controller.
"""

from model.election.claims import at_most_one_holder_per_epoch
from model.election.state import BROKERS, EPOCHS
from model.language import all_of, every, implies, is_none, not_
from specs.invariants import Proof, invariant


@invariant("per controller epoch at most one broker ever held it",
           why="the first part of the claim")
def one_broker_per_epoch(now):
    return at_most_one_holder_per_epoch(now)


@invariant("no stale write was taken and no older controller obeyed",
           why="the second and third part of the claim")
def no_stale_write_or_request_is_accepted(now):
    return all_of(not_(now.stale_write), not_(now.stale_obedience))


@invariant("whoever owns /controller won the newest epoch",
           why="node and epoch change in one multi; a reply that was lost can be looked up")
def the_owner_won_the_newest_epoch(now):
    return implies(
        not_(is_none(now.zk.controller)), now.won.has(now.zk.controller, now.zk.epoch))


@invariant("/controller_epoch and its zkVersion move together",
           why="checking the version is then checking the epoch")
def epoch_and_version_move_together(now):
    return now.zk.epoch == now.zk.epoch_version


@invariant("an epoch that was won is at least 1 and not above the newest",
           why="the next epoch to be won is new")
def won_epochs_are_not_in_the_future(now):
    return every(BROKERS, lambda b: every(EPOCHS, lambda e: implies(
        now.won.has(b, e), all_of(e >= 1, e <= now.zk.epoch))))


@invariant("what a candidate read is a consistent pair, and not newer than ZooKeeper",
           why="the multi compares the version and writes the value plus one")
def what_was_read_is_consistent(now):
    return every(BROKERS, lambda b: implies(now.read[b].done, all_of(
        now.read[b].epoch == now.read[b].version,
        now.read[b].version <= now.zk.epoch_version)))


@invariant("a broker that believes it is the controller did win that epoch, and holds its version",
           why="belief may be late, never wrong about the past")
def belief_was_won(now):
    return every(BROKERS, lambda b: implies(now.belief[b].held, all_of(
        now.won.has(b, now.belief[b].epoch),
        now.belief[b].epoch == now.belief[b].version)))


@invariant("a write under way carries an epoch that its sender won, with that epoch's version",
           why="the version check at ZooKeeper then tells whether the sender is deposed")
def a_write_under_way_was_won(now):
    return every(BROKERS, lambda b: implies(now.pending[b].any, all_of(
        now.won.has(b, now.pending[b].epoch),
        now.pending[b].epoch == now.pending[b].epoch_version)))


@invariant("a request that was sent carries an epoch that its sender won",
           why="brokers cannot learn of an epoch that does not exist")
def requests_were_won(now):
    return every(BROKERS, lambda b: every(EPOCHS, lambda e: implies(
        now.sent.has(b, e), now.won.has(b, e))))


@invariant("a broker obeyed nothing newer than it has seen, and saw nothing newer than ZooKeeper",
           why="refusing what is older than seen is then refusing what is older than obeyed")
def obeyed_epochs_were_seen(now):
    return every(BROKERS, lambda b: all_of(
        now.obeyed[b] <= now.seen[b], now.seen[b] <= now.zk.epoch))


@invariant("the controller epoch in the partition's state is not newer than /controller_epoch",
           why="a state never speaks for a controller that does not exist yet")
def the_state_is_not_from_the_future(now):
    return now.zk.state_epoch <= now.zk.epoch


@invariant("the controller epoch is never negative",
           why="the first controller has epoch 1, so that 0 can mean: none yet")
def epochs_start_at_zero(now):
    return now.zk.epoch >= 0


PROOF = Proof(
    claim="single_controller",
    system="election",
    invariants=(
        one_broker_per_epoch, no_stale_write_or_request_is_accepted, the_owner_won_the_newest_epoch,
        epoch_and_version_move_together, won_epochs_are_not_in_the_future,
        what_was_read_is_consistent, belief_was_won, a_write_under_way_was_won,
        requests_were_won, obeyed_epochs_were_seen, the_state_is_not_from_the_future,
        epochs_start_at_zero),
    assumes=(
        "one partition's state stands for all that controllers write",
        "the two reads of checkControllerAndEpoch are one step",
        "KIP-380 broker epochs appear as their effect: a request made for an earlier incarnation "
        "of a broker is never obeyed by a later one",
        "ZooKeeper is linearizable: a multi is atomic and versions never repeat",
    ),
)
