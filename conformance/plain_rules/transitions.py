"""What the transitions of partitions and replicas write and send, one at a time, as plain rules.

`cluster` and `topics` take these as steps of a controller's thread, many at a time; here one is
asked by itself, with the releases' own ways given by the caller.

Source: PartitionStateMachine, ReplicaStateMachine (0.10 to 2.8).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from conformance.plain_rules.elections import ElectedLeader

NOBODY = -1


class RegisteredState(NamedTuple):
    """A partition's state: who leads, who is in sync, the epochs, the znode's version."""

    leader: int
    isr: tuple[int, ...]
    epoch: int = 0
    version: int = 0
    controller: int = 0


class LeaderAndIsrSent(NamedTuple):
    """A LeaderAndIsr for the partition."""

    brokers: tuple[int, ...]
    state: RegisteredState
    new: bool = False


class TransitionOutcome(NamedTuple):
    """What a transition comes to.

    `moved`: it takes place. `written`: the state's new text, `order` and `stopped`: what is sent,
    `stopped` with whether the replica is deleted. `known_anew`: everybody's metadata is updated.
    """

    moved: bool
    written: RegisteredState | None = None
    order: LeaderAndIsrSent | None = None
    stopped: tuple[int, bool] | None = None
    known_anew: bool = False


NOTHING = TransitionOutcome(moved=False)
MOVED = TransitionOutcome(moved=True)


def created(assignment: Sequence[int], live: Collection[int], controller: int) -> TransitionOutcome:
    """New to Online: the first living replica leads, all that live are in sync."""
    alive = tuple(one for one in assignment if one in live)
    if not alive:
        return NOTHING
    state = RegisteredState(alive[0], alive, controller=controller)
    return TransitionOutcome(
        moved=True, written=state, order=LeaderAndIsrSent(alive, state, new=True)
    )


def elected(
    state: RegisteredState, chosen: ElectedLeader | None, controller: int
) -> TransitionOutcome:
    """Online or Offline to Online: as a strategy chose; a newer controller's state stands."""
    if chosen is None or state.controller > controller:
        return NOTHING
    after = RegisteredState(
        chosen.leader, tuple(chosen.isr), state.epoch + 1, state.version, controller
    )
    order = LeaderAndIsrSent(tuple(chosen.recipients), after._replace(version=state.version + 1))
    return TransitionOutcome(moved=True, written=after, order=order)


def new_replica(replica: int, leads: RegisteredState | None) -> TransitionOutcome:
    """NonExistent to New: notified who leads, where somebody does; a leader is no new replica."""
    if leads is None:
        return MOVED
    if leads.leader == replica:
        return NOTHING
    return TransitionOutcome(moved=True, order=LeaderAndIsrSent((replica,), leads, new=True))


def online_replica(replica: int, leads: RegisteredState | None) -> TransitionOutcome:
    """To Online: notified once more of the state; a new replica (`leads` is None) knows it
    already.
    """
    return (
        MOVED
        if leads is None
        else TransitionOutcome(moved=True, order=LeaderAndIsrSent((replica,), leads))
    )


def offline_replica(
    replica: int,
    assignment: Sequence[int],
    state: RegisteredState | None,
    controller: int,
    going: bool = False,
    keeps_last: bool = True,
    moves_unled: bool = True,
    tells_unled: bool = True,
) -> TransitionOutcome:
    """To Offline: it stops, and leaves the ISR; all others are notified, even where nothing
    changed.

    `going`: its topic is to be deleted, so that nobody is notified. `keeps_last`: the last member
    of an ISR stays in it (1.1). Without a state: it moves (2.0, `moves_unled`), and everybody's
    metadata is updated (2.3, `tells_unled`).
    """
    stopped = (replica, False)
    if state is None:
        return TransitionOutcome(moves_unled, stopped=stopped, known_anew=tells_unled)
    others = tuple(one for one in assignment if one != replica)
    if replica not in state.isr:
        return TransitionOutcome(
            True, order=None if going else LeaderAndIsrSent(others, state), stopped=stopped
        )
    isr = tuple(one for one in state.isr if one != replica)
    if not isr and keeps_last:
        isr = state.isr
    leader = NOBODY if state.leader == replica else state.leader
    after = RegisteredState(leader, isr, state.epoch + 1, state.version, controller)
    order = LeaderAndIsrSent(others, after._replace(version=state.version + 1))
    return TransitionOutcome(True, after, None if going else order, stopped)


def deletion_starts(replica: int) -> TransitionOutcome:
    """Offline to DeletionStarted: its broker is to delete it."""
    return TransitionOutcome(moved=True, stopped=(replica, True))
