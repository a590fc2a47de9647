"""Trials: a mutant in a forked child, judged by conformance; and the score of many trials."""

from __future__ import annotations

import gc
import json
import math
import multiprocessing
import resource
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import ClassVar

from conformance.lockstep import BOUNDS, Lockstep, Mismatch
from conformance.mutants.judges import (
    JUDGES,
    OF_ONE_PARTITION,
    OF_RULES,
    SEEDS,
    STEPS,
    CaughtByModule,
    DifferingJudges,
    in_order,
)
from conformance.mutants.mutate import Mutant
from conformance.mutants.planted import PLANTED
from conformance.story_lockstep import route, tour, tours
from conformance.walks import walk
from specs.rendering import parts, under_key

SURVIVORS = Path(__file__).with_name("survivors.json")
"""Reasons why mutants survive: kept in step with the implementation's text."""

NOT_RUN = "no walk runs its line to another effect"

LONGEST_S = 20
"""Seconds of processor time that a judge may take. A mutant with which one takes longer, which is
some ten times what any of them needs, hangs: nobody overlooks that."""

MOST_MEMORY = 1 << 30
"""Bytes that a mutant may take beside what there is: one that only ever appends is ended."""


@dataclass(frozen=True)
class MutantTrial:
    """The result for one mutant; `by` is empty for one that survived.

    `key` identifies it in the table of survivors and in a file to resume from. `why` is the first
    difference; for a survivor, the reason why no judge can detect it, if known.
    """

    ALSO: ClassVar = parts("caught")

    key: str
    label: str = field(metadata=under_key("mutant"))
    by: str
    why: str
    seconds: float

    @property
    def caught(self) -> bool:
        """Whether conformance caught it."""
        return bool(self.by)


@dataclass(frozen=True)
class MutationScore:
    """How many of how many mutants were caught, and the interval of the true share (95 %)."""

    caught: int
    tried: int
    low: float
    high: float


@cache
def survivors() -> dict[str, str]:
    """Key of a mutant -> why it changes nothing that can be observed."""
    found: dict[str, str] = {}
    for entry in json.loads(SURVIVORS.read_text(encoding="utf-8")):
        for key in entry["mutants"]:
            found[key] = entry["because"]
    return found


def interval(caught: int, tried: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's interval of a share; (0, 1) without trials."""
    if not tried:
        return 0.0, 1.0
    share = caught / tried
    middle = share + z * z / (2 * tried)
    spread = z * math.sqrt(share * (1 - share) / tried + z * z / (4 * tried * tried))
    scale = 1 + z * z / tried
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def by_rule(trials: Iterable[MutantTrial]) -> int:
    """How many of them only plain rules caught."""
    return sum(one.by in JUDGES and JUDGES[one.by].kind in OF_RULES for one in trials)


def by_logs(trials: Iterable[MutantTrial]) -> int:
    """How many of them were caught by logs, or by claims of the simulator, after some of the
    model's walks of each kind."""
    return sum(one.by in JUDGES and JUDGES[one.by].is_beside_the_model for one in trials)


def score(trials: Iterable[MutantTrial]) -> MutationScore:
    """The score of some trials."""
    verdicts = [trial.caught for trial in trials]
    return MutationScore(sum(verdicts), len(verdicts), *interval(sum(verdicts), len(verdicts)))


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
    _limit_memory()
    apply()
    answer.send(("", ""))
    for name in names:
        used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (int(used) + LONGEST_S, most))
        said = JUDGES[name].judge()
        if said[0]:
            answer.send(said)
            return
    answer.send(("", ""))


def _limit_memory() -> None:
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            pages = int(file.read().split()[0])
    except OSError:
        return  # no such file system: a hungry mutant is ended by its time alone
    most = pages * resource.getpagesize() + MOST_MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


@dataclass(frozen=True)
class _Task:
    """What a child is forked for."""

    key: str
    label: str
    apply: Callable[[], None]
    names: Sequence[str]
    module: str = ""


class _Child:
    """A mutant before its judges, in a process of its own."""

    def __init__(self, task: _Task) -> None:
        self.task, self.began = task, time.monotonic()
        self.here, there = _FORK.Pipe(duplex=False)
        self.process: ForkProcess = _FORK.Process(
            target=_child, args=(task.apply, task.names, there)
        )
        self.process.start()
        there.close()
        try:
            self.here.recv()  # it is planted
        except EOFError:
            self.process.join()
            raise RuntimeError("a mutant could not be planted; its process says why") from None

    def trial(self) -> MutantTrial:
        """Waits for the child, and returns its result."""
        try:
            by, why = self.here.recv()
        except EOFError:
            self.process.join()
            late = self.process.exitcode is not None and self.process.exitcode < 0
            by, why = (
                ("hang", f"no end after {LONGEST_S} s") if late else ("crash", "the process ended")
            )
        finally:
            self.end()
        took = round(time.monotonic() - self.began, 2)
        return MutantTrial(self.task.key, self.task.label, by, why, took)

    def end(self) -> None:
        """Ends the child."""
        self.here.close()
        self.process.kill()
        self.process.join()


_FORK = multiprocessing.get_context("fork")


def _tried(tasks: Iterator[_Task], at_once: int, catches: CaughtByModule) -> Iterator[MutantTrial]:
    """Trials in the order in which they end, so many at once."""
    under_way: dict[Connection, _Child] = {}
    gc.collect()
    gc.freeze()  # a child does not look through what it shares with its parent: that copies it
    try:
        while True:
            for task in islice(tasks, at_once - len(under_way)):
                child = _Child(task)
                under_way[child.here] = child
            if not under_way:
                return
            for ended in wait([*under_way]):
                assert isinstance(ended, Connection), "what is waited for is a child's end"
                child = under_way.pop(ended)
                trial = child.trial()
                catches.note(child.task.module, trial.by)
                yield trial
    finally:
        gc.unfreeze()
        for child in under_way.values():
            child.end()


def _compiled_before_forking() -> None:
    for brokers in {route(name)[0] for name in tours()}:
        Lockstep({**BOUNDS, "brokers": brokers})
    Lockstep(BOUNDS)


def try_sample(
    mutants: Iterable[Mutant], reached: DifferingJudges, at_once: int = 1
) -> Iterator[MutantTrial]:
    """Tries each mutant in a process of its own, with the judges in whose run it differs.

    Several run at once; results come in the order in which they end. The judge that catches most of
    a module in the least time runs first. The last judges do not try a survivor that has a reason.
    """
    explained, catches = survivors(), CaughtByModule()
    not_run: list[MutantTrial] = []

    def tasks() -> Iterator[_Task]:
        for mutant in mutants:
            first, rest = in_order(mutant, reached, catches)
            if not (first or rest):
                not_run.append(MutantTrial(mutant.key, mutant.label, "", NOT_RUN, 0.0))
                continue
            names = first if mutant.key in explained else [*first, *rest]
            yield _Task(mutant.key, mutant.label, mutant.apply, names, mutant.module)

    for trial in _tried(tasks(), at_once, catches):
        yield from not_run
        not_run.clear()
        yield trial
    yield from not_run


def try_planted(at_once: int = 1) -> Iterator[MutantTrial]:
    """Tries each historical bug with the judges of one partition, in its own process."""
    _compiled_before_forking()
    tasks = (_Task(one.id, one.label, one.apply, OF_ONE_PARTITION) for one in PLANTED)
    yield from _tried(tasks, at_once, CaughtByModule())
