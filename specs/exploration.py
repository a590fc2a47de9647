"""Results of an exploration by any engine: counts, verdicts, coverage, shortest runs."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from model.language import ProtocolError, RecordedSystem
from model.language.errors import unknown_name
from model.language.properties import DEADLOCK
from specs.growth import Counts, FieldGrowth, growth
from specs.lasso import LassoResult
from specs.lowering.grounding import Grounded
from specs.lowering.python_code import PythonCode
from specs.rendering import at, parts, rounded
from specs.runs import Run, build_run, replay_command
from specs.verdict import Verdict

Report = Callable[[str], None]

NO_DEADLOCK = "in every reachable state some step is possible, within the bounds or beyond them"


@dataclass
class ClaimResult:
    """The result of an exploration for one claim.

    `depth` counts the states of the run that settles the claim; the initial state is 1. The run
    ends in a state that breaks an `always` or reaches a `sometimes`, after the step that breaks an
    `always_step`, or after one round of the loop that breaks an `eventually`. A claim whose
    companion was never reached is vacuous: its verdict is unknown, and `why` says so.
    """

    name: str
    kind: str
    sentence: str
    verdict: Verdict
    depth: int | None = None
    why: str | None = None


@dataclass
class SearchTally:
    """The counts of an engine. `settled`: claim -> depth of the first level that settles it; under
    `DEADLOCK`, the depth of the first level with a dead end.

    All counts cover whole levels: an exploration that stops early drops the unfinished level, so
    that its counts do not depend on the engine or on the number of workers.
    """

    levels: list[int]
    generated: int
    fired: Sequence[int]
    refused: Sequence[int]
    pruned: dict[str, int]
    dead_ends: int
    settled: dict[str, int]
    stopped: str | None = None


@dataclass
class EngineRun:
    """How the exploration was run, and the time and memory that it took."""

    name: str
    seconds: float
    setup_seconds: float
    symmetry: bool = False
    workers: int = 1
    bytes_per_state: float | None = None
    words: int | None = None


@dataclass
class Exploration:
    """The complete result of one exploration.

    `path(claim)` gives the instance numbers of the run that settles a claim: the shortest, and
    among the shortest the first in the order of the instances. `ending(claim)` answers for an
    `eventually` once every state is known; `counts` says how often each cell holds which value.
    """

    SHOWN: ClassVar = parts(
        system=at("grounded.recorded.system.name"), version=at("grounded.recorded.version"),
        without=at("grounded.recorded.without"), bounds=at("grounded.bounds"),
        symmetry=at("engine.symmetry"), engine=at("engine.name"), workers=at("engine.workers"),
        complete={}, stopped={}, distinct={}, generated={}, depth={},
        seconds=rounded(3), setup_seconds=rounded(3), peak_memory_mb=rounded(1),
        bytes_per_state=at("engine.bytes_per_state"), claims=at("answers"), levels={}, pruned={},
        dead_ends={}, ghosts_dropped=at("grounded.dropped_ghosts"), fired={}, never_fired={},
        refusals_never_first=at("never_first"), replay={},
    )  # fmt: skip

    grounded: Grounded
    tally: SearchTally
    engine: EngineRun
    path: Callable[[str], list[int]] = field(repr=False)
    ending: Callable[[str], LassoResult] = field(repr=False)
    counts: Callable[[], Counts] = field(repr=False)
    peak_memory_mb: float = field(default_factory=lambda: peak_memory_mb())
    loop_seconds: float = 0.0
    """What looking for loops took, on top of the exploration."""

    @cached_property
    def code(self) -> PythonCode:
        """The generated Python, which replays runs."""
        return PythonCode(self.grounded)

    @property
    def complete(self) -> bool:
        """True if every reachable state within the bounds was visited."""
        return self.tally.stopped is None

    @property
    def stopped(self) -> str | None:
        """Why the exploration is not complete."""
        return self.tally.stopped

    @property
    def distinct(self) -> int:
        """Distinct states (orbits, under symmetry)."""
        return sum(self.tally.levels)

    @property
    def generated(self) -> int:
        """Successors found, with repetitions, and the initial state."""
        return self.tally.generated

    @property
    def depth(self) -> int:
        """The number of states on the longest of the shortest runs."""
        return len(self.tally.levels)

    @property
    def levels(self) -> list[int]:
        """New states by depth."""
        return self.tally.levels

    @property
    def pruned(self) -> dict[str, int]:
        """Successors left out, by the bound that they exceed."""
        return self.tally.pruned

    @property
    def dead_ends(self) -> int:
        """States from which nothing is possible, bounds or not."""
        return self.tally.dead_ends

    @property
    def seconds(self) -> float:
        """Exploration alone, without start-up and compilation."""
        return self.engine.seconds

    @property
    def setup_seconds(self) -> float:
        """Recording, lowering, compiling."""
        return self.engine.setup_seconds

    @cached_property
    def fired(self) -> dict[str, int]:
        """How often each transition was found possible."""
        counts = {step.transition.name: 0 for step in self.grounded.recorded.steps}
        for instance, count in zip(self.grounded.instances, self.tally.fired, strict=True):
            counts[instance.step.transition.name] += int(count)
        return counts

    @property
    def never_fired(self) -> list[str]:
        """Transitions that no reachable state allows: a vacuous part of the model."""
        return [name for name, count in self.fired.items() if not count]

    @cached_property
    def unseen_refusals(self) -> list[tuple[str, str]]:
        """Reasons (transition, reason) that were never the first to refuse."""
        return [
            reason
            for number, reason in enumerate(self.grounded.reasons)
            if not self.tally.refused[number] and number not in self.grounded.refused_by_parameters
        ]

    @property
    def never_first(self) -> list[dict[str, str]]:
        """The same, for the JSON."""
        return [{"transition": step, "reason": reason} for step, reason in self.unseen_refusals]

    @property
    def replay(self) -> str:
        """The command that repeats this exploration."""
        recorded = self.grounded.recorded
        return replay_command(
            "explore", recorded.system.name, recorded.version, recorded.without,
            self.grounded.bounds,
        )  # fmt: skip

    @property
    def answers(self) -> dict[str, dict[str, Any]]:
        """Every claim's verdict, and the run that settles it."""
        return {name: self._answer(name, result) for name, result in self.claims.items()}

    def _answer(self, name: str, result: ClaimResult) -> dict[str, Any]:
        run = self.run(name)
        return {
            "verdict": result.verdict, "kind": result.kind, "sentence": result.sentence,
            "depth": result.depth, "why": result.why,
            "trace": None if run is None else run.steps, "loop": None if run is None else run.loop,
        }  # fmt: skip

    @cached_property
    def claims(self) -> dict[str, ClaimResult]:
        """The verdict of every claim that was judged."""
        return {name: self._claim(name) for name in self.grounded.claims}

    @cached_property
    def eventually_results(self) -> dict[str, LassoResult]:
        """The answer for every `eventually`."""
        kinds = {name: self.grounded.recorded.claim(name)[0].kind for name in self.grounded.claims}
        started = time.perf_counter()
        found = {name: self._ending(name) for name, kind in kinds.items() if kind == "eventually"}
        self.loop_seconds = time.perf_counter() - started
        return found

    def _ending(self, name: str) -> LassoResult:
        if self.engine.symmetry:
            return LassoResult(
                Verdict.NOT_CHECKED,
                "what is fair to one broker is lost where brokers' names are; leave --symmetry out",
            )
        if self.stopped is not None:
            return LassoResult(Verdict.UNKNOWN, self.stopped)
        return self.ending(name)

    @cached_property
    def deadlock(self) -> ClaimResult:
        """Whether a dead end is reachable, as the claim that there is none."""
        depth = self.tally.settled.get(DEADLOCK)
        verdict, why = Verdict.HOLDS, None
        if depth is not None:
            verdict = Verdict.BROKEN
        elif self.stopped is not None:
            verdict, why = Verdict.UNKNOWN, self.stopped
        return ClaimResult(DEADLOCK, "always", NO_DEADLOCK, verdict, depth, why)

    @cached_property
    def growth(self) -> list[FieldGrowth]:
        """Every field with its values, those that are most often at their bounds first."""
        return growth(self.grounded, self.counts())

    def _claim(self, name: str) -> ClaimResult:
        claim, _ = self.grounded.recorded.claim(name)
        depth = self.tally.settled.get(name)
        why: str | None = None
        if claim.kind == "eventually":
            ending = self.eventually_results[name]
            verdict, why = ending.verdict, ending.why
            depth = len(ending.path) + 1 if verdict is Verdict.BROKEN else None
        elif depth is not None:
            verdict = Verdict.HOLDS if claim.kind == "sometimes" else Verdict.BROKEN
        elif self.stopped is not None:
            verdict, why = Verdict.UNKNOWN, self.stopped
        elif claim.kind == "sometimes":
            verdict, why = Verdict.BROKEN, "no reachable state within the bounds"
        else:
            verdict = Verdict.HOLDS
            if claim.companion not in self.tally.settled:
                verdict, why = Verdict.UNKNOWN, f"vacuous: {claim.companion} is never reached"
        return ClaimResult(name, claim.kind, claim.sentence, verdict, depth, why)

    def run(self, claim: str) -> Run | None:
        """The shortest run that settles a claim, if one does; to a dead end for `DEADLOCK`."""
        result = self.deadlock if claim == DEADLOCK else self.claims[claim]
        if result.depth is None:
            return None
        if result.kind == "eventually":
            ending = self.eventually_results[claim]
            path, loop = ending.path, ending.loop
        else:
            path, loop = self.path(claim), None
        return build_run(
            self.grounded, self.code, path, claim, result.verdict, loop, result.sentence
        )


def settling_truths(grounded: Grounded) -> dict[str, bool]:
    """By claim, the truth of its condition in a state that settles it.

    An `always` is settled by a state where it is false, a `sometimes` by one where it is true;
    claims of other kinds are settled by no single state.
    """
    kinds = {name: grounded.recorded.claim(name)[0].kind for name in grounded.claims}
    return {
        name: kind == "sometimes" for name, kind in kinds.items() if kind in ("always", "sometimes")
    }


def with_companions(recorded: RecordedSystem, claims: Sequence[str]) -> list[str]:
    """The claims and, for each that has one, the companion that keeps it from being vacuous."""
    wanted: dict[str, None] = {}
    for name in claims:
        wanted[name] = None
        companion = recorded.claim(name)[0].companion
        if companion is not None:
            if companion not in recorded.claims:
                kinds = {one: recorded.claim(one)[0].kind for one in recorded.claims}
                known = [one for one, kind in kinds.items() if kind == "sometimes"]
                raise ProtocolError(
                    f"{name}: {unknown_name('companion', companion, known)}; a companion is a "
                    f"@sometimes among the claims of {recorded.system.name}"
                )
            wanted[companion] = None
    return list(wanted)


def grounded_for(
    recorded: RecordedSystem, bounds: Mapping[str, int], claims: Sequence[str] | None
) -> Grounded:
    """The enumerated instance with these claims (None: all) and their companions."""
    names = list(recorded.claims) if claims is None else list(claims)
    names += [name for name in with_companions(recorded, names) if name not in names]
    return Grounded(recorded, bounds, names)


def peak_memory_mb() -> float:
    """The most memory that this process held at any time, in megabytes."""
    usage = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return usage / (1024 if sys.platform != "darwin" else 1024 * 1024)
