"""Every step that there could be in a world of one partition, whether or not it is worth asking."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from impl.sim.simulation import BROKERS, StepKind
from impl.world.cluster import PartitionCluster


def grid(world: PartitionCluster, kind: StepKind) -> Iterable[tuple[int, ...]]:
    """All arguments that name brokers alone, a replica beside its leader; else the candidates."""
    if not {*kind.parameters} <= BROKERS:
        return kind.candidates(world)
    every = product(world.brokers, repeat=len(kind.parameters))
    return [one for one in every if "broker" in kind.parameters or len({*one}) == len(one)]
