"""Trials: a mutant in a forked child, before conformance alone; and the score of many."""

from __future__ import annotations

import math
import multiprocessing
import resource
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from conformance.lockstep import BOUNDS, Lockstep, Mismatch
from conformance.mutants.judges import (
    OF_ONE_PARTITION,
    SEEDS,
    STEPS,
    Judgement,
    Reach,
    in_order,
    judge,
)
from conformance.mutants.mutate import Mutant
from conformance.mutants.planted import PLANTED, Planted
from conformance.mutants.survivors import survivors
from conformance.tours import route, tour, tours
from conformance.walks import walk

NOT_RUN = "no walk runs its line"

LONGEST_S = 60
"""Seconds of processor time. A mutant that takes longer hangs, which nobody overlooks."""

MOST_MEMORY = 1 << 30
"""Bytes that a mutant may take beside what there is: one that only ever appends is ended."""


@dataclass(frozen=True)
class Trial:
    """What became of one mutant; `by` is empty for one that survived.

    `key` is what it is known by in the table of survivors and in a file to resume from. `why` is
    the first difference; of a survivor, why nobody could notice, where that is so.
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


def first_mismatch() -> tuple[Mismatch, dict[str, int]] | None:
    """The first mismatch of the implementation in this process, with the bounds it was found in."""
    for name in tours():
        try:
            tour(name)
        except Mismatch as mismatch:
            return mismatch, {**BOUNDS, "brokers": route(name)[0]}
    for seed in SEEDS:
        try:
            walk(seed, STEPS, enabledness_every=20)
        except Mismatch as mismatch:
            return mismatch, dict(BOUNDS)
    return None


def _child(apply: Callable[[], None], names: Sequence[str], answer: Connection) -> None:
    used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    seconds = int(used) + LONGEST_S
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    _limit_memory()
    apply()
    answer.send(("", ""))
    answer.send(judge(names))


def _limit_memory() -> None:
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            pages = int(file.read().split()[0])
    except OSError:
        return  # no such file system: a hungry mutant is ended by its time alone
    most = pages * resource.getpagesize() + MOST_MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _try(key: str, label: str, apply: Callable[[], None], names: Sequence[str]) -> Trial:
    began = time.monotonic()
    by, why = _judged(apply, names)
    return Trial(key, label, by, why, round(time.monotonic() - began, 2))


def _judged(apply: Callable[[], None], names: Sequence[str]) -> Judgement:
    fork = multiprocessing.get_context("fork")
    here, there = fork.Pipe(duplex=False)
    child = fork.Process(target=_child, args=(apply, names, there))
    child.start()
    there.close()
    try:
        here.recv()  # it is planted
    except EOFError:
        child.join()
        raise RuntimeError("a mutant could not be planted; its process says why") from None
    try:
        found: Judgement = here.recv()
    except EOFError:
        child.join()
        late = child.exitcode is not None and child.exitcode < 0
        found = ("hang", f"no end after {LONGEST_S} s") if late else ("crash", "the process ended")
    finally:
        here.close()
        child.kill()
        child.join()
    return found


def _compiled_before_forking() -> None:
    for brokers in {route(name)[0] for name in tours()}:
        Lockstep({**BOUNDS, "brokers": brokers})
    Lockstep(BOUNDS)


def try_sample(mutants: Iterable[Mutant], reached: Reach) -> Iterator[Trial]:
    """Each mutant in a process of its own, before the judges that run its line.

    A survivor that has a reason is not put before the rest of them.
    """
    explained = survivors()
    for mutant in mutants:
        first, rest = in_order(mutant, reached)
        if not first:
            yield Trial(mutant.key, mutant.label, "", NOT_RUN, 0.0)
            continue
        names = first if mutant.key in explained else [*first, *rest]
        yield _try(mutant.key, mutant.label, mutant.apply, names)


def try_planted(planted: Iterable[Planted] = PLANTED) -> Iterator[Trial]:
    """Each old bug before the judges of one partition, in its own process."""
    _compiled_before_forking()
    for one in planted:
        yield _try(one.id, one.label, one.apply, OF_ONE_PARTITION)
