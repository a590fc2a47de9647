"""Groups findings by cause: one fault that affects fifty partitions is one entry.

Findings have the same cause if their kind, rule and cluster are the same, and their reasons differ
only in partitions, numbers and places. The first of them, in finding order, represents all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.pipeline.rules import BREAKS, FindingKind

MATTER = 3
"""So many causes are shown before everything else."""

AROUND = 3
"""So many lines before and after the line of a finding are shown with it."""

_PLACE = re.compile(r"\S+:\d+")
_PARTITION = re.compile(r"[\w.-]+-\d+\b")
_NUMBER = re.compile(r"-?\d+(?:,-?\d+)*")


@dataclass(frozen=True)
class Cause:
    """A finding, as plain data, and all findings with the same cause, including itself."""

    finding: Mapping[str, Any]
    places: tuple[str, ...]

    @property
    def count(self) -> int:
        """How many findings are of this cause."""
        return len(self.places)

    @property
    def breaks(self) -> bool:
        """Whether the finding says that the protocol was broken."""
        return self.finding["kind"] in {kind.value for kind in BREAKS}

    @property
    def more(self) -> str:
        """A note about the other findings of this cause; empty if there are none."""
        if self.count == 1:
            return ""
        return f"and {self.count - 1:,} more of the same cause, up to {self.places[-1]}"


def causes(findings: Iterable[Mapping[str, Any]]) -> list[Cause]:
    """Groups findings into causes, in the order of their first findings (most certain first)."""
    found: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for finding in findings:
        key = finding["kind"], finding["rule"], finding["cluster"], _shape(finding["why"])
        found.setdefault(key, []).append(finding)
    return [
        Cause(some[0], tuple(f"{each['file']}:{each['line']}" for each in some))
        for some in found.values()
    ]


def that_matter(every: Sequence[Cause]) -> list[Cause]:
    """Causes in the order in which a reader should see them: broken before doubtful, then by count.

    Causes whose finding is within `AROUND` lines of a listed one come last.
    """
    rank = {kind.value: n for n, kind in enumerate(FindingKind)}
    order = sorted(every, key=lambda each: (rank[each.finding["kind"]], -each.count))
    first: list[Cause] = []
    for cause in order:
        if not any(_beside(cause.finding, other.finding) for other in first):
            first.append(cause)
    first += [cause for cause in order if cause not in first]
    return sorted(first[:MATTER], key=lambda each: rank[each.finding["kind"]])


def _beside(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return one["file"] == other["file"] and abs(int(one["line"]) - int(other["line"])) <= AROUND


def _shape(why: str) -> str:
    return _NUMBER.sub("N", _PARTITION.sub("P", _PLACE.sub("@", why)))
