"""Takes every edge of the model's state graph on the implementation, by snapshot and restore.

Each state of the model within the bounds, from the initial state on, is kept with a snapshot of a
world in that state. Every transition that the model allows there is driven in that world and must
lead to the model's next state; every step that the world offers there must be a step of the model.
So nothing is sampled: within the bounds both sides have the same choices.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from conformance.lockstep import Lockstep, Mismatch
from conformance.mapping import MAP, SystemMap
from conformance.mapping.rows import Family
from conformance.model_stepper import Key
from impl.releases import DEFAULT, Release
from impl.sim.simulation import Step
from specs.rendering import HIDDEN, parts
from specs.verdict import Verdict

MOST_MISMATCHES = 5
"""After so many the walk ends: one fault of the implementation breaks thousands of edges."""


@dataclass(frozen=True)
class EdgeMismatch:
    """A mismatch, and the model's path to the state where it occurs: `start`, then these steps."""

    mismatch: Mismatch
    start: tuple[Step, ...]
    way: tuple[Key, ...]


@dataclass
class EdgeReport:
    """How much of the graph was walked, and what did not fit.

    `fired` counts edges by transition, `steps` by step of the implementation; `not_walked` counts
    those that a family of faults leaves out, or for which the map names another step of the world.
    """

    ALSO: ClassVar = parts("verdict")

    bounds: dict[str, int]
    system: str = "replication"
    states: int = 0
    edges: int = 0
    covered: int = 0
    complete: bool = True
    fired: Counter[str] = field(default_factory=Counter)
    mismatches: list[str] = field(default_factory=list)
    first: EdgeMismatch | None = field(default=None, metadata=HIDDEN)
    """The first of them, to be diagnosed."""
    not_walked: Counter[str] = field(default_factory=Counter)
    steps: Counter[str] = field(default_factory=Counter)

    @property
    def verdict(self) -> Verdict:
        """Broken by any mismatch; unknown if states were left out; not checked if empty."""
        if self.mismatches:
            return Verdict.BROKEN
        if not self.edges:
            return Verdict.NOT_CHECKED
        return Verdict.HOLDS if self.complete else Verdict.UNKNOWN


def walk_edges(
    bounds: Mapping[str, int],
    max_states: int | None = None,
    progress: Callable[[str], None] = lambda line: None,
    about: SystemMap = MAP,
    version: str | None = None,
    family: Family | None = None,
) -> EdgeReport:
    """Walks the graph of a system within the bounds, breadth first; deterministic.

    With a `family` the walk starts after its first steps, and its transitions `without` are not
    taken: both sides must still agree on whether they are possible, and they are counted
    separately. With `max_states` only the edges of that many first states are walked, and the
    verdict is at best unknown. The walk ends after MOST_MISMATCHES mismatches. ValueError for
    bounds or a version that cannot be walked.
    """
    start, without = (family.start, family.without) if family is not None else ((), ())
    refusal = None if start else about.not_from_the_start(bounds, without)
    if refusal is not None:
        raise ValueError(refusal)
    for since in (about.walked_since, family.since if family is not None else about.walked_since):
        if not Release.of(version or DEFAULT).since(since):
            raise ValueError(f"this is walked as since {since}, not as in {version}")
    pair = Lockstep(bounds, about=about, version=version)
    return _Walk(pair, max_states, progress, family or Family("", {}), version).run()


class _Walk:
    def __init__(
        self,
        pair: Lockstep,
        max_states: int | None,
        progress: Callable[[str], None],
        family: Family,
        version: str | None,
    ) -> None:
        self.pair, self.without, self.start = pair, family.without, family.start
        self.only_alike, self.version = family.only_alike, version or DEFAULT
        self.begun = pair.begin(family.start)
        self.max_states, self.progress = max_states, progress
        self.report = EdgeReport(dict(pair.bounds), pair.about.system)
        start = self.pair.state
        self.came: dict[Any, tuple[Any, Key] | None] = {start: None}
        self.waiting: deque[tuple[Any, Any]] = deque([(start, self.pair.snapshot())])

    def run(self) -> EdgeReport:
        report = self.report
        while self.waiting and len(report.mismatches) < MOST_MISMATCHES:
            state, snapshot = self.waiting.popleft()
            if self.max_states is not None and report.states >= self.max_states:
                report.complete = False
                break
            report.states += 1
            self._state(state, snapshot)
            if not report.states % 50:
                self.progress(f"{report.states:,} states, {report.covered:,} edges walked")
        if self.waiting:
            report.complete = False
        return report

    def _state(self, state: Any, snapshot: Any) -> None:
        pair = self.pair
        enabled = dict(pair.model.enabled(state))
        pair.restore(state, snapshot)
        try:
            pair.choices_are_allowed(enabled)
            pair.silent_steps_are_silent(enabled)
        except Mismatch as mismatch:
            self._mismatch(state, mismatch)
        for key in sorted(enabled):
            if key[0] in self.without or (self.only_alike and not self._is_alike(state, key)):
                self.report.not_walked[key[0]] += 1
                continue
            self.report.edges += 1
            pair.restore(state, snapshot)
            try:
                if not pair.drive(key):
                    self.report.edges -= 1
                    self.report.not_walked[key[0]] += 1
                    continue
            except Mismatch as mismatch:
                self._mismatch(state, mismatch)
                if len(self.report.mismatches) >= MOST_MISMATCHES:
                    return
                continue
            self.report.covered += 1
            self.report.fired[key[0]] += 1
            self.report.steps[pair.history[-1].name] += 1
            if pair.state not in self.came:
                self.came[pair.state] = state, key
                self.waiting.append((pair.state, pair.snapshot()))

    def _way_to(self, state: Any) -> list[Key]:
        """The model's steps to a state, after those that the family begins with."""
        way: list[Key] = []
        came = self.came[state]
        while came is not None:
            before, key = came
            way.append(key)
            came = self.came[before]
        return way[::-1]

    def _is_alike(self, state: Any, key: Key) -> bool:
        """The map does not say of the run that ends with a transition that the two sides differ."""
        parameters = self.pair.model.parameters
        run = [(name, dict(zip(parameters[name], given, strict=True)))
               for name, given in (*self.begun, *self._way_to(state), key)]  # fmt: skip
        return self.pair.about.not_alike(self.version, run) is None

    def _mismatch(self, state: Any, mismatch: Mismatch) -> None:
        way = self._way_to(state)
        if self.report.first is None:
            self.report.first = EdgeMismatch(mismatch, self.start, tuple(way))
        steps = "\n".join(f"    {name}({', '.join(map(str, given))})" for name, given in way)
        shown = f"{mismatch}\nthe model's steps to this state:\n{steps or '    (none)'}"
        self.report.mismatches.append(shown)
