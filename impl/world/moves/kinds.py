"""What a world of moving partitions knows about the steps of one name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from impl.world.moves.world import MovesWorld

Candidates = Callable[["MovesWorld"], Iterable[tuple[int, ...]]]
"""The arguments worth asking about, sorted."""


@dataclass(frozen=True, slots=True)
class MovesKind:
    """A step by name: its candidates, its refusal, what it does.

    ``refusal`` gets the world and the arguments: the first condition that does not hold, None if
    the step may be taken. ``act`` gets the same.
    """

    name: str
    candidates: Candidates
    refusal: Callable[..., str | None]
    act: Callable[..., None]


def once(world: MovesWorld) -> list[tuple[int, ...]]:
    """A step without arguments."""
    return [()]


def each_broker(world: MovesWorld) -> list[tuple[int, ...]]:
    """(broker,)."""
    return [(broker,) for broker in world.brokers]


def each_two(world: MovesWorld) -> list[tuple[int, ...]]:
    """(one, another), a broker with itself included."""
    return [(one, two) for one in world.brokers for two in world.brokers]


def each_list(world: MovesWorld) -> list[tuple[int, ...]]:
    """(first, second, third) of each list of replicas, 0 for nobody."""
    return [padded(ids) for ids in world.lists]


def each_broker_and_list(world: MovesWorld) -> list[tuple[int, ...]]:
    """(broker, first, second, third)."""
    return [(broker, *padded(ids)) for broker in world.brokers for ids in world.lists]


def padded(ids: tuple[int, ...]) -> tuple[int, ...]:
    """A list of replicas as the three arguments of a step."""
    return (*ids, *[0] * (3 - len(ids)))
