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
from conformance.mutants.mutate import MODULES, Mutant, function_named, mutants_of
from conformance.mutants.planted import PLANTED, Planted
from conformance.rules import RulesDiffer, compare_rules
from conformance.tours import tour, tours
from conformance.walks import walk

SMALL = {
    "brokers": 2, "log": 1, "records": 1, "epoch": 2, "controllers": 1, "versions": 2,
    "crashes": 0, "expiries": 1, "losses": 0,
}  # fmt: skip
"""The graph whose first states every mutant is walked through."""

STATES = 400
"""How many of its states."""

SEEDS = (52, 7, 47, 62, 13, *range(1, 8))
"""Walks; the first four reach the rarest transitions."""

STEPS = 220
LONGEST_S = 60.0
"""A mutant that takes longer hangs, which nobody overlooks. The judge takes under 5 s."""


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


def judge() -> tuple[str, str]:
    """What conformance says of the implementation in this process: (by whom, why), or empty."""
    by = "rules"
    try:
        compare_rules()
        for name in tours():
            by = f"tour {name}"
            tour(name)
        by = "edges"
        report: EdgeReport = walk_edges(SMALL, max_states=STATES)
        if report.mismatches:
            return by, report.mismatches[0].splitlines()[0]
        for seed in SEEDS:
            by = f"lock-step, seed {seed}"
            walk(seed, STEPS, enabledness_every=20)
    except (Mismatch, RulesDiffer) as mismatch:
        return by, str(mismatch).splitlines()[0]
    except Exception as error:  # a mutant may do anything
        return by, f"{type(error).__name__}: {error}"
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


def _child(apply: Callable[[], None], answer: Connection) -> None:
    apply()
    answer.send(judge())


def _try(key: str, label: str, apply: Callable[[], None]) -> Trial:
    began = time.monotonic()
    fork = multiprocessing.get_context("fork")
    here, there = fork.Pipe(duplex=False)
    child = fork.Process(target=_child, args=(apply, there))
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


def baseline() -> tuple[tuple[str, str], set[tuple[str, str]]]:
    """What is said of the implementation as it is, and which functions were run meanwhile."""
    names = {
        function_named(mutant.module, mutant.function).__code__: (mutant.module, mutant.function)
        for module in MODULES
        for mutant in mutants_of(module)
    }
    seen: set[CodeType] = set()

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            seen.add(frame.f_code)

    sys.setprofile(note)
    try:
        said = judge()
    finally:
        sys.setprofile(None)
    return said, {names[code] for code in seen if code in names}


def try_sample(mutants: Iterable[Mutant]) -> Iterator[Trial]:
    """Each mutant before the judge, in its own process."""
    _compiled_before_forking()
    for mutant in mutants:
        yield _try(mutant.key, mutant.label, mutant.apply)


def try_planted(planted: Iterable[Planted] = PLANTED) -> Iterator[Trial]:
    """Each old bug before the judge, in its own process."""
    _compiled_before_forking()
    for one in planted:
        yield _try(one.id, one.label, one.apply)
