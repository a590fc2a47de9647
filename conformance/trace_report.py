"""The report of replaying a recorded trace: verdict, steps taken, and lines that do not fit."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from impl.world.trace import TraceError
from specs.rendering import FLAT, HIDDEN
from specs.verdict import Finding, FindingKind, Verdict


class UnknownLeaf(ValueError):
    """A line shows a path or a value that no observation has; the message names it."""


@dataclass
class TraceReport:
    """The result of replaying one trace, or the traces of one cluster's processes together.

    `events` are the lines of the trace, `accepted` those that fit, `silent` those of them at which
    the model takes no step, `hidden` steps that no line shows (in partial traces only). `tried` is
    how many steps a search took, and `run` what it found: (line, step with its arguments, hidden?).
    `details` are added to the JSON beside the counts.
    """

    path: str = field(metadata=HIDDEN)
    verdict: Verdict
    events: int = 0
    accepted: int = 0
    silent: int = 0
    hidden: int = 0
    fired: dict[str, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    tried: int = field(default=0, metadata=HIDDEN)
    run: list[tuple[int, str, bool]] = field(default_factory=list, metadata=HIDDEN)
    details: dict[str, Any] = field(default_factory=dict, metadata=FLAT)

    def add(
        self, kind: FindingKind, file: str, line: int, rule: str, why: str, allowed: str
    ) -> None:
        """Add a finding."""
        self.findings.append(finding(kind, file, line, rule, why, allowed))

    @property
    def lines(self) -> dict[str, int]:
        """Lines of the trace: all of them are events, header and end apart."""
        return {"read": self.events, "events": self.events, "continuation": 0, "rejected": 0}

    @property
    def coverage(self) -> dict[str, Any]:
        """What was compared, for the JSON."""
        return {
            "accepted": self.accepted,
            "silent": self.silent,
            "hidden": self.hidden,
            "fired": dict(sorted(self.fired.items())),
            **self.details,
        }


def finding(kind: FindingKind, file: str, line: int, rule: str, why: str, allowed: str) -> Finding:
    """A finding about one line of a trace."""
    return Finding(
        kind=kind.value,
        file=file,
        line=line,
        rule=rule,
        why=why,
        allowed=allowed,
        positions=(f"{file}:{line}",),
    )


def unreadable(where: Path, error: TraceError | OSError) -> TraceReport:
    """The report on a file that cannot be trusted: what is wrong, and where."""
    line = getattr(error, "line", 1)
    why = str(error).removeprefix(f"{where}:{line}: ")
    report = TraceReport(str(where), Verdict.NOT_CHECKED)
    report.add(
        FindingKind.UNREADABLE, str(where), line, "a trace is whole and of one run", why,
        "lines without a gap in any node's sequence, and an end line; to record one: insync "
        "simulate --out DIR",
    )  # fmt: skip
    return report
