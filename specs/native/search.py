"""Breadth-first search in machine code over packed states, level by level, by one or more workers.

Counts, levels, verdicts and runs are those of the plain engine, for any number of workers. With
several, states are sharded by hash: each worker expands its own states and sorts the successors by
owner, then each owner inserts the successors sent to it. Workers share no data within a half round,
so that no locks are needed.
"""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from model.language.errors import ImpossibleValue
from model.language.properties import DEADLOCK
from specs.exploration import EngineRun, Exploration, Report, SearchTally, settling_truths
from specs.growth import Counts
from specs.lowering.grounding import Grounded
from specs.native import driver
from specs.native.backwards import judge_all
from specs.native.checkpoint import Checkpoint
from specs.native.kernel import Kernel, Tallies, kernel_of
from specs.native.loops import LoopSearch
from specs.native.shortest import ShortestRuns
from specs.native.store import SHARE, OutOfMemory, Spans, StateStore, Words, free_memory
from specs.native.table import count_values, insert_all

BATCH = 1 << 16
"""States that one worker expands before it reports and can be interrupted."""

WORTH_SHARING = 1_000_000
"""Below so many states one worker is faster than several."""

WORTH_COMPILING = 4_000_000
"""States after which code that was made at once has lost what making the best takes: at 1.3 million
states of `replication` it is still ahead."""

OUTBOX = 1 << 16
"""Successors that a worker can hold for each owner, at the least."""


@dataclass(frozen=True)
class SearchOptions:
    """The options of a search; `workers` None is one worker for each processor."""

    max_states: int | None = None
    stop_at: str | None = None
    symmetry: bool = False
    workers: int | None = None
    checkpoint: Path | None = None
    memory_bytes: int | None = None


@dataclass
class SearchWorker:
    """The counts and buffers of one worker; no other worker uses them."""

    tallies: Tallies
    counters: npt.NDArray[np.int64]
    out: Words
    hashes: Words
    outbox: Words
    sent: npt.NDArray[np.int64]


def worker_for(kernel: Kernel, workers: int = 1) -> SearchWorker:
    """A worker's empty arrays."""
    room = outbox_room(kernel) if workers > 1 else 0
    return SearchWorker(
        tallies=kernel.tallies(),
        counters=np.zeros(8, np.int64),
        out=kernel.planes(),
        hashes=np.zeros(kernel.code.row, np.uint64),
        outbox=np.zeros(workers * room * (kernel.words + 1), np.uint64),
        sent=np.zeros(workers, np.int64),
    )


def outbox_room(kernel: Kernel) -> int:
    """Successors that one worker can hold for each owner in a round: one block at least."""
    return max(OUTBOX, kernel.code.row)


def native_search(
    grounded: Grounded, options: SearchOptions, report: Report, started: float
) -> Exploration:
    """Explores with machine code; `started` is when the set-up began (perf_counter)."""
    kernel = kernel_of(grounded, options.symmetry)
    search = NativeSearch(kernel, options, report)
    set_up = time.perf_counter()
    search.run()
    return search.result(time.perf_counter() - set_up, set_up - started)


def _warm(kernel: Kernel, store: StateStore, worker: SearchWorker) -> None:
    """Loads the compiled loops on nothing at all, so that exploration is timed without them."""
    none, marks = np.uint64(0), np.zeros(1, np.uint64)
    driver.run(
        kernel.words, kernel.addresses, store.states, 0, 0, store.table, 0, worker.tallies,
        worker.out, worker.hashes, worker.counters, (none, none, none),
    )  # fmt: skip
    judge_all(kernel.words, kernel.addresses, store.states, 0, 0, marks, none, none)
    insert_all(kernel.words, store.states, 0, 0, store.table, 0, store.part)


@dataclass
class NativeSearch:
    """One breadth-first search; `levels` has the spans of every whole level."""

    kernel: Kernel
    options: SearchOptions
    report: Report
    generated: int = 1  # the initial state counts as generated, as TLC counts it
    dead_ends: int = 0
    stopped: str | None = None
    settled: dict[str, int] = field(default_factory=dict)
    levels: list[Spans] = field(default_factory=list)

    def __post_init__(self) -> None:
        kernel = self.kernel
        self.memory_bytes = self.options.memory_bytes or int(free_memory() * SHARE)
        self.store = StateStore(kernel.words, self.memory_bytes)
        self.workers = self.options.workers or os.cpu_count() or 1
        self.open = set(settling_truths(kernel.grounded))
        self._about_steps = {
            name for name in kernel.grounded.claims if kernel.grounded.is_about_steps(name)
        }
        self.open |= self._about_steps
        _warm(kernel, self.store, worker_for(kernel))
        self.fired, self.refused, self.pruned = kernel.tallies()
        self.checkpoint = (
            Checkpoint(self.options.checkpoint, kernel) if self.options.checkpoint else None
        )

    # -- the search -------------------------------------------------------------------------

    def run(self) -> None:
        """Explores level by level until no state is new or there is a reason to stop."""
        self.began = time.perf_counter()
        if self.checkpoint is None or not self.checkpoint.load_into(self):
            self._start()
        self.crew = [worker_for(self.kernel)]
        whole = self._completed_levels()
        try:
            while self.stopped is None and self._frontier():
                if self.options.stop_at in self.settled:
                    self.stopped = f"{self.options.stop_at} is settled"
                    break
                self._share_if_worth_it()
                self._compile_if_worth_it()
                whole = self._completed_levels()
                self._next_level()
                if self.checkpoint is not None and self.checkpoint.is_due():
                    self.checkpoint.save(self)
        except KeyboardInterrupt:
            self._return_to(whole)
            if self.checkpoint is not None:
                self.checkpoint.save(self)
            raise
        if self.checkpoint is not None:
            self.checkpoint.save(self)

    def _start(self) -> None:
        kernel, store = self.kernel, self.store
        initial = kernel.packed(kernel.grounded.initial)
        if kernel.canonical:
            driver.make_one_canonical(kernel.addresses, initial)
        store.states[: kernel.words] = initial
        store.ends[0] = 1
        store.refill()
        self.levels.append(np.array([[0, 1]], np.int64))
        marks = np.zeros(1, np.uint64)
        asked, _, wanted = self._asked()
        judge_all(kernel.words, kernel.addresses, store.states, 0, 1, marks, asked, wanted)
        self._settle_claims(int(marks[0]), 1)

    def _frontier(self) -> int:
        spans = self.levels[-1]
        return int((spans[:, 1] - spans[:, 0]).sum())

    def _asked(self) -> tuple[np.uint64, np.uint64, np.uint64]:
        """The open claims about states, those about steps, and the truths that settle them."""
        bits, about_steps = self.kernel.bits, self._about_steps
        return bits(self.open - about_steps), bits(self.open & about_steps), self.kernel.wanted

    def _settle_claims(self, bits: int, depth: int) -> None:
        for bit, name in enumerate(self.kernel.code.claims):
            if bits >> bit & 1 and name in self.open:
                self.settled[name] = depth
                self.open.discard(name)

    def _next_level(self) -> None:
        """One whole level, or none of it."""
        store, spans = self.store, self.levels[-1]
        begins = store.ends.copy()
        self.crew = [worker_for(self.kernel, store.shards) for _ in range(store.shards)]
        try:
            bits = self._expand_alone() if store.shards == 1 else self._expand_together(spans)
        except OutOfMemory as full:
            self.stopped = f"memory: {full}"
        if self.stopped is None and self._too_many():
            self.stopped = f"the bound of {self.options.max_states} states is reached"
        if self.stopped is not None:
            store.ends = begins
            return
        for one in self.crew:
            fired, refused, pruned = one.tallies
            self.fired += fired
            self.refused |= refused
            self.pruned += pruned
            self.generated += int(one.counters[driver.GENERATED])
            self.dead_ends += int(pruned[-1])
        if self.dead_ends:
            self.settled.setdefault(DEADLOCK, len(self.levels))
        self.refused[self.kernel.code.always_refused] = 1
        self.levels.append(np.stack([begins, store.ends], axis=1))
        self._settle_claims(bits, len(self.levels))

    def _completed_levels(self) -> dict[str, Any]:
        """What is known now. An interrupt may come between any two lines of what follows."""
        return {
            "store": self.store, "levels": list(self.levels), "settled": dict(self.settled),
            "generated": self.generated, "dead_ends": self.dead_ends, "stopped": self.stopped,
            "fired": self.fired.copy(), "refused": self.refused.copy(),
            "pruned": self.pruned.copy(),
        }  # fmt: skip

    def _return_to(self, whole: dict[str, Any]) -> None:
        """Forgets the level that was interrupted: counts, verdicts and states go together."""
        vars(self).update(whole)
        self.store.ends = self.levels[-1][:, 1].copy()

    def _too_many(self) -> bool:
        return self.store.count > (self.options.max_states or self.store.count)

    def _expand_alone(self) -> int:
        kernel, store, (worker,) = self.kernel, self.store, self.crew
        counters = worker.counters
        counters[driver.COUNT] = store.ends[0]
        index, end = (int(bound) for bound in self.levels[-1][0])
        waiting = False
        while (waiting or index < end) and not self._too_many():
            if waiting:
                store.grow()
            index = driver.run(
                kernel.words, kernel.addresses, store.states, index, min(end, index + BATCH),
                store.table, store.room, worker.tallies, worker.out, worker.hashes, counters,
                self._asked(),
            )  # fmt: skip
            waiting = bool(counters[driver.WAITING] < counters[driver.WAITING_END])
            self._raise_if_impossible(worker)
            store.ends[0] = counters[driver.COUNT]
            self._report_progress(end - index)
        return int(counters[driver.SETTLED])

    def _expand_together(self, spans: Spans) -> int:
        """Rounds of two halves; a half is one call for each worker, without the interpreter."""
        store = self.store
        at = spans[:, 0].copy()
        settled = 0
        with ThreadPoolExecutor(store.shards) as pool:
            while (at < spans[:, 1]).any() and not self._too_many():
                stops = list(pool.map(self._send, range(store.shards), at, spans[:, 1]))
                for worker in self.crew:
                    self._raise_if_impossible(worker)
                    settled |= int(worker.counters[driver.SETTLED])
                at = np.array(stops, np.int64)
                self._make_room()
                for bits in pool.map(self._receive, range(store.shards)):
                    settled |= bits
                self._report_progress(int((spans[:, 1] - at).sum()))
        return settled

    def _send(self, shard: int, begin: int, end: int) -> int:
        kernel, store, worker = self.kernel, self.store, self.crew[shard]
        worker.sent[:] = 0
        stopped: int = driver.expand_out(
            kernel.words, kernel.addresses, store.states, int(begin), int(end), store.shards,
            worker.tallies, worker.out, worker.hashes, worker.counters, worker.outbox,
            outbox_room(kernel), worker.sent, self._asked(),
        )  # fmt: skip
        return stopped

    def _make_room(self) -> None:
        store = self.store
        held = store.ends - np.arange(store.shards) * store.region
        incoming = np.sum([worker.sent for worker in self.crew], axis=0)
        while (held + incoming).max() > store.room:
            store.grow()

    def _receive(self, owner: int) -> int:
        kernel, store = self.kernel, self.store
        room, settled = outbox_room(kernel), 0
        for worker in self.crew:
            count, bits = driver.insert_in(
                kernel.words, kernel.addresses, store.states, int(store.ends[owner]), store.table,
                owner * store.part, store.part, worker.outbox, owner * room,
                int(worker.sent[owner]), self._asked(),
            )  # fmt: skip
            store.ends[owner] = count
            settled |= int(bits)
        return settled

    def _share_if_worth_it(self) -> None:
        if self.workers > 1 and self.store.shards == 1 and self.store.count > WORTH_SHARING:
            self.store, self.levels = self.store.into_shards(self.levels, self.workers)

    def _compile_if_worth_it(self) -> None:
        if not self.kernel.has_best_code() and self.store.count > WORTH_COMPILING:
            self.report("compiling faster machine code")
            self.kernel.compile_best()

    def _raise_if_impossible(self, worker: SearchWorker) -> None:
        error = int(worker.counters[driver.ERROR])
        if error:
            one = self.kernel.code.checks[-error - 1]
            raise ImpossibleValue(f"{one.label}: {one.check.what}")

    def _report_progress(self, queue: int) -> None:
        count = self.store.count
        rate = count / max(time.perf_counter() - self.began, 1e-9)
        self.report(
            f"{count:,} states, level {len(self.levels) + 1}, queue {queue:,}, "
            f"{rate:,.0f} states/s, {self.store.bytes_used / 1e6:,.0f} MB, "
            f"table {self.store.load:.0%} full"
        )

    # -- what came of it --------------------------------------------------------------------

    def result(self, seconds: float, setup: float) -> Exploration:
        """Counts, verdicts, and runs on demand."""
        sizes = [int((spans[:, 1] - spans[:, 0]).sum()) for spans in self.levels]
        tally = SearchTally(
            levels=[size for size in sizes if size],
            generated=self.generated,
            fired=self.fired.tolist(),
            refused=self.refused.tolist(),
            pruned={name: int(count) for name, count in
                    zip(self.kernel.code.bounds, self.pruned, strict=False) if count},
            dead_ends=self.dead_ends,
            settled=dict(self.settled),
            stopped=self.stopped,
        )  # fmt: skip
        engine = EngineRun(
            "native", seconds, setup, self.options.symmetry, self.store.shards,
            round(self.store.bytes_used / max(self.store.count, 1), 1), self.kernel.words,
        )  # fmt: skip
        runs = ShortestRuns(self.kernel, self.store, self.levels, tally.settled)
        loops = LoopSearch(self.kernel, self.store, self.levels, self.generated, self.report)
        return Exploration(self.kernel.grounded, tally, engine, runs.to, loops.ending, self._counts)

    def _counts(self) -> Counts:
        """By cell and position in its domain: the number of states, or of orbits."""
        kernel, store = self.kernel, self.store
        counts: list[list[int]] = []
        for cell in kernel.grounded.cells:
            place = kernel.packing.places.get(cell.number)
            if place is None:
                held = np.zeros(len(cell.domain), np.int64)
                always = kernel.packing.frozen.get(cell.number, cell.domain[0])
                held[always - cell.domain[0]] = store.count
            else:
                held = np.zeros(place.mask + 1, np.int64)
                for shard in range(store.shards):
                    count_values(
                        kernel.words, store.states, shard * store.region, int(store.ends[shard]),
                        place.word, np.uint64(place.shift), np.uint64(place.mask), held,
                    )  # fmt: skip
            counts.append(held[: len(cell.domain)].tolist())
        return counts
