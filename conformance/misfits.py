"""What replaying a trace found: the verdict, what fired, and the line that does not fit."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from impl import TraceError
from specs.verdict import Verdict


class UnknownLeaf(ValueError):
    """A line shows a path or a value that no observation has; the message names it."""


@dataclass(frozen=True)
class Misfit:
    """A line that does not fit, and what would have."""

    kind: str
    file: str
    line: int
    rule: str
    why: str
    allowed: str

    def as_json(self) -> dict[str, Any]:
        """The contract of `insync check --json`."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass
class TraceReport:
    """What replaying one trace found."""

    path: str
    verdict: Verdict
    events: int = 0
    accepted: int = 0
    silent: int = 0
    hidden: int = 0  # steps that no line shows: in partial traces only
    fired: dict[str, int] = field(default_factory=dict)
    findings: list[Misfit] = field(default_factory=list)

    @property
    def lines(self) -> dict[str, int]:
        """Lines of the trace: all of them are events, header and end apart."""
        return {"read": self.events, "events": self.events, "continuation": 0, "rejected": 0}


def unreadable(where: Path, error: TraceError | OSError) -> Misfit:
    """A file that cannot be vouched for, whole or partial: what is wrong, and where."""
    line = getattr(error, "line", 1)
    why = str(error).removeprefix(f"{where}:{line}: ")
    return Misfit(
        "unreadable", str(where), line, "a trace is whole and of one run", why,
        "lines without a gap in any node's sequence, and an end line; to record one: insync "
        "simulate --out DIR",
    )  # fmt: skip
