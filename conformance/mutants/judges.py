"""What judges a mutant: short walks beside the model, each by name, and what each of them runs.

A judge compares the implementation with the model for a part of a second. Which lines each of them
runs is measured once (`reach`); a mutant is put before those that run its line, and no others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest

from conformance.edges import EdgeReport, walk_edges
from conformance.line_notes import LineNotes
from conformance.lockstep import Mismatch
from conformance.mapping import MAPPED, map_of
from conformance.mutants.mutate import MODULES, Mutant
from conformance.rules import RulesDiffer, compare_rules
from conformance.tours import tour, tours
from conformance.walks import walk, walk_cluster

STATES = 150
"""How many states of a graph are walked; those of a part of a graph may be fewer."""

MORE_STATES: Mapping[str, int] = {"election": 600, "cluster": 400, "replication": 400}
"""Where the rarest transitions come later."""

SEEDS = (224, 46, 50, 52, 13, *range(1, 8))
"""Walks; the first four reach the rarest transitions."""

STEPS = 220

CLUSTER_WALKS = (
    (0, "none"), (1, "everything"), (2, "sessions"), (3, "operators"), (4, "swarm"), (5, "crashes"),
    (6, "everything"), (7, "operators"), (9, "everything"),
)  # fmt: skip
"""Seeds and profiles of faults of the walks beside `cluster`; seeds differ in their shape."""

CLUSTER_STEPS = 250

AT_FIRST = 5
"""So many judges of each kind a mutant is put before, until one notices; a survivor before all."""

Judgement = tuple[str, str]
"""By whom, and why; two empty texts where nothing was noticed."""


@dataclass(frozen=True)
class Judge:
    """`compare` gives the first difference in a line, or nothing; or it raises one."""

    name: str
    kind: str
    compare: Callable[[], str]

    def judge(self) -> Judgement:
        """What it says of the implementation in this process."""
        try:
            why = self.compare()
        except Mismatch as mismatch:
            return self.name, f"step {len(mismatch.steps)}: {str(mismatch).splitlines()[0]}"
        except RulesDiffer as difference:
            return self.name, str(difference).splitlines()[0]
        except Exception as error:  # a mutant may do anything
            return self.name, f"{type(error).__name__}: {error}"
        return (self.name, why) if why else ("", "")


def _rules() -> str:
    compare_rules()
    return ""


def _tour(name: str) -> str:
    tour(name)
    return ""


def _walk(seed: int) -> str:
    walk(seed, STEPS, enabledness_every=20)
    return ""


def _walk_cluster(seed: int, faults: str) -> str:
    walk_cluster(seed, CLUSTER_STEPS, faults=faults)
    return ""


def _edges(system: str, family: str) -> str:
    about = map_of(system)
    part = about.families[family] if family else None
    bounds = {**about.small, **(part.bounds if part else {})}
    states, release = MORE_STATES.get(system, STATES), part.version if part else None
    report = walk_edges(bounds, states, about=about, version=release, family=part)
    return _first(report)


def _first(report: EdgeReport) -> str:
    if not report.mismatches:
        return ""
    return f"state {report.states}: {report.mismatches[0].splitlines()[0]}"


def _all() -> Iterator[Judge]:
    yield Judge("rules", "rules", _rules)
    for name in tours():
        yield Judge(f"story {name}", "story", partial(_tour, name))
    for seed in SEEDS:
        yield Judge(f"replication, seed {seed}", "replication", partial(_walk, seed))
    for seed, faults in CLUSTER_WALKS:
        name = f"cluster, {faults}, seed {seed}"
        yield Judge(name, "cluster", partial(_walk_cluster, seed, faults))
    for system in MAPPED:
        for family in ("", *map_of(system).families):
            name = f"edges of {system}" + (f", {family}" if family else "")
            yield Judge(name, f"edges of {system}", partial(_edges, system, family))


JUDGES: dict[str, Judge] = {one.name: one for one in _all()}

OF_ONE_PARTITION = tuple(
    one.name for one in JUDGES.values()
    if one.kind in ("rules", "story", "replication", "edges of replication")
)  # fmt: skip
"""What the old bugs are judged by."""


def judge(names: Iterable[str] = tuple(JUDGES)) -> Judgement:
    """What conformance says of the implementation in this process: the first that notices."""
    for name in names:
        said = JUDGES[name].judge()
        if said[0]:
            return said
    return "", ""


Reach = Mapping[tuple[str, int], tuple[str, ...]]
"""(module, line) -> the judges that run it, in the order of `JUDGES`."""


def reach(progress: Callable[[str], None] = lambda _: None) -> tuple[Judgement, Reach]:
    """What is said of the implementation as it is, and which judges run which line.

    What is compiled for the model's side meanwhile is there for the children that are forked later.
    """
    found: dict[tuple[str, int], list[str]] = {}
    with LineNotes(MODULES) as notes:
        for number, one in enumerate(JUDGES.values(), 1):
            progress(f"{number} of {len(JUDGES)} judges look at what is there: {one.name}")
            said = one.judge()
            if said[0]:
                return said, {}
            for module, lines in notes.take().items():
                for line in lines:
                    found.setdefault((module, line), []).append(one.name)
    return ("", ""), {place: tuple(names) for place, names in found.items()}


def in_order(mutant: Mutant, reached: Reach) -> tuple[list[str], list[str]]:
    """The judges that run a mutant's line: those that look first, and the rest.

    Of each kind some are drawn, by the mutant's name: mutants of one line meet different walks.
    Kinds take turns.
    """
    kinds: dict[str, list[str]] = {}
    for name in reached.get((mutant.module, mutant.line), ()):
        kinds.setdefault(JUDGES[name].kind, []).append(name)
    for names in kinds.values():
        names.sort(key=lambda name: hashlib.sha256(f"{mutant.key} {name}".encode()).digest())
    turns = [one for turn in zip_longest(*kinds.values()) for one in turn if one is not None]
    first = {name for names in kinds.values() for name in names[:AT_FIRST]}
    return [one for one in turns if one in first], [one for one in turns if one not in first]
