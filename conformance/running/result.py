"""The result of replaying lines: they fit, one does not, or the rest is unknown."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from conformance.running.process_traces import TraceLine


class MisfitError(Exception):
    """A line that is no step of the model; `rule` says what would have been a step."""

    def __init__(self, rule: str, why: str, allowed: str) -> None:
        super().__init__(why)
        self.rule, self.why, self.allowed = rule, why, allowed


class NotModelled(Exception):
    """The system has no step for something in the lines: the rest is unknown."""


class LeftToOthers(NotModelled):
    """Only other systems model something in the lines: the rest is theirs to judge."""


@dataclass
class ReplayResult:
    """The result for a partition, or for the controllership; `at` is the last line looked at.

    `fired` counts steps of the model, `forced` what was forced, by its reason. `left` are the lines
    after the last one looked at.
    """

    name: str
    lines: int = 0
    fired: Counter[str] = field(default_factory=Counter)
    forced: Counter[str] = field(default_factory=Counter)
    at: TraceLine | None = None
    misfit: MisfitError | None = None
    unknown: str = ""
    beyond: str = ""
    """Why the lines from there on are left to other systems."""
    left: int = 0

    @property
    def explained(self) -> int:
        """The number of lines that fit, those before the one that does not."""
        return self.lines - int(self.misfit is not None or bool(self.unknown or self.beyond))
