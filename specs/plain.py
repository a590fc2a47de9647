"""The plain engine: breadth-first search in Python, simple, exact and deterministic.

It keeps a set of states and a frontier. The native engine is tested against it.
"""

from __future__ import annotations

import sys
import time
from array import array
from dataclasses import dataclass, field
from typing import Any

from model.language.properties import DEADLOCK
from specs.exploration import EngineRun, Exploration, Report, SearchTally, settling_truths
from specs.growth import Counts
from specs.lasso import LassoResult
from specs.lowering.grounding import Grounded
from specs.lowering.python_code import PythonCode
from specs.plain_loops import plain_ending


@dataclass
class _Level:
    """What is known once a whole level is done; an unfinished one is forgotten."""

    states: int
    generated: int
    dead_ends: int
    fired: list[int]
    refused: bytearray
    pruned: dict[str, int]


@dataclass
class PlainSearch:
    """One breadth-first search."""

    grounded: Grounded
    max_states: int | None
    report: Report
    stop_at: str | None
    generated: int = 1  # the initial state counts as generated, as TLC counts it
    dead_ends: int = 0
    stopped: str | None = None
    levels: list[int] = field(default_factory=lambda: [1])
    settled: dict[str, tuple[int, int]] = field(default_factory=dict)
    breaking: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.code = PythonCode(self.grounded)
        self.fired = [0] * len(self.grounded.instances)
        self.refused = bytearray(len(self.grounded.reasons))
        self.pruned: dict[str, int] = {}
        self.states = [self.code.initial]
        self.parents = array("q", [0])
        self.by = array("l", [0])
        self.open = [
            (name, wanted, self.code.claims[name])
            for name, wanted in settling_truths(self.grounded).items()
        ]
        self.open_steps = dict(self.code.step_claims)

    def run(self) -> None:
        """Explores level by level until no state is new or there is a reason to stop."""
        self.began = time.perf_counter()
        self._settle_claims([self.code.initial], 0, 1)
        seen = {self.code.initial}
        frontier = [self.code.initial]
        first, depth = 0, 1
        while frontier and self.stopped is None:
            if self.stop_at in self.settled:
                self.stopped = f"{self.stop_at} is settled"
                return
            depth += 1
            before = self._snapshot()
            self._broken: dict[str, tuple[int, int]] = {}
            self._stuck: list[int] = []
            found = self._expand(frontier, first, seen)
            if self.stopped is not None:
                self._forget(before)
                return
            self._settle_steps(depth)
            if found:
                self.levels.append(len(found))
                self._settle_claims(found, first + len(frontier), depth)
            first += len(frontier)
            frontier = found

    def _expand(self, frontier: list[Any], first: int, seen: set[Any]) -> list[Any]:
        """The new states one step from the frontier, in order; empty where there are too many."""
        successors, fired, refused, pruned = (
            self.code.successors, self.fired, self.refused, self.pruned
        )  # fmt: skip
        parents, by = self.parents, self.by
        limit = self.max_states or sys.maxsize
        found: list[Any] = []
        for offset, state in enumerate(frontier):
            nexts = successors(state, fired, refused, pruned)
            if not nexts and not self._is_cut_off(state):
                self.dead_ends += 1
                self._stuck.append(first + offset)
            self.generated += len(nexts)
            if self.open_steps:
                self._judge_steps(first + offset, state, nexts)
            for number, after in nexts:
                if after in seen:
                    continue
                if len(parents) >= limit:
                    self.stopped = f"the bound of {limit} states is reached"
                    return []
                seen.add(after)
                found.append(after)
                self.states.append(after)
                parents.append(first + offset)
                by.append(number)
            if not offset & 1023:
                rate = len(parents) / max(time.perf_counter() - self.began, 1e-9)
                self.report(
                    f"{len(parents):,} states, level {len(self.levels) + 1}, "
                    f"queue {len(found):,}, {rate:,.0f} states/s"
                )
        return found

    def _settle_claims(self, states: list[Any], first: int, depth: int) -> None:
        """Judges the claims still open on a new level."""
        for name, wanted, holds in self.open:
            for offset, state in enumerate(states):
                if holds(state) is wanted:
                    self.settled[name] = (first + offset, depth)
                    break
        self.open = [entry for entry in self.open if entry[0] not in self.settled]

    def _judge_steps(self, index: int, state: Any, nexts: list[tuple[int, Any]]) -> None:
        """Remembers, for each claim about steps, the level's first step that breaks it."""
        for name, holds in self.open_steps.items():
            for number, after in nexts:
                if name not in self._broken and not holds(state, after):
                    self._broken[name] = (index, number)

    def _settle_steps(self, depth: int) -> None:
        """What a whole level's steps settle; `depth` is that of the states they lead to."""
        for name, (index, number) in self._broken.items():
            self.settled[name], self.breaking[name] = (index, depth), number
            del self.open_steps[name]
        if self._stuck:
            self.settled.setdefault(DEADLOCK, (self._stuck[0], depth - 1))

    def _snapshot(self) -> _Level:
        return _Level(
            len(self.parents), self.generated, self.dead_ends,
            list(self.fired), bytearray(self.refused), dict(self.pruned),
        )  # fmt: skip

    def _forget(self, before: _Level) -> None:
        del self.parents[before.states :], self.by[before.states :], self.states[before.states :]
        self.generated, self.dead_ends = before.generated, before.dead_ends
        self.fired, self.refused, self.pruned = before.fired, before.refused, before.pruned

    def _is_cut_off(self, state: Any) -> bool:
        """Does a state without successors have some beyond a bound? Then it is no dead end."""
        beyond: dict[str, int] = {}
        spare = [0] * len(self.fired), bytearray(len(self.refused))
        self.code.successors(state, *spare, beyond)
        return bool(beyond)

    def path(self, claim: str) -> list[int]:
        """The instance numbers of the shortest run that settles a claim."""
        way = self._way_to(self.settled[claim][0])
        return [*way, self.breaking[claim]] if claim in self.breaking else way

    def _way_to(self, index: int) -> list[int]:
        chain: list[int] = []
        while index:
            chain.append(self.by[index])
            index = self.parents[index]
        return chain[::-1]

    def ending(self, claim: str) -> LassoResult:
        """The answer about an `eventually`, once every state is known."""
        self.report(f"looking for loops without {claim}")
        return plain_ending(self.code, self.states, claim, self._way_to)

    def counts(self) -> Counts:
        """By cell and position in its domain: the number of states."""
        counts = [[0] * len(cell.domain) for cell in self.grounded.cells]
        for state in self.states:
            for held, position in zip(counts, state, strict=True):
                held[position] += 1
        return counts

    def result(self, seconds: float, setup: float) -> Exploration:
        """The result of the search."""
        tally = SearchTally(
            levels=self.levels,
            generated=self.generated,
            fired=self.fired,
            refused=self.refused,
            pruned=dict(sorted(self.pruned.items())),
            dead_ends=self.dead_ends,
            settled={name: depth for name, (_, depth) in self.settled.items()},
            stopped=self.stopped,
        )
        exploration = Exploration(
            self.grounded, tally, EngineRun("python", seconds, setup), self.path, self.ending,
            self.counts,
        )  # fmt: skip
        exploration.__dict__["code"] = self.code
        return exploration
