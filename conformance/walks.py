"""Runs seeded walks of the implementation, compared with the model, under any fault profile."""

from __future__ import annotations

import random
from collections.abc import Mapping

from conformance.effects import EffectsOfOnePartition
from conformance.effects_of_cluster import EffectsOfCluster
from conformance.lockstep import Lockstep, WalkProgress
from conformance.mapping import SystemMap, cluster
from conformance.mapping.rows import Family
from impl.releases import DEFAULT, Release
from impl.sim.simulator import Weight
from impl.world.faults import REPLICATION_FAULTS, weights_in
from impl.world.staged.faults import STAGED_FAULTS, staged_weights


def walk(
    seed: int,
    steps: int,
    bounds: Mapping[str, int] | None = None,
    enabledness_every: int = 10,
    faults: str = "everything",
    effects: EffectsOfOnePartition | None = None,
    version: str | None = None,
) -> WalkProgress:
    """Runs a seeded walk of the implementation with the model beside it.

    The simulator's weights choose the steps. Every `enabledness_every` steps the two sets of
    possible steps are compared in full (0: never); with `effects` each step's writes and requests
    are compared with what it changed. Raises Mismatch with the diagnosis, ValueError for an unknown
    profile of faults. The same seed gives the same walk on any machine.
    """
    pair = Lockstep(bounds, version=version, watcher=effects)
    weights = weights_in(pair.world, REPLICATION_FAULTS.named(faults, seed))
    return _walk(pair, random.Random(seed), weights, steps, enabledness_every)


def _walk(
    pair: Lockstep,
    chooser: random.Random,
    weights: Mapping[str, Weight],
    steps: int,
    enabledness_every: int = 0,
) -> WalkProgress:
    """Steps by the simulator's weights, until nothing can happen within the bounds."""
    for number in range(steps):
        if enabledness_every and number % enabledness_every == 0:
            pair.compare_enabledness()
        choices = pair.choices()
        shares = [
            weight if isinstance(weight := weights[one.name], int) else weight(one)
            for one in choices
        ]
        if not any(shares):
            break
        pair.take(chooser.choices(choices, shares)[0])
    return pair.progress


SHAPES: tuple[Mapping[str, int], ...] = (
    {"brokers": 3, "replicas": 3, "partitions": 1},
    {"brokers": 2, "replicas": 2, "partitions": 2},
)
"""Clusters that are walked, in turn by seed; the first alone up to 2.2, where each of several
partitions has a StopReplica of its own, while `cluster` has one of all."""


def cluster_bounds(seed: int, version: str | None = None) -> dict[str, int]:
    """The bounds and the cluster of the walk of a seed."""
    several = Release.of(version or DEFAULT).since("2.3")
    return {**cluster.BOUNDS, **SHAPES[seed % len(SHAPES) if several else 0]}


def walk_cluster(
    seed: int,
    steps: int,
    bounds: Mapping[str, int] | None = None,
    faults: str = "everything",
    effects: EffectsOfCluster | None = None,
    version: str | None = None,
    pair: Lockstep | None = None,
) -> WalkProgress:
    """Runs a seeded walk of a whole cluster, its controllers stage by stage, beside `cluster`.

    Raises Mismatch, ValueError for an unknown profile of faults. With `pair` that run is continued.
    The same seed gives the same walk on any machine.
    """
    if pair is None:
        limits = bounds or cluster_bounds(seed, version)
        pair = Lockstep(limits, about=cluster.MAP, version=version, watcher=effects)
    weights = staged_weights(pair.world, STAGED_FAULTS.named(faults, seed))
    return _walk(pair, random.Random(f"cluster {seed}"), weights, steps)


def walk_part(
    about: SystemMap, family: Family, seed: int, steps: int, version: str | None = None
) -> WalkProgress:
    """Runs a seeded walk through a part of a system's graph, each edge equally likely.

    It goes deeper than a walk over all edges, which is breadth first, and reaches states of the
    model by other paths. It leaves out what the map declares not alike, and ends where nothing is
    possible. Raises Mismatch. The same seed gives the same walk on any machine.
    """
    chooser = random.Random(f"{about.system} {seed}")
    pair = Lockstep({**about.small, **family.bounds}, about=about, version=version)
    parameters = pair.model.parameters
    run = [(name, dict(zip(parameters[name], given, strict=True)))
           for name, given in pair.begin(family.start)]  # fmt: skip
    for _ in range(steps):
        enabled = pair.model.enabled(pair.state)
        pair.choices_are_allowed(enabled)
        keys = [key for key in sorted(enabled) if key[0] not in family.without]
        chooser.shuffle(keys)
        for name, given in keys:
            step = name, dict(zip(parameters[name], given, strict=True))
            is_alike = about.not_alike(version or DEFAULT, [*run, step]) is None
            if is_alike and pair.drive((name, given)):
                run.append(step)
                break
        else:
            break
    return pair.progress
