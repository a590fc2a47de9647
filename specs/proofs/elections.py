"""Proves that controllers carry out exactly the elections that the replication proof assumes.

`replication` has its own controllership, in coarser steps than `election`. This proof applies the
unchanged invariants of `single_controller` to it: every step of `replication` keeps them. It
follows that a controller's write of the partition's state is an election in the sense of the proof
of no message loss: by the only broker with the newest controller epoch, conditional on the version
that it read, with the next leader epoch, a subset of the registered ISR, and a leader in it or
none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from model.election.claims import at_most_one_holder_per_epoch
from model.language import (
    Record,
    Relation,
    System,
    all_of,
    always,
    always_step,
    any_of,
    every,
    ghost,
    implies,
    is_none,
    some,
)
from model.language.recording import Recorded, fields_read
from model.language.scalars import Scalar
from model.language.system import RecordedSystem
from model.protocol.state import BROKERS, CONTROLLER_EPOCHS
from model.replication import SYSTEM as REPLICATION
from specs.invariants import Invariant, Proof, invariant
from specs.proofs import single_controller as election

WRITES = ("controller_elects_leader", "controller_removes_replica")
"""The steps by which a controller writes the partition's state."""


@dataclass(frozen=True)
class _RecordView:
    """A record of `election`, its parts read off `replication`."""

    parts: dict[str, Callable[[], Scalar]]

    def __getattr__(self, name: str) -> Scalar:
        return self.parts[name]()


class _PerBroker:
    def __init__(self, of: Callable[[Any], Any]) -> None:
        self._of = of

    def __getitem__(self, broker: Any) -> Any:
        return self._of(broker)


class ElectionView:
    """The state of `election`, read off a state of `replication`.

    A broker that believes in an epoch holds its zkVersion: both move by one with every win. What a
    controller read of the partition is the write that it may have under way.
    """

    def __init__(self, now: Any) -> None:
        self.zk = _RecordView({
            "controller": lambda: now.zk.controller,
            "epoch": lambda: now.zk.epoch,
            "epoch_version": lambda: now.zk.epoch,
        })  # fmt: skip
        self.won = now.won
        self.belief = _PerBroker(lambda b: _RecordView({
            "held": lambda: now.belief[b] > 0,
            "epoch": lambda: now.belief[b],
            "version": lambda: now.belief[b],
        }))  # fmt: skip
        self.pending = _PerBroker(lambda b: _RecordView({
            "any": lambda: all_of(now.belief[b] > 0, now.cache[b].held),
            "epoch": lambda: now.belief[b],
            "epoch_version": lambda: now.belief[b],
        }))  # fmt: skip


def _of_the_controllership(one: Invariant) -> Invariant:
    return replace(one, matrix=lambda now, *values: one.matrix(ElectionView(now), *values))


@invariant("whoever won and has not heard of it did win that epoch",
           why="a reply that comes late makes it believe what it once was")  # fmt: skip
def pending_elections_were_won(now: Any) -> Scalar:
    """The reply of a win is under way in `replication`; `election` has no step of that name."""
    return every(BROKERS, lambda b: implies(
        now.campaign[b] > 0, now.won.has(b, now.campaign[b])))  # fmt: skip


@invariant("what a controller read of the state is not newer than the state, and is the state "
           "as long as the version is the same",
           why="the version check at ZooKeeper then says that it decided on this state")
def cached_state_matches_its_version(now: Any) -> Scalar:
    """The conditional write of replication, as single_controller's checks /controller_epoch."""
    return every(BROKERS, lambda b: implies(now.cache[b].held, all_of(
        now.cache[b].version <= now.zk.version,
        implies(now.cache[b].version == now.zk.version, all_of(
            now.cache[b].leader == now.zk.leader,
            every(BROKERS, lambda m: now.cache[b].isr.has(m) == now.zk.isr.has(m)))))))  # fmt: skip


@invariant("whoever leads does so in some leader epoch",
           why="the state that a leader writes has an epoch")  # fmt: skip
def leaders_have_an_epoch(now: Any) -> Scalar:
    """Leaders write the state as well."""
    return every(BROKERS, lambda b: implies(
        now.replica[b].role == "leader", now.replica[b].epoch >= 0))  # fmt: skip


@invariant("the registered leader is in the registered ISR",
           why="a proof of no message loss holds up to this step: see the_registered_leader_is_in_"
               "the_isr there")  # fmt: skip
def the_registered_leader_is_in_the_isr(now: Any) -> Scalar:
    """Premise, not shown here: an invariant of `no_message_loss`, of the state before the write."""
    return every(BROKERS, lambda b: implies(now.zk.leader == b, now.zk.isr.has(b)))


PREMISES = (the_registered_leader_is_in_the_isr,)


@always("a broker that believes it is the controller won that epoch, and nobody else ever did",
        companion="a_leader_is_elected")  # fmt: skip
def controllers_hold_their_epochs(now: Any) -> Scalar:
    """single_controller, of the controllership in `replication`."""
    return all_of(
        at_most_one_holder_per_epoch(now),
        every(BROKERS, lambda b: implies(now.belief[b] > 0, now.won.has(b, now.belief[b]))),
    )


def _holds_the_newest_epoch(now: Any, b: Any) -> Scalar:
    return all_of(
        now.belief[b] == now.zk.epoch, now.won.has(b, now.zk.epoch),
        every(BROKERS, lambda other: implies(now.won.has(other, now.zk.epoch), other == b)),
    )  # fmt: skip


@always_step("a controller's write is an election as replication assumes it: by the one broker "
             "that holds the newest controller epoch, under the next leader epoch and version, "
             "with a part of the registered ISR, and a leader in it or none",
             companion="a_leader_is_elected")  # fmt: skip
def elections_are_as_assumed(now: Any, after: Any) -> Scalar:
    """What `controller_elects_leader` and `controller_writes_no_leader` of the history do."""
    return all_of(
        after.zk.leader_epoch == now.zk.leader_epoch + 1,
        after.zk.version == now.zk.version + 1,
        every(BROKERS, lambda b: implies(after.zk.isr.has(b), now.zk.isr.has(b))),
        any_of(is_none(after.zk.leader),
               some(BROKERS, lambda b: all_of(after.zk.leader == b, after.zk.isr.has(b)))),
        after.zk.state_epoch == now.zk.epoch,
        some(BROKERS, lambda b: all_of(_holds_the_newest_epoch(now, b), now.cache[b].held,
                                       now.cache[b].version == now.zk.version)),
    )  # fmt: skip


def composed(
    changed: Mapping[str, object] | None = None, version: str | None = None
) -> RecordedSystem:
    """`replication` with a history of who won which controller epoch, reduced to some fields.

    Writes of other fields are left out, and so are guards that read them. More steps are therefore
    possible than in `replication`, and claims about all of them hold for its steps.
    """
    parts = {**REPLICATION.state.parts, "won": ghost(Relation(BROKERS, CONTROLLER_EPOCHS))}
    system: System = replace(
        REPLICATION,
        state=Record(**parts),
        transitions=tuple(_with_won_epochs(one) for one in REPLICATION.transitions),
        claims=(*REPLICATION.claims, controllers_hold_their_epochs, elections_are_as_assumed),
    )
    recorded = system.recorded(version, changed)
    recorded.steps = [_cut(step) for step in recorded.steps]
    return recorded


def _with_won_epochs(one: Any) -> Any:
    """The transition; the one by which a broker wins also records who won which epoch."""
    if one.name != "broker_becomes_controller":
        return one

    def wins(now: Any, new: Any, broker: Any) -> None:
        one.function(now, new, broker)
        new.won = now.won.including(broker, now.zk.epoch + 1)

    return replace(one, function=wins)


SPOKEN_OF = (
    "zk.", "belief", "campaign", "reply_lost", "cache.", "won", "up", "replica.role",
    "replica.epoch", "$",
)  # fmt: skip


def _is_spoken_of(name: str) -> bool:
    return name.startswith(SPOKEN_OF)


def _cut(step: Recorded) -> Recorded:
    return replace(
        step,
        requires=[one for one in step.requires
                  if all(map(_is_spoken_of, fields_read(one.condition)))],
        writes=[one for one in step.writes if _is_spoken_of(one.field)],
    )  # fmt: skip


PROOF = Proof(
    claim="controllers_hold_their_epochs",
    system="replication",
    invariants=(
        *map(_of_the_controllership, (
            election.one_broker_per_epoch, election.the_owner_won_the_newest_epoch,
            election.epoch_and_version_move_together, election.won_epochs_are_not_in_the_future,
            election.belief_was_won, election.a_write_under_way_was_won,
            election.epochs_start_at_zero)),
        pending_elections_were_won, cached_state_matches_its_version, leaders_have_an_epoch,
    ),
    step_claims={"elections_are_as_assumed": WRITES},
    premises=PREMISES,
    assumes=(
        "a step that writes none of the controllership and the partition's state changes "
        "nothing of them; guards that read other fields are left out, so that more is possible",
        "the state before a controller's write obeys no_message_loss, whose steps all before it "
        "were: there the registered leader is in the registered ISR",
    ),
)  # fmt: skip

__all__ = ["PROOF", "ElectionView", "composed"]
