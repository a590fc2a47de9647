"""Shrinks a failing run: fewer brokers, faults and steps, as long as it still fails.

The caller's function decides whether a replayed run fails. Steps that are no longer possible after
others were removed are skipped, so that any part of a run is a run. The algorithm is delta
debugging (Zeller, Hildebrandt 2002) over the steps, faults first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from impl.sim.simulation import BROKERS, Step
from impl.world.partition_simulator import record, steps_of
from impl.world.partition_steps import KINDS
from impl.world.trace import Trace

FAULTS = frozenset(
    {
        "broker_crashes",
        "session_expires",
        "controller_node_is_deleted",
        "controller_reply_to_registration_is_lost",
        "isr_answer_is_lost",
        "leader_and_isr_is_lost",
        "fetch_is_lost",
    }
)
"""Steps in which something goes wrong."""

MOST_TRIALS = 2_000
"""So many runs are tried at most; what is small enough by then is the answer."""

Fails = Callable[[Trace], int | None]
"""The number of events up to the failure, that one included; None for a run that is fine."""


@dataclass(frozen=True)
class Shrunk:
    """The smallest run that was found, the size before, and the number of trials."""

    trace: Trace
    before: tuple[int, int, int]
    trials: int

    @property
    def after(self) -> tuple[int, int, int]:
        """Brokers, faults, steps; ``before`` has the same for the original run."""
        return _size(self.trace)


def _size(trace: Trace) -> tuple[int, int, int]:
    faults = sum(event.step in FAULTS for event in trace.events)
    return trace.header.brokers, faults, len(trace.events)


def shrink(trace: Trace, fails: Fails, least_brokers: int = 1) -> Shrunk:
    """The smallest failing part of this run that was found; ValueError if the run does not fail."""
    found = _Shrinking(trace, fails)
    if not found.keeps(steps_of(trace), trace.header.brokers):
        raise ValueError("the run does not fail when it is played again: nothing to shrink")
    while True:
        before = _size(found.best)
        found.fewer_brokers(least_brokers)
        found.fewer_steps(lambda step: step.name in FAULTS)
        found.fewer_steps(lambda step: True)
        if _size(found.best) == before or found.spent:
            return Shrunk(found.best, _size(trace), found.trials)


class _Shrinking:
    def __init__(self, trace: Trace, fails: Fails) -> None:
        self.best = trace
        self.fails = fails
        self.trials = 0

    @property
    def spent(self) -> bool:
        return self.trials >= MOST_TRIALS

    def keeps(self, steps: Sequence[Step], brokers: int) -> bool:
        """Whether these steps still fail; if so, they become the best run, up to the failure."""
        if self.spent:
            return False
        self.trials += 1
        played = record(steps, self.best.header, brokers)
        until = self.fails(played)
        if until is None:
            return False
        self.best = Trace(played.header, played.events[:until])
        return True

    def fewer_brokers(self, least: int) -> None:
        """Remove one broker, renumber the higher ids, and repeat while the run still fails."""
        while (brokers := self.best.header.brokers) > least:
            if not any(
                self.keeps(_without(steps_of(self.best), gone), brokers - 1)
                for gone in range(brokers, 0, -1)
            ):
                return

    def fewer_steps(self, wanted: Callable[[Step], bool]) -> None:
        """Remove steps of a kind, many at first, then single ones, as long as that helps."""
        width = sum(map(wanted, steps_of(self.best)))
        while width and not self.spent:
            if not self._pass(wanted, width):
                width //= 2

    def _pass(self, wanted: Callable[[Step], bool], width: int) -> bool:
        """Try every run of ``width`` wanted steps, the last first; whether one could go."""
        helped, end = False, None
        while True:
            steps = steps_of(self.best)
            places = [at for at, step in enumerate(steps) if wanted(step)]
            end = len(places) if end is None else min(end, len(places))
            if end <= 0 or self.spent:
                return helped
            gone = set(places[max(0, end - width) : end])
            left = [step for at, step in enumerate(steps) if at not in gone]
            if self.keeps(left, self.best.header.brokers):
                helped = True
            end -= width


def _without(steps: Sequence[Step], gone: int) -> list[Step]:
    """Steps without those about one broker; higher ids move down by one."""
    kept = []
    for step in steps:
        named = [*zip(KINDS[step.name].parameters, step.args, strict=True)]
        if any(name in BROKERS and value == gone for name, value in named):
            continue
        moved = (value - (name in BROKERS and value > gone) for name, value in named)
        kept.append(Step(step.name, tuple(moved)))
    return kept
