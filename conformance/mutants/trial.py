"""Trials: a mutant in a forked child, before conformance alone; and the score of many."""

from __future__ import annotations

import math
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from types import CodeType, FrameType
from typing import Any

from conformance.edges import EdgeReport, walk_edges
from conformance.lockstep import BOUNDS, Lockstep, Mismatch
from conformance.mapping import map_of
from conformance.mapping.rows import Family
from conformance.mutants.mutate import MODULES, Mutant, function_named, mutants_of
from conformance.mutants.planted import PLANTED, Planted
from conformance.rules import RulesDiffer, compare_rules
from conformance.tours import tour, tours
from conformance.walks import walk, walk_cluster

SMALL = {
    "brokers": 2, "log": 1, "records": 1, "epoch": 2, "controllers": 1, "versions": 2,
    "crashes": 0, "expiries": 1, "losses": 0,
}  # fmt: skip
"""The graph whose first states every mutant is walked through."""

STATES = 400
"""How many of its states."""

STATES_OF_ELECTION = 1_000
"""How many states of `election`: they have an edge of each of its transitions."""

SEEDS = (224, 46, 50, 52, 13, *range(1, 8))
"""Walks; the first four reach the rarest transitions."""

STEPS = 220

CLUSTER_WALKS = ((0, "none"), (1, "everything"), (2, "sessions"), (3, "operators"), (4, "swarm"))
"""Seeds and profiles of faults of the walks beside `cluster`; seeds differ in their shape."""

CLUSTER_STEPS = 250

FAMILIES_OF_TOPICS = ("growing", "disk", "preferred", "shutdown", "returning", "lost reply",
                      "deposed", "conflict")  # fmt: skip
"""The parts of the graph of `topics` that are walked whole in a few seconds each."""

OF_ONE_PARTITION = ("rules", "tours", "edges of replication", "lock-step with replication")
"""What the old bugs are judged by."""

LONGEST_S = 180.0
"""A mutant that takes longer hangs, which nobody overlooks. All suites take under a minute."""


@dataclass(frozen=True)
class Trial:
    """What became of one mutant; `by` is empty for one that survived.

    `key` is what it is known by in the table of survivors and in a file to resume from.
    """

    key: str
    label: str
    by: str
    why: str
    seconds: float

    @property
    def caught(self) -> bool:
        """Did conformance notice?"""
        return bool(self.by)

    def as_json(self) -> dict[str, Any]:
        """An entry of `insync mutants --json`."""
        return {
            "mutant": self.label, "key": self.key, "caught": self.caught, "by": self.by,
            "why": self.why, "seconds": self.seconds,
        }  # fmt: skip


@dataclass(frozen=True)
class Score:
    """How many of how many were caught, and where the true share lies (95 %)."""

    caught: int
    tried: int
    low: float
    high: float


def interval(caught: int, tried: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's interval of a share; (0, 1) for nothing."""
    if not tried:
        return 0.0, 1.0
    share = caught / tried
    middle = share + z * z / (2 * tried)
    spread = z * math.sqrt(share * (1 - share) / tried + z * z / (4 * tried * tried))
    scale = 1 + z * z / tried
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def score(trials: Iterable[Trial]) -> Score:
    """The score of some trials."""
    told = [trial.caught for trial in trials]
    return Score(sum(told), len(told), *interval(sum(told), len(told)))


Suite = Callable[[], str]
"""Compares the implementation with the model; the first difference in a line, or nothing.

Raises Mismatch or RulesDiffer where that is how it tells.
"""


def _rules() -> str:
    compare_rules()
    return ""


def _tours() -> str:
    for name in tours():
        tour(name)
    return ""


def _edges(report: EdgeReport) -> str:
    return report.mismatches[0].splitlines()[0] if report.mismatches else ""


def _walks() -> str:
    for seed in SEEDS:
        walk(seed, STEPS, enabledness_every=20)
    return ""


def _family(system: str, family: Family | None, version: str | None = None) -> Suite:
    about = map_of(system)
    bounds = {**about.small, **(family.bounds if family else {})}
    return lambda: _edges(walk_edges(bounds, None, about=about, version=version, family=family))


def _first_edges(system: str, states: int) -> Suite:
    about = map_of(system)
    return lambda: _edges(walk_edges(about.small, states, about=about))


def _cluster_walk(seed: int, faults: str) -> Suite:
    def walks() -> str:
        walk_cluster(seed, CLUSTER_STEPS, faults=faults)
        return ""

    return walks


def _suites() -> dict[str, Suite]:
    topics = map_of("topics")
    return {
        "rules": _rules,
        "tours": _tours,
        "edges of replication": lambda: _edges(walk_edges(SMALL, max_states=STATES)),
        "lock-step with replication": _walks,
        "edges of election": _first_edges("election", STATES_OF_ELECTION),
        "edges of reassignment, 2.3": _family("reassignment", None, "2.3"),
        "edges of reassignment, 2.4": _family("reassignment", None, "2.4"),
        "edges of topics": _family("topics", None),
        **{f"edges of topics, {name}": _family("topics", topics.families[name])
           for name in FAMILIES_OF_TOPICS},
        **{f"lock-step with cluster, {faults}, seed {seed}": _cluster_walk(seed, faults)
           for seed, faults in CLUSTER_WALKS},
    }  # fmt: skip


SUITES: dict[str, Suite] = _suites()
"""What judges, by name; a mutant is judged by those that run its function, in this order."""

Judgement = tuple[str, str]
"""By whom, and why; two empty texts where nothing was noticed."""


def judge(names: Iterable[str] | None = None) -> Judgement:
    """What conformance says of the implementation in this process, by some suites or by all."""
    for by in SUITES if names is None else names:
        try:
            why = SUITES[by]()
        except (Mismatch, RulesDiffer) as mismatch:
            return by, str(mismatch).splitlines()[0]
        except Exception as error:  # a mutant may do anything
            return by, f"{type(error).__name__}: {error}"
        if why:
            return by, why
    return "", ""


def first_mismatch() -> tuple[Mismatch, dict[str, int]] | None:
    """The first mismatch of the implementation in this process, with the bounds it was found in."""
    for name, (brokers, _) in tours().items():
        try:
            tour(name)
        except Mismatch as mismatch:
            return mismatch, {**BOUNDS, "brokers": brokers}
    for seed in SEEDS:
        try:
            walk(seed, STEPS, enabledness_every=20)
        except Mismatch as mismatch:
            return mismatch, dict(BOUNDS)
    return None


def _child(apply: Callable[[], None], names: Iterable[str] | None, answer: Connection) -> None:
    apply()
    answer.send(judge(names))


def _try(
    key: str, label: str, apply: Callable[[], None], names: Iterable[str] | None = None
) -> Trial:
    began = time.monotonic()
    fork = multiprocessing.get_context("fork")
    here, there = fork.Pipe(duplex=False)
    child = fork.Process(target=_child, args=(apply, names, there))
    child.start()
    there.close()
    by, why = "hang", f"no end after {LONGEST_S:.0f} s"
    if here.poll(LONGEST_S):
        try:
            by, why = here.recv()
        except EOFError:
            by, why = "crash", "the process ended"
    child.kill()
    child.join()
    return Trial(key, label, by, why, round(time.monotonic() - began, 2))


def _compiled_before_forking() -> None:
    for brokers in {brokers for brokers, _ in tours().values()}:
        Lockstep({**BOUNDS, "brokers": brokers})
    Lockstep(SMALL)
    Lockstep(BOUNDS)


Reached = dict[tuple[str, str], tuple[str, ...]]
"""(module, function) -> the suites that run it."""


def baseline() -> tuple[Judgement, Reached]:
    """What is said of the implementation as it is, and which suites run which function.

    What is compiled for the model's side meanwhile is there for the children that are forked later.
    """
    names = {
        function_named(mutant.module, mutant.function).__code__: (mutant.module, mutant.function)
        for module in MODULES
        for mutant in mutants_of(module)
    }
    reached: dict[tuple[str, str], list[str]] = {}
    for suite in SUITES:
        said, seen = _judged(suite)
        if said[0]:
            return said, {}
        for code in seen:
            if code in names:
                reached.setdefault(names[code], []).append(suite)
    return ("", ""), {function: tuple(suites) for function, suites in reached.items()}


def _judged(suite: str) -> tuple[Judgement, set[CodeType]]:
    """What a suite says, and the code that it ran."""
    seen: set[CodeType] = set()

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            seen.add(frame.f_code)

    sys.setprofile(note)
    try:
        return judge([suite]), seen
    finally:
        sys.setprofile(None)


def try_sample(mutants: Iterable[Mutant], reached: Reached | None = None) -> Iterator[Trial]:
    """Each mutant in a process of its own, before the suites that run its function.

    Without ``reached`` all suites judge.
    """
    _compiled_before_forking()
    for mutant in mutants:
        names = None if reached is None else reached[mutant.module, mutant.function]
        yield _try(mutant.key, mutant.label, mutant.apply, names)


def try_planted(planted: Iterable[Planted] = PLANTED) -> Iterator[Trial]:
    """Each old bug before the judge, in its own process."""
    _compiled_before_forking()
    for one in planted:
        yield _try(one.id, one.label, one.apply, OF_ONE_PARTITION)
