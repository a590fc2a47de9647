"""What judges a mutant: short walks beside the model, each by name, and what each of them runs.

A judge compares the implementation with the model for a part of a second. Which lines each of them
runs is measured once (`reach`); a mutant is put before those that run its line, and no others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from itertools import zip_longest
from pathlib import Path

from conformance.edges import EdgeReport, walk_edges
from conformance.line_notes import LineNotes
from conformance.lockstep import Mismatch
from conformance.mapping import MAPPED, map_of
from conformance.mapping.topics_families import FAMILIES
from conformance.mutants.mutate import MODULES, Mutant
from conformance.rules import RulesDiffer, compare_rules
from conformance.running.simulated import judged_run
from conformance.tours import tour, tours
from conformance.vectors.cases import Case, read_cases
from conformance.vectors.judge import Outcome, answers_of
from conformance.vectors.judge import judge as judge_cases
from conformance.walks import walk, walk_cluster
from specs.verdict import Verdict

STATES = 150
"""How many states of a graph are walked; those of a part of a graph may be fewer."""

MORE_STATES: Mapping[str, int] = {"election": 600, "cluster": 400, "replication": 400}
"""Where the rarest transitions come later."""

SEEDS = (224, 46, 50, 52, 13, *range(1, 8))
"""Walks; the first four reach the rarest transitions."""

STEPS = 220

CLUSTER_WALKS = (
    (0, "none", "2.3"), (1, "everything", "2.3"), (2, "sessions", "2.3"), (3, "operators", "2.3"),
    (4, "swarm", "2.3"), (5, "crashes", "2.3"), (6, "everything", "2.3"), (7, "operators", "2.3"),
    (3, "everything", "2.4"),
)  # fmt: skip
"""Walks beside `cluster`: seeds, which differ in their shape, profiles of faults, releases."""

OTHER_RELEASES: Mapping[str, tuple[str, ...]] = {
    "election": ("2.1", "2.7"), "reassignment": ("2.4", "2.7"), "topics": ("2.1", "2.7"),
}  # fmt: skip
"""Releases in which parts of a graph are walked that have no release of their own."""

CLUSTER_STEPS = 250

TRACED_RUNS = (
    (0, "failures", "2.3"), (1, "failures", "2.3"), (2, "failures", "2.3"), (3, "crashes", "2.3"),
    (4, "sessions", "2.3"), (5, "lossy", "2.3"), (6, "failures", "2.4"), (7, "failures", "2.6"),
    (8, "failures", "2.3"), (0, "failures", "0.11"),
)  # fmt: skip
"""Runs of whole brokers with their logs on disks, whose traces the model judges."""

TRACED_STEPS = 500

CASES = Path(__file__).parents[2] / "tests" / "data" / "vectors"
"""Cases that both sides answer; without the folder there is no such judge."""

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


def _walk_cluster(seed: int, faults: str, release: str) -> str:
    walk_cluster(seed, CLUSTER_STEPS, faults=faults, version=release)
    return ""


def _traced(seed: int, faults: str, release: str) -> str:
    report = judged_run(seed, TRACED_STEPS, faults, release)
    if report.verdict is Verdict.HOLDS:
        return ""
    first = report.findings[0]
    return f"line {first.line}: {first.why}"


@cache
def _answered_by_the_model() -> tuple[tuple[str, list[Case]], ...]:
    """File -> its cases that the model answers as they say."""
    found = []
    for path in sorted(CASES.glob("*.json")):
        row = judge_cases(path.name, read_cases(path), "model", answers_of("model"))
        found.append((path.name, [one.case for one in row.judged if one.outcome is Outcome.PASSED]))
    return tuple(found)


def _cases() -> str:
    for name, cases in _answered_by_the_model():
        for one in judge_cases(name, cases, "impl", answers_of("impl")).judged:
            if one.outcome is Outcome.FAILED:
                return f"{name}: {one.case.operation}: {one.got}, and the model as the case says"
    return ""


def _edges(system: str, family: str, other: str | None = None) -> str:
    about = map_of(system)
    part = about.families[family] if family else None
    bounds = {**about.small, **(part.bounds if part else {})}
    states, release = MORE_STATES.get(system, STATES), other or (part.version if part else None)
    report = walk_edges(bounds, states, about=about, version=release, family=part)
    return _first(report)


def _first(report: EdgeReport) -> str:
    if not report.mismatches:
        return ""
    return f"state {report.states}: {report.mismatches[0].splitlines()[0]}"


def _small_of(system: str) -> tuple[str, ...]:
    """The parts of a graph that are of any release, and small."""
    return tuple(FAMILIES) if system == "topics" else ()


def _all() -> Iterator[Judge]:
    yield Judge("rules", "rules", _rules)
    for name in tours():
        yield Judge(f"story {name}", "story", partial(_tour, name))
    for seed in SEEDS:
        yield Judge(f"replication, seed {seed}", "replication", partial(_walk, seed))
    for seed, faults, release in TRACED_RUNS:
        name = f"brokers of {release}, {faults}, seed {seed}"
        yield Judge(name, "brokers", partial(_traced, seed, faults, release))
    if CASES.is_dir():
        yield Judge("cases", "cases", _cases)
    for seed, faults, release in CLUSTER_WALKS:
        name = f"cluster {release}, {faults}, seed {seed}"
        yield Judge(name, "cluster", partial(_walk_cluster, seed, faults, release))
    for system in MAPPED:
        for family in ("", *map_of(system).families):
            name = f"edges of {system}" + (f", {family}" if family else "")
            yield Judge(name, f"edges of {system}", partial(_edges, system, family))
        for release in OTHER_RELEASES.get(system, ()):
            for family in ("", *_small_of(system)):
                name = f"edges of {system} {release}" + (f", {family}" if family else "")
                judged = partial(_edges, system, family, release)
                yield Judge(name, f"edges of {system} {release}", judged)


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
    if "cases" in JUDGES:
        _answered_by_the_model()  # before lines are noted
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
