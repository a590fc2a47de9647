"""Lists the model's steps and refusals that a corpus exercised, and those that no line can show.

Evidence has three strengths: the model was asked whether it has the step (`judged`), lines show the
step but no state was compared (`logged`), or the step must have happened between two lines
(`hidden`). A step without evidence was not exercised, or no release logs it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from conformance.pipeline.controllership_model import SYSTEM as ELECTION
from conformance.pipeline.controllership_model import steps_and_reasons

REPLICATION = "replication"

# Kinds of lines that tell of a step, where it is not asked of the model; by the step.
_KINDS_OF_STEP: dict[str, tuple[str, ...]] = {
    "broker_becomes_follower": ("follower_started",),
    "broker_becomes_leader": ("leader_started",),
    "broker_starts": ("process_started",),
    "controller_issues_leader_and_isr": ("leader_and_isr_sent",),
    "follower_truncates": ("log_truncated", "truncation_without_effect"),
    "older_controller_is_refused": ("old_controller_refused",),
    "older_epoch_is_refused": ("old_epoch_refused", "same_epoch_refused"),
    "leader_shrink_is_refused": ("isr_refused",),
    "session_expires": ("session_expired",),
}
_REFUSALS: dict[str, str] = {
    "older_controller_is_refused": "the broker has seen a newer controller",
    "older_epoch_is_refused": "the broker knows this leader epoch or a newer one",
    "leader_shrink_is_refused": "the cached version is out of date",
}
"""Refusals are steps of their own in `replication`; a shrink stands for an expansion as well, which
the line does not tell apart."""


@dataclass(frozen=True)
class StepSeen:
    """How often a step occurred, by strength of evidence; all counts are 0 if it never did."""

    system: str
    step: str
    judged: int = 0
    logged: int = 0
    hidden: int = 0

    @property
    def seen(self) -> int:
        """Occurrences by any evidence."""
        return self.judged + self.logged + self.hidden


@dataclass(frozen=True)
class RefusalSeen:
    """How often a requirement refused a step, by log lines."""

    system: str
    step: str
    reason: str
    lines: int


def coverage_of(
    steps: Mapping[str, int], election: Mapping[str, Mapping[str, int]], kinds: Mapping[str, int]
) -> tuple[list[StepSeen], list[RefusalSeen]]:
    """Every step of `election` and `replication`, and the refusals that logs can show.

    `steps` are writes of states that `replication` allows, `election` the steps of that system's
    runs, `kinds` the number of lines of each kind.
    """
    found = [
        StepSeen(ELECTION, step, election["steps"].get(step, 0), 0, election["hidden"].get(step, 0))
        for step in steps_and_reasons()
    ]
    found += [
        StepSeen(REPLICATION, step, steps.get(step, 0), _lines(kinds, _KINDS_OF_STEP.get(step, ())))
        for step in _steps_of_replication()
    ]
    refusals = [
        RefusalSeen(ELECTION, step, reason, count)
        for name, count in election["refused"].items()
        for step, _, reason in [name.partition(": ")]
    ]
    refusals += [
        RefusalSeen(REPLICATION, step, reason, count)
        for step, reason in sorted(_REFUSALS.items())
        if (count := _lines(kinds, _KINDS_OF_STEP[step]))
    ]
    return found, refusals


def as_rows(seen: list[StepSeen] | list[RefusalSeen]) -> list[dict[str, Any]]:
    """Rows as plain data; `told` is a former name of `logged`."""
    return [
        asdict(each) | ({"told": each.logged} if isinstance(each, StepSeen) else {})
        for each in seen
    ]


def _lines(kinds: Mapping[str, int], names: tuple[str, ...]) -> int:
    return sum(kinds.get(name, 0) for name in names)


def _steps_of_replication() -> tuple[str, ...]:
    from model.systems import system

    recorded = system(REPLICATION).recorded(system(REPLICATION).default_version)
    return tuple(step.transition.name for step in recorded.steps)
