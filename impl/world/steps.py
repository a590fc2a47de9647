"""A step: one named grain of what may happen next, and its refusal when it may not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from impl.world.cluster import PartitionCluster


@dataclass(frozen=True, order=True, slots=True)
class Step:
    """A step by name, with its arguments in the order of the step's parameters."""

    name: str
    args: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.name}({', '.join(str(value) for value in self.args)})"


class StepNotPossible(Exception):
    """The step is not enabled; ``reason`` is the condition that does not hold, as a sentence."""

    def __init__(self, step: Step, reason: str) -> None:
        super().__init__(f"{step} is not possible: {reason} — false")
        self.step = step
        self.reason = reason


Refusal = Callable[..., str | None]
"""(world, *args) -> the first condition that does not hold, None if the step may be taken."""

Act = Callable[..., None]
"""(world, *args) -> takes the step, whose conditions all hold."""

Candidates = Callable[[PartitionCluster], Iterable[tuple[int, ...]]]
"""The arguments worth asking about, sorted."""


@dataclass(frozen=True, slots=True)
class StepKind:
    """Everything the world knows about the steps of one name.

    ``fixed`` says that the candidates depend on the number of brokers alone.
    """

    name: str
    parameters: tuple[str, ...]
    candidates: Candidates
    refusal: Refusal
    act: Act
    fixed: bool = True


def each_broker(world: PartitionCluster) -> Iterable[tuple[int, ...]]:
    """(broker,) for every broker."""
    return [(broker,) for broker in world.brokers]


def each_pair(world: PartitionCluster) -> Iterable[tuple[int, ...]]:
    """(one, another) for every ordered pair of two brokers."""
    return [(one, two) for one in world.brokers for two in world.brokers if one != two]


def each_two(world: PartitionCluster) -> Iterable[tuple[int, ...]]:
    """(one, another) for every ordered pair, a broker with itself included."""
    return [(one, two) for one in world.brokers for two in world.brokers]


def each_leader_and_isr(world: PartitionCluster) -> Iterable[tuple[int, ...]]:
    """(target, leader epoch, controller epoch) of every LeaderAndIsr request in flight."""
    return sorted(world.network.leader_and_isr)


PROCESS_IS_UP = "the broker's process is up"
SESSION_IS_ALIVE = "the broker's ZooKeeper session is alive"
LEADS = "the broker believes that it leads"
ISR_IS_UNLOCKED = "no ISR write of the broker waits for its answer"
VERSION_IS_CURRENT = "the leader's cached zkVersion is the registered one"
VERSION_IS_OLD = "the leader's cached zkVersion is not the registered one"
