"""On random graphs what happens in the end is answered as by brute force and by networkx."""

from __future__ import annotations

import itertools
import random
from collections.abc import Collection
from typing import Any

import networkx
import numpy as np
import pytest

from model.language import (
    RecordedSystem,
    all_of,
    always_eventually,
    any_of,
    require,
)
from specs.native import graph
from specs.verdict import Verdict
from tests.language.small import EPOCHS, system
from tests.specs.following import settles_in_its_last_state_only
from tests.specs.in_the_end import answered

# -- twins ------------------------------------------------------------------------------------


MOST = 3
"""The greatest node of a random graph."""

Edges = set[tuple[int, int]]


def walking(
    edges: dict[str, Edges], goal: Collection[int], fair: tuple[str, ...]
) -> RecordedSystem:
    """A system that walks on a graph; a step a set of edges, an instance a node that it goes to."""

    def step(name: str) -> Any:
        def walk(now, new, epoch):
            """Goes to a node."""
            ways = (all_of(now.epoch == a, epoch == b) for a, b in sorted(edges[name]))
            require(any_of(*ways), "there is such an edge")

            new.epoch = epoch

        walk.__name__ = name
        return walk

    @always_eventually("a goal is reached", fair=fair)
    def it_arrives(now):
        return any_of(*(now.epoch == node for node in goal))

    return system(*map(step, edges), claims=(it_arrives,), epoch=EPOCHS)


def must_arrive(edges: dict[str, Edges], goal: Collection[int], fair: tuple[str, ...]) -> bool:
    """By brute force: no set of reachable nodes is a fair loop without a goal."""
    whole = networkx.DiGraph(itertools.chain(*edges.values()))
    whole.add_node(0)
    reachable = sorted((networkx.descendants(whole, 0) | {0}) - set(goal))
    return not any(
        is_fair_loop(set(nodes), edges, fair)
        for size in range(1, len(reachable) + 1)
        for nodes in itertools.combinations(reachable, size)
    )


def is_fair_loop(nodes: set[int], edges: dict[str, Edges], fair: tuple[str, ...]) -> bool:
    inside = {name: {e for e in some if set(e) <= nodes} for name, some in edges.items()}
    walk = networkx.DiGraph(itertools.chain(*inside.values()))
    walk.add_nodes_from(nodes)
    if not networkx.is_strongly_connected(walk):
        return False
    for name, to in itertools.product(fair, range(MOST + 1)):
        taken = any(end == to for _, end in inside[name])
        possible_everywhere = all((node, to) in edges[name] for node in nodes)
        if possible_everywhere and not taken:
            return False
    return True


@pytest.mark.parametrize("seed", range(30))
def test_on_random_graphs_both_engines_answer_as_brute_force_does(seed):
    chance = random.Random(seed)
    pairs = [(one, other) for one in range(MOST + 1) for other in range(MOST + 1)]
    edges = {name: set(chance.sample(pairs, chance.randint(1, 6))) for name in ("one", "other")}
    goal = chance.sample(range(MOST + 1), chance.randint(1, 2))
    fair = chance.choice([("one",), ("one", "other")])
    recorded = walking(edges, goal, fair)

    native, found = answered(recorded, "native", epoch=MOST)
    plain, _ = answered(recorded, "python", epoch=MOST)

    assert native == plain
    if native.why is None:
        assert (native.verdict is Verdict.HOLDS) == must_arrive(edges, goal, fair)
    else:
        assert native.why.startswith("vacuous")
    run = found.run("it_arrives")
    assert run is None or settles_in_its_last_state_only(found, run)


@pytest.mark.parametrize("seed", range(20))
def test_components_are_those_of_networkx(seed):
    chance = random.Random(seed)
    size = chance.randint(1, 60)
    steps = sorted(
        {(chance.randrange(size), chance.randrange(size)) for _ in range(chance.randint(0, 120))}
    )
    true = np.array([chance.random() < 0.1 for _ in range(size)])
    kept = [(a, b) for a, b in steps if not true[a] and not true[b]]
    starts = np.searchsorted([a for a, _ in kept], range(size + 1)).astype(np.int64)
    component = np.empty(size, np.int32)

    count = graph.components(true, starts, np.array([b for _, b in kept], np.int32), component)

    theirs = networkx.DiGraph(kept)
    theirs.add_nodes_from(n for n in range(size) if not true[n])
    ours = [set(np.flatnonzero(component == number).tolist()) for number in range(count)]
    assert sorted(map(sorted, ours)) == sorted(
        map(sorted, networkx.strongly_connected_components(theirs))
    )
    assert set(np.flatnonzero(component == graph.NOWHERE)) == set(np.flatnonzero(true))


def test_a_path_as_long_as_there_are_states_needs_no_recursion():
    size = 200_000
    starts = np.append(np.arange(size, dtype=np.int64), size - 1)
    targets, component = np.arange(1, size, dtype=np.int32), np.empty(size, np.int32)

    count = graph.components(np.zeros(size, np.bool_), starts, targets, component)

    assert count == size
