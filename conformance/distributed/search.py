"""Drives a distributed search: one Spark job per level, and its results.

Counts, levels, coverage and verdicts equal those of the native engine. Runs are not kept: for a
broken claim, an exact search in this process finds the path again, and ends at the claim's level.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from conformance.distributed import on_spark, task
from conformance.distributed.segments import Segments
from conformance.distributed.task import ExplorationTask, OpenClaims
from conformance.pipeline.session import spark_schema
from model.language import ProtocolError
from model.language.properties import DEADLOCK
from specs.exploration import EngineRun, Exploration, Report, SearchTally, settling_truths
from specs.lasso import LassoResult
from specs.native.backwards import judge_all
from specs.native.search import NativeSearch, SearchOptions
from specs.verdict import Verdict

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def distributed_search(
    question: ExplorationTask,
    segments: Segments,
    session: SparkSession,
    max_states: int | None = None,
    report: Report = lambda line: None,
) -> Exploration:
    """Explores on Spark; the segments' folder must be new, and visible to every executor.

    Raises ImpossibleValue where a step would leave a field's domain, ProtocolError for what the
    native engine refuses too.
    """
    started = time.perf_counter()
    question.kernel()
    search = _DistributedSearch(question, segments, session, max_states, report)
    began = time.perf_counter()
    search.run()
    return search.result(time.perf_counter() - began, began - started)


@dataclass
class _DistributedSearch:
    question: ExplorationTask
    segments: Segments
    session: SparkSession
    max_states: int | None
    report: Report
    levels: list[int] = field(default_factory=list)
    settled: dict[str, int] = field(default_factory=dict)
    generated: int = 1
    stopped: str | None = None
    seconds: list[float] = field(default_factory=list)
    """What each level took."""

    def __post_init__(self) -> None:
        self.kernel = kernel = self.question.kernel()
        grounded = kernel.grounded
        self.about_steps = {name for name in grounded.claims if grounded.is_about_steps(name)}
        self.open = set(settling_truths(grounded)) | self.about_steps
        self.fired, self.refused, self.pruned = kernel.tallies()

    @property
    def _asked(self) -> OpenClaims:
        bits = self.kernel.bits
        return OpenClaims(
            int(bits(self.open - self.about_steps)), int(bits(self.open & self.about_steps))
        )

    def run(self) -> None:
        self._start()
        while self.levels[-1] and self.stopped is None:
            began = time.perf_counter()
            self._next_level()
            self.seconds.append(time.perf_counter() - began)

    def _start(self) -> None:
        kernel = self.kernel
        state = task.first_state(kernel)
        shard = task.owner(kernel, state, self.question.shards)
        self.segments.commit(0, [(shard, self.segments.attempt(shard, state))])
        marks, room = np.zeros(1, np.uint64), np.zeros(16 * kernel.words, np.uint64)
        room[: kernel.words] = state
        judge_all(
            kernel.words, kernel.addresses, room, 0, 1, marks,
            np.uint64(self._asked.states), kernel.wanted,
        )  # fmt: skip
        self.levels.append(1)
        self._settle_claims(int(marks[0]), 1)

    def _settle_claims(self, bits: int, depth: int) -> None:
        for bit, name in enumerate(self.kernel.code.claims):
            if bits >> bit & 1 and name in self.open:
                self.settled[name] = depth
                self.open.discard(name)

    def _next_level(self) -> None:
        level, asked = len(self.levels) - 1, self._asked
        shards = self.session.createDataFrame(
            [(shard,) for shard in range(self.question.shards)],
            spark_schema(on_spark.FRONTIER),
        ).repartition(self.question.shards)
        rows = (
            shards.transform(on_spark.expand(self.question, self.segments, level, asked))
            .transform(on_spark.merge(self.question, self.segments, asked))
            .collect()
        )
        new = sum(row["states"] for row in rows)
        if sum(self.levels) + new > (self.max_states or sum(self.levels) + new):
            self.segments.commit(level + 1, [])
            self.stopped = f"the bound of {self.max_states} states is reached"
            return
        names = [(row["shard"], row["file"]) for row in rows if row["file"]]
        self.segments.commit(level + 1, names)
        self._count(rows)
        self.levels.append(new)
        bits = 0
        for row in rows:
            bits |= int(row["settled"])
        self._settle_claims(bits | self._steps_settled, level + 2)
        self.report(
            f"{sum(self.levels):,} states, level {len(self.levels)}, {new:,} new, "
            f"{self.seconds[-1] if self.seconds else 0:.1f} s the level before"
        )

    def _count(self, rows: list[Any]) -> None:
        (row,) = (row for row in rows if row["shard"] == task.STATS)
        stats = task.stats_of(row["stats"])
        self.generated += stats.generated
        self._steps_settled = stats.settled
        self.fired += np.array(stats.fired)
        self.refused |= np.array(stats.refused, np.uint8)
        self.refused[self.kernel.code.always_refused] = 1
        self.pruned += np.array(stats.pruned)
        if self.pruned[-1]:
            self.settled.setdefault(DEADLOCK, len(self.levels))

    def result(self, seconds: float, setup: float) -> Exploration:
        kernel = self.kernel
        tally = SearchTally(
            levels=[size for size in self.levels if size],
            generated=self.generated,
            fired=self.fired.tolist(),
            refused=self.refused.tolist(),
            pruned={name: int(count) for name, count in
                    zip(kernel.code.bounds, self.pruned, strict=False) if count},
            dead_ends=int(self.pruned[-1]),
            settled=dict(self.settled),
            stopped=self.stopped,
        )  # fmt: skip
        engine = EngineRun(
            "spark", seconds, setup, kernel.symmetry, self.question.shards,
            8.0 * kernel.words, kernel.words,
        )  # fmt: skip
        return Exploration(kernel.grounded, tally, engine, self._path, _ending, _counts)

    def _path(self, claim: str) -> list[int]:
        options = SearchOptions(stop_at=claim, symmetry=self.kernel.symmetry)
        exact = NativeSearch(self.kernel, options, self.report)
        exact.run()
        return exact.result(0.0, 0.0).path(claim)


def _ending(_claim: str) -> LassoResult:
    return LassoResult(
        Verdict.NOT_CHECKED,
        "loops are looked for where all states are in one memory: --engine native",
    )


def _counts() -> NoReturn:
    raise ProtocolError("values are counted where all states are in one memory: --engine native")
