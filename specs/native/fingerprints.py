"""Explores with fingerprints instead of whole states: half the memory, but it may miss a state.

Only on request. The table keeps 64 bits of a state's hash, and the states themselves are kept for
two levels only. Two states with the same fingerprint count as one, so that a claim that was not
settled is `unknown`, with the probability that a state was missed. A broken claim is really broken:
an exact search finds its run again.
"""

# mypy: disable-error-code="no-untyped-call,untyped-decorator"

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
from numba import njit

from model.language.errors import ImpossibleValue, ProtocolError
from model.language.properties import DEADLOCK
from specs.exploration import EngineRun, Exploration, Report, SearchTally, settling_truths
from specs.lowering.grounding import Grounded
from specs.lowering.llvm_terms import LANES
from specs.native import driver
from specs.native.backwards import judge_all
from specs.native.kernel import Kernel, kernel_of
from specs.native.search import WORTH_COMPILING, NativeSearch, SearchOptions, worker_for
from specs.native.store import FIRST_TABLE, LOAD, SHARE, Words, free_memory
from specs.native.table import AHEAD, ONE, ask_for_entry, hash_all, hash_of

BATCH = 1 << 16


@njit(nogil=True, cache=True)  # type: ignore[untyped-decorator,unused-ignore]
def _find(table: Any, mask: Any, mark: Any) -> Any:
    slot = mark & mask
    while table[slot] != 0 and table[slot] != mark:
        slot = (slot + ONE) & mask
    return slot


@njit(nogil=True, cache=True)  # type: ignore[untyped-decorator,unused-ignore]
def _refill(old: Any, new: Any) -> Any:
    mask = np.uint64(new.size - 1)
    for mark in old:
        if mark != 0:
            new[_find(new, mask, mark)] = mark


@njit(nogil=True, cache=True)  # type: ignore[untyped-decorator,unused-ignore]
def _run(
    words: Any, code: Any, here: Any, begin: Any, end: Any, there: Any, table: Any, room: Any,
    tallies: Any, out: Any, hashes: Any, counters: Any, asked: Any,
) -> Any:  # fmt: skip
    """Expands here[begin:end] into `there`, as long as there is room for a block and one call."""
    mask, index = np.uint64(table.size - 1), begin
    settled = np.uint64(counters[driver.SETTLED])
    count = counters[driver.COUNT]
    while index < end and count + out.shape[1] <= room:
        index, found = driver.expand_block(words, code, here, index, end, tallies, out)
        if found < 0:
            counters[driver.ERROR] = found
            break
        counters[driver.GENERATED] += found
        if asked[1] != 0:
            settled |= driver.broken_steps(words, code, here, out, found) & asked[1]
        driver.make_canonical(code, out, found)
        hash_all(words, out, found, hashes)
        before = count
        for number in range(found):
            ahead = number + 2 * AHEAD
            if ahead < found:
                ask_for_entry(hashes[ahead], table, 0, mask)
            mark = hashes[number]
            mark = ONE if mark == 0 else mark  # 0 is *empty*
            slot = _find(table, mask, mark)
            if table[slot] != 0:
                continue
            table[slot] = mark
            for word in range(words):
                there[count * words + word] = out[word, number]
            count += 1
        settled |= driver.settled_by(words, code, there, before, count, asked)
    counters[driver.COUNT] = count
    counters[driver.SETTLED] = np.int64(settled)
    return index


def fingerprint_search(
    grounded: Grounded, options: SearchOptions, report: Report, started: float
) -> Exploration:
    """Explores by fingerprints; `started` is when the set-up began (perf_counter)."""
    if options.checkpoint is not None:
        raise ProtocolError("fingerprints keep no states to go on from: leave the checkpoint out")
    kernel = kernel_of(grounded, options.symmetry)
    memory = options.memory_bytes or int(free_memory() * SHARE)
    search = FingerprintSearch(kernel, options.max_states, options.stop_at, memory, report)
    search.warm()
    set_up = time.perf_counter()
    search.run()
    return search.result(time.perf_counter() - set_up, set_up - started)


def _no_ending(claim: str) -> NoReturn:
    raise ProtocolError(f"{claim} is about loops, and fingerprints keep no states to look for one")


def _no_counts() -> NoReturn:
    raise ProtocolError("fingerprints keep no states to count: leave --fingerprints out")


def missed(states: int) -> float:
    """Upper bound of the probability that two of the states share 64 evenly distributed bits."""
    return min(1.0, states * (states - 1) / 2.0 / 2.0**64)


@dataclass
class FingerprintSearch:
    """One worker, level by level. Memory is the table and two levels of states."""

    kernel: Kernel
    max_states: int | None
    stop_at: str | None
    memory_bytes: int
    report: Report
    count: int = 1
    frontier: int = 1
    stopped: str | None = None
    levels: list[int] = field(default_factory=lambda: [1])
    settled: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        kernel = self.kernel
        self.total, self.level = worker_for(kernel), worker_for(kernel)
        self.total.counters[driver.GENERATED] = 1
        self.open = set(settling_truths(kernel.grounded))
        self.about_steps = {
            name for name in kernel.grounded.claims if kernel.grounded.is_about_steps(name)
        }
        self.open |= self.about_steps
        self.table: Words = np.zeros(FIRST_TABLE, np.uint64)
        initial = kernel.packed(kernel.grounded.initial)
        if kernel.canonical:
            driver.make_one_canonical(kernel.addresses, initial)
        # The system's code reads several states at once, the last ones too.
        self.here: Words = np.concatenate([initial, np.zeros(LANES * kernel.words, np.uint64)])
        self.there: Words = np.empty(0, np.uint64)

    def warm(self) -> None:
        """Loads the compiled loops on nothing at all, so that exploration is timed without them."""
        kernel, one, none = self.kernel, self.level, np.uint64(0)
        _run(
            kernel.words, kernel.addresses, self.here, 0, 0, self.here, self.table, 0, one.tallies,
            one.out, one.hashes, one.counters, (none, none, none),
        )  # fmt: skip
        _refill(self.table, self.table.copy())

    def run(self) -> None:
        """Explores until no state is new or there is a reason to stop; never complete."""
        kernel = self.kernel
        self.began = time.perf_counter()
        mark = np.uint64(hash_of(kernel.words, self.here, 0) or 1)
        self.table[_find(self.table, np.uint64(self.table.size - 1), mark)] = mark
        marks = np.zeros(1, np.uint64)
        judge_all(
            kernel.words, kernel.addresses, self.here, 0, 1, marks,
            kernel.bits(self.open - self.about_steps), kernel.wanted,
        )  # fmt: skip
        self._settle_claims(int(marks[0]))
        while self.frontier and self.stopped is None:
            if self.stop_at in self.settled:
                self.stopped = f"{self.stop_at} is settled"
                return
            if not kernel.has_best_code() and self.count > WORTH_COMPILING:
                kernel.compile_best()
            self._next_level()
        if self.stopped is None:
            self.stopped = (
                f"fingerprints: among {self.count:,} states one was taken for another with a "
                f"probability of at most {missed(self.count):.1e}"
            )

    def _settle_claims(self, bits: int) -> None:
        for bit, name in enumerate(self.kernel.code.claims):
            if bits >> bit & 1 and name in self.open:
                self.settled[name] = len(self.levels)
                self.open.discard(name)

    def _next_level(self) -> None:
        kernel, words = self.kernel, self.kernel.words
        self.level = one = worker_for(kernel)
        asked = (
            kernel.bits(self.open - self.about_steps),
            kernel.bits(self.open & self.about_steps),
            kernel.wanted,
        )
        index, end = 0, self.frontier
        self.there = np.empty((2 * end + kernel.code.row + LANES) * words, np.uint64)
        while index < end:
            found = int(one.counters[driver.COUNT])
            self._make_room(found)
            if self.stopped is not None:
                return
            room = min(self.there.size // words - LANES, int(self.table.size * LOAD) - self.count)
            index = _run(
                words, kernel.addresses, self.here, index, min(end, index + BATCH), self.there,
                self.table, room, one.tallies, one.out, one.hashes, one.counters, asked,
            )  # fmt: skip
            error = int(one.counters[driver.ERROR])
            if error:
                bad = kernel.code.checks[-error - 1]
                raise ImpossibleValue(f"{bad.label}: {bad.check.what}")
            self._report_progress(end - index)
        self._take_over(one)

    def _make_room(self, found: int) -> None:
        """Make room for one more block of successors; stops where a limit forbids it."""
        kernel, words = self.kernel, self.kernel.words
        if self.count + found > (self.max_states or self.count + found):
            self.stopped = f"the bound of {self.max_states} states is reached"
            return
        block = kernel.code.row
        if (found + block + LANES) * words > self.there.size:
            self.there = np.concatenate([self.there, np.empty_like(self.there)])
        if self.count + found + block > int(self.table.size * LOAD):
            old, self.table = self.table, np.zeros(self.table.size * 2, np.uint64)
            _refill(old, self.table)
        if self.table.nbytes + self.here.nbytes + self.there.nbytes > self.memory_bytes:
            self.stopped = f"memory: {self.memory_bytes / 1e6:,.0f} MB are allowed"

    def _take_over(self, one: Any) -> None:
        found = int(one.counters[driver.COUNT])
        if self.count + found > (self.max_states or self.count + found):
            self.stopped = f"the bound of {self.max_states} states is reached"
            return
        total = self.total
        fired, refused, pruned = total.tallies
        for sum_, added in ((fired, one.tallies[0]), (pruned, one.tallies[2])):
            sum_ += added
        refused |= one.tallies[1]
        refused[self.kernel.code.always_refused] = 1
        total.counters[driver.GENERATED] += one.counters[driver.GENERATED]
        if pruned[-1]:
            self.settled.setdefault(DEADLOCK, len(self.levels))
        self.here = self.there[: (found + LANES) * self.kernel.words].copy()
        self.frontier = found
        self.count += found
        if found:
            self.levels.append(found)
            self._settle_claims(int(one.counters[driver.SETTLED]))
        elif one.counters[driver.SETTLED]:  # a step back to known states may break a claim too
            self.levels.append(0)
            self._settle_claims(int(one.counters[driver.SETTLED]))
            self.levels.pop()

    def _report_progress(self, queue: int) -> None:
        found = self.count + int(self.level.counters[driver.COUNT])
        rate = found / max(time.perf_counter() - self.began, 1e-9)
        self.report(
            f"{found:,} fingerprints, level {len(self.levels) + 1}, queue {queue:,}, "
            f"{rate:,.0f} states/s, table {found / self.table.size:.0%} full"
        )

    def result(self, seconds: float, setup: float) -> Exploration:
        """The result; a claim that was not settled is unknown."""
        kernel, total = self.kernel, self.total
        fired, refused, pruned = total.tallies
        tally = SearchTally(
            levels=self.levels,
            generated=int(total.counters[driver.GENERATED]),
            fired=fired.tolist(),
            refused=refused.tolist(),
            pruned={name: int(count) for name, count in
                    zip(kernel.code.bounds, pruned, strict=False) if count},
            dead_ends=int(pruned[-1]),
            settled=dict(self.settled),
            stopped=self.stopped,
        )  # fmt: skip
        size = self.table.nbytes / max(self.count, 1)
        engine = EngineRun(
            "native", seconds, setup, kernel.symmetry, 1, round(size, 1), kernel.words
        )  # fmt: skip
        return Exploration(
            kernel.grounded, tally, engine, self._path, _no_ending, _no_counts
        )  # fmt: skip

    def _path(self, claim: str) -> list[int]:
        """The run again, by an exact search that ends with the claim's level."""
        exact = NativeSearch(self.kernel, SearchOptions(stop_at=claim), self.report)
        exact.run()
        return exact.result(0.0, 0.0).path(claim)
