"""Breadth-first exploration in plain Python: exact, deterministic, shortest counterexamples.

It is deliberately dumb: a set of states, a frontier, generated successors. Faster engines are
tested against it. A broken claim never stops `explore`; `find` stops at the first state that
breaks (or, for a `sometimes`, reaches) its claim.
"""

from __future__ import annotations

import resource
import sys
import time
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from model.language import ProtocolError, RecordedSystem
from model.language.grounding import Grounded
from model.language.python_code import PythonCode
from specs.runs import Run, build_run, replay_command
from specs.verdict import Verdict

Report = Callable[[str], None]


@dataclass
class ClaimResult:
    """What exploration found about one claim.

    For an `always`, `at` is the first state that breaks it; for a `sometimes`, the first that
    reaches it. `depth` counts states, the initial one being 1. An always claim whose companion
    was never reached is vacuous: its verdict is unknown, and `why` says so.
    """

    name: str
    kind: str
    sentence: str
    verdict: Verdict
    depth: int | None = None
    at: int | None = None
    why: str | None = None


@dataclass
class Exploration:
    """Everything that one exploration learned."""

    grounded: Grounded
    code: PythonCode
    complete: bool
    distinct: int
    generated: int
    depth: int
    seconds: float
    setup_seconds: float
    peak_memory_mb: float
    levels: list[int]
    claims: dict[str, ClaimResult]
    fired: dict[str, int]
    unseen_refusals: list[tuple[str, str]]
    pruned: dict[str, int]
    dead_ends: int
    stopped: str | None = None
    parents: array[int] = field(default_factory=lambda: array("q"), repr=False)
    by: array[int] = field(default_factory=lambda: array("l"), repr=False)

    @property
    def never_fired(self) -> list[str]:
        """Transitions that no reachable state allows: a vacuous part of the model."""
        return [name for name, count in self.fired.items() if not count]

    def instances_to(self, index: int) -> list[int]:
        """The instance numbers of the shortest run to a state, by its index of discovery."""
        chain: list[int] = []
        while index:
            chain.append(self.by[index])
            index = self.parents[index]
        return chain[::-1]

    def run(self, claim: str) -> Run | None:
        """The shortest run to the state that settled a claim, if one did."""
        result = self.claims[claim]
        if result.at is None:
            return None
        verdict = Verdict.BROKEN if result.kind == "always" else Verdict.HOLDS
        return build_run(self.grounded, self.code, self.instances_to(result.at), claim, verdict)

    def as_json(self) -> dict[str, Any]:
        """The contract of `insync explore --json`."""
        recorded = self.grounded.recorded
        claims: dict[str, Any] = {}
        for name, result in self.claims.items():
            run = self.run(name)
            claims[name] = {
                "verdict": result.verdict.value,
                "kind": result.kind,
                "sentence": result.sentence,
                "depth": result.depth,
                "why": result.why,
                "trace": None if run is None else [step.as_json() for step in run.steps],
            }
        return {
            "system": recorded.system.name,
            "version": recorded.version,
            "without": recorded.without,
            "bounds": self.grounded.bounds,
            "symmetry": False,
            "engine": "python",
            "complete": self.complete,
            "stopped": self.stopped,
            "distinct": self.distinct,
            "generated": self.generated,
            "depth": self.depth,
            "seconds": round(self.seconds, 3),
            "setup_seconds": round(self.setup_seconds, 3),
            "peak_memory_mb": round(self.peak_memory_mb, 1),
            "claims": claims,
            "levels": self.levels,
            "pruned": self.pruned,
            "dead_ends": self.dead_ends,
            "ghosts_dropped": self.grounded.dropped_ghosts,
            "fired": self.fired,
            "never_fired": self.never_fired,
            "refusals_never_first": [
                {"transition": step, "reason": reason} for step, reason in self.unseen_refusals
            ],
            "replay": replay_command(
                "explore", recorded.system.name, recorded.version, recorded.without,
                self.grounded.bounds,
            ),
        }  # fmt: skip


def explore(
    recorded: RecordedSystem,
    bounds: Mapping[str, int],
    claims: Sequence[str] | None = None,
    max_states: int | None = None,
    report: Report = lambda line: None,
    stop_at: str | None = None,
) -> Exploration:
    """Visits every reachable state within the bounds; `claims` None means all of the system's.

    Each `always` brings its companion with it, so that none is vacuous unnoticed.
    `max_states` ends the exploration early (`complete` is then False and nothing is green).
    `stop_at` names a claim whose first settling state ends it (used by `find`).
    """
    if max_states is not None and max_states < 1:
        raise ProtocolError(
            f"max_states={max_states} is too small: the smallest that makes sense is 1 "
            "(the initial state)"
        )
    started = time.perf_counter()
    names = list(recorded.claims) if claims is None else list(claims)
    names += [name for name in with_companions(recorded, names) if name not in names]
    grounded = Grounded(recorded, bounds, names)
    code = PythonCode(grounded)
    search = _Search(grounded, code, max_states, report, stop_at)
    set_up = time.perf_counter()
    search.go()
    ended = time.perf_counter()
    usage = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    megabytes = usage / (1024 if sys.platform != "darwin" else 1024 * 1024)
    return search.result(ended - set_up, set_up - started, megabytes)


class _Search:
    def __init__(
        self,
        grounded: Grounded,
        code: PythonCode,
        max_states: int | None,
        report: Report,
        stop_at: str | None,
    ) -> None:
        self.grounded, self.code, self.report = grounded, code, report
        self.max_states, self.stop_at = max_states, stop_at
        self.fired = [0] * len(grounded.instances)
        self.refused = bytearray(len(grounded.reasons))
        self.pruned: dict[str, int] = {}
        self.parents = array("q", [0])
        self.by = array("l", [0])
        self.levels: list[int] = [1]
        self.generated = 1  # the initial state counts as generated, as TLC counts it
        self.dead_ends = 0
        self.stopped: str | None = None
        self.settled: dict[str, tuple[int, int]] = {}
        self.open: list[tuple[str, bool, Callable[[Any], bool]]] = []
        for name in grounded.claims:
            kind = grounded.recorded.claim(name)[0].kind
            if kind != "eventually":
                # An always is settled by a state where it is false, a sometimes where it is true.
                self.open.append((name, kind == "sometimes", code.claims[name]))

    def _judge(self, state: Any, index: int, depth: int) -> bool:
        """Checks the claims still open on a new state; True if the search may stop."""
        done = False
        for entry in self.open:
            name, wanted, holds = entry
            if holds(state) is wanted:
                self.settled[name] = (index, depth)
                done = done or name == self.stop_at
        if done or any(name in self.settled for name, _, _ in self.open):
            self.open = [entry for entry in self.open if entry[0] not in self.settled]
        return done

    def go(self) -> None:
        code, judge = self.code, self._judge
        successors, fired, refused, pruned = code.successors, self.fired, self.refused, self.pruned
        parents, by = self.parents, self.by
        limit = self.max_states or sys.maxsize
        seen = {code.initial}
        frontier = [code.initial]
        first, depth = 0, 1
        began = time.perf_counter()
        if judge(code.initial, 0, 1):
            self.stopped = f"{self.stop_at} is settled"
            return
        while frontier:
            depth += 1
            found: list[Any] = []
            for offset, state in enumerate(frontier):
                nexts = successors(state, fired, refused, pruned)
                if not nexts and not self._is_cut_off(state):
                    self.dead_ends += 1
                self.generated += len(nexts)
                for number, after in nexts:
                    if after in seen:
                        continue
                    index = len(parents)
                    if index >= limit:
                        self.stopped = f"the bound of {limit} states is reached"
                        break
                    seen.add(after)
                    found.append(after)
                    parents.append(first + offset)
                    by.append(number)
                    if self.open and judge(after, index, depth):
                        self.stopped = f"{self.stop_at} is settled"
                        break
                if self.stopped:
                    break
                if not offset & 1023:
                    rate = len(parents) / max(time.perf_counter() - began, 1e-9)
                    self.report(
                        f"{len(parents):,} states, level {depth}, queue {len(found):,}, "
                        f"{rate:,.0f} states/s"
                    )
            if found:
                self.levels.append(len(found))
            if self.stopped:
                return
            first += len(frontier)
            frontier = found

    def _is_cut_off(self, state: Any) -> bool:
        """Does a state without successors have some beyond a bound? Then it is no dead end."""
        beyond: dict[str, int] = {}
        spare = [0] * len(self.fired), bytearray(len(self.refused))
        self.code.successors(state, *spare, beyond)
        return bool(beyond)

    def result(self, seconds: float, setup: float, megabytes: float) -> Exploration:
        grounded = self.grounded
        per_step: dict[str, int] = {step.transition.name: 0 for step in grounded.recorded.steps}
        for instance, count in zip(grounded.instances, self.fired, strict=True):
            per_step[instance.step.transition.name] += count
        unseen = [
            reason
            for number, reason in enumerate(grounded.reasons)
            if not self.refused[number] and number not in grounded.refused_by_parameters
        ]
        return Exploration(
            grounded=grounded,
            code=self.code,
            complete=self.stopped is None,
            distinct=len(self.parents),
            generated=self.generated,
            depth=len(self.levels),
            seconds=seconds,
            setup_seconds=setup,
            peak_memory_mb=megabytes,
            levels=self.levels,
            claims={name: self._claim(name) for name in grounded.claims},
            fired=per_step,
            unseen_refusals=unseen,
            pruned=dict(sorted(self.pruned.items())),
            dead_ends=self.dead_ends,
            stopped=self.stopped,
            parents=self.parents,
            by=self.by,
        )

    def _claim(self, name: str) -> ClaimResult:
        claim, _ = self.grounded.recorded.claim(name)
        index, depth = self.settled.get(name, (None, None))
        why: str | None = None
        if claim.kind == "eventually":
            verdict, why = Verdict.NOT_CHECKED, "liveness needs an engine that looks for loops"
        elif index is not None:
            verdict = Verdict.BROKEN if claim.kind == "always" else Verdict.HOLDS
        elif self.stopped is not None:
            verdict, why = Verdict.UNKNOWN, self.stopped
        elif claim.kind == "sometimes":
            verdict, why = Verdict.BROKEN, "no reachable state within the bounds"
        else:
            verdict = Verdict.HOLDS
            if claim.companion not in self.settled:
                verdict, why = Verdict.UNKNOWN, f"vacuous: {claim.companion} is never reached"
        return ClaimResult(name, claim.kind, claim.sentence, verdict, depth, index, why)


def with_companions(recorded: RecordedSystem, claims: Sequence[str]) -> list[str]:
    """The claims and, for each `always`, the companion that keeps it from being vacuous."""
    wanted: dict[str, None] = {}
    for name in claims:
        wanted[name] = None
        companion = recorded.claim(name)[0].companion
        if companion is not None:
            wanted[companion] = None
    return list(wanted)


def find(
    recorded: RecordedSystem,
    bounds: Mapping[str, int],
    claim: str,
    max_states: int | None = None,
    report: Report = lambda line: None,
) -> tuple[Exploration, Run | None]:
    """The shortest run that breaks an `always`, or reaches a `sometimes`; None if there is none."""
    exploration = explore(recorded, bounds, [claim], max_states, report, stop_at=claim)
    return exploration, exploration.run(claim)
