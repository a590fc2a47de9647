"""The chain on every step of a complete small state space: pairs of states, breadth-first.

One state of `replication` may go with several of the proof's form, which remembers more; a run to
it decides. Symmetry is not used: every pair is visited as it is.
"""

from __future__ import annotations

import time
from array import array
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from model.language import RecordedSystem
from specs.chain.mapping import MAP, Line
from specs.chain.simulation import Broken, Failure, Pair, Simulation
from specs.invariants import Proof
from specs.proofs.no_message_loss import PROOF
from specs.verdict import Verdict

Report = Callable[[str], None]

NONE: tuple[str, ...] = ()


@dataclass
class ChainResult:
    """What was followed: pairs, steps, and by transition how many steps were which."""

    recorded: RecordedSystem
    bounds: Mapping[str, int]
    pairs: int = 0
    states: int = 0
    edges: int = 0
    forms: int = 0
    invariants: int = 0
    stopped: str | None = None
    failure: Failure | None = None
    lines: list[str] = field(default_factory=list)
    run: list[int] = field(default_factory=list)
    taken: Counter[tuple[str, tuple[str, ...]]] = field(default_factory=Counter)
    """(transition, its abstract steps) -> edges"""
    seconds: float = 0.0

    @property
    def verdict(self) -> Verdict:
        """Broken by a step that is none there, unknown if some are left, else it holds."""
        if self.failure is not None:
            return Verdict.BROKEN
        if self.stopped is not None:
            return Verdict.UNKNOWN
        return Verdict.HOLDS if self.edges else Verdict.NOT_CHECKED

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "claim": "chain", "system": self.recorded.system.name,
            "version": self.recorded.version, "without": self.recorded.without,
            "bounds": dict(self.bounds), "verdict": self.verdict.value,
            "pairs": self.pairs, "states": self.states, "edges": self.edges,
            "forms": self.forms, "invariants": self.invariants,
            "transitions": [
                {"transition": name, "steps": list(steps), "edges": count}
                for (name, steps), count in sorted(self.taken.items())
            ],
            "failure": None if self.failure is None else {
                "kind": self.failure.kind, "rule": self.failure.rule, "why": self.failure.why,
                "lines": self.lines,
            },
            "stopped": self.stopped, "seconds": round(self.seconds, 3),
        }  # fmt: skip


def follow_everywhere(
    recorded: RecordedSystem,
    bounds: Mapping[str, int],
    proof: Proof = PROOF,
    lines: Mapping[str, Line] = MAP,
    max_pairs: int | None = None,
    report: Report = lambda line: None,
) -> ChainResult:
    """Follows every step of every reachable state within the bounds; stops at the first failure.

    No other failure takes fewer steps. `max_pairs` ends it early: then it is unknown.
    """
    began = time.perf_counter()
    chain = Simulation(recorded, bounds, proof, lines)
    result = ChainResult(recorded, dict(bounds), invariants=len(proof.invariants))
    try:
        _Search(chain, result, max_pairs, report).go()
    finally:
        result.forms = len(chain.judged)
        result.seconds = time.perf_counter() - began
    return result


class _Search:
    def __init__(
        self, chain: Simulation, result: ChainResult, max_pairs: int | None, report: Report
    ) -> None:
        self.chain, self.result, self.max_pairs, self.report = chain, result, max_pairs, report
        self.parents, self.by = array("q", [0]), array("l", [0])

    def go(self) -> None:
        chain, result = self.chain, self.result
        names = [one.step.transition.name for one in chain.instances]
        stutters = [name in chain.lines and not chain.lines[name].steps for name in names]
        successors: dict[Any, list[tuple[int, Any]]] = {}
        states: dict[Any, Any] = {}  # each state is kept once, however many pairs it is in
        try:
            order: list[Pair] = [chain.initial]
        except Broken as broken:
            self._tell((chain.code.initial, chain.form.initial), broken, None, 0)
            return
        seen = set(order)
        taken = result.taken
        for index, pair in enumerate(order):  # grows as it goes: breadth-first
            steps = successors.get(pair[0])
            if steps is None:
                steps = successors[pair[0]] = [
                    (number, states.setdefault(after, after))
                    for number, after in chain.successors(pair[0])
                ]
            for number, after in steps:
                result.edges += 1
                try:
                    form, names_of = pair[1], NONE
                    if not stutters[number]:
                        form, names_of = chain.follow(pair, number, after)
                    both = (after, form)
                    taken[names[number], names_of] += 1
                    if both in seen:
                        continue
                    failure = chain.judge(after, form)
                    if failure is not None:
                        raise Broken(failure, number, form)
                except Broken as broken:
                    self._tell(pair, broken, after, index)
                    return
                if self.max_pairs is not None and len(order) >= self.max_pairs:
                    result.stopped = f"the bound of {self.max_pairs} pairs is reached"
                    return
                seen.add(both)
                order.append(both)
                self.parents.append(index)
                self.by.append(number)
            result.pairs, result.states = len(order), len(successors)
            if not index & 1023:
                self.report(f"{len(order):,} pairs of states, {result.edges:,} steps followed")

    def _tell(self, pair: Pair, broken: Broken, after: Any, index: int) -> None:
        way = [broken.number] if after is not None else []
        while index:
            way.append(self.by[index])
            index = self.parents[index]
        self.result.failure = broken.failure
        self.result.run = way[::-1]
        self.result.lines = self.chain.told(pair, broken, after)
