"""Derives the verdict of a check by stated rules, with everything that it does not cover.

- `broken`: a line contradicts the protocol in every completion of the logs (`findings.BREAKS`).
- `not checked`: nothing was compared.
- `unknown`: a value went back, or a step has no place, and lines that could explain it may be
  missing; too few lines were understood; or a file could not be read (to its end), so that not
  everything was examined.
- `holds`: otherwise. The same sentence names what was left out: rules without anything to compare,
  lines that could not be read, files without events, and what is not judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.pipeline.rules import BREAKS, DATA_PLANE, JUDGING, Finding, FindingKind
from specs.verdict import Verdict

SCOPE = "control plane only"
"""What lines of brokers are judged for: no release logs its fetches and answers by default."""

_NAMED = 3  # exceptions of one sort that are named; more are counted


@dataclass(frozen=True)
class Judgement:
    """A verdict and its sentence. `exceptions` names what the verdict does not cover."""

    verdict: Verdict
    scope: str
    exceptions: tuple[str, ...] = ()

    @property
    def headline(self) -> str:
        """The verdict as one sentence."""
        parts = [self.scope] if self.scope else []
        if self.exceptions:
            parts.append("except: " + ", ".join(self.exceptions))
        return str(self.verdict) + (f" ({'; '.join(parts)})" if parts else "")


def judgement(
    findings: Sequence[Finding],
    checked: Mapping[str, int],
    summary: Mapping[str, Any],
    traces: Iterable[tuple[Verdict, int]] = (),
    left: int = 0,
) -> Judgement:
    """The verdict on logs and traces together.

    `checked` counts each rule's comparisons, `summary` is `report.ingest_summary`'s, `traces` has
    the verdict and the lines of each trace; `left` of these lines were not judged.
    """
    traces = list(traces)
    kinds = {finding.kind for finding in findings}
    verdicts = {verdict for verdict, _ in traces}
    looked = sum(checked.values()) or any(lines for _, lines in traces)
    if kinds & {kind.value for kind in BREAKS} or Verdict.BROKEN in verdicts:
        verdict = Verdict.BROKEN
    elif not looked or Verdict.NOT_CHECKED in verdicts:
        verdict = Verdict.NOT_CHECKED
    elif (
        FindingKind.INCOMPLETE.value in kinds
        or Verdict.UNKNOWN in verdicts
        or summary["unreadable"]
    ):
        verdict = Verdict.UNKNOWN
    else:
        verdict = Verdict.HOLDS
    if not sum(checked.values()):
        return Judgement(verdict, "", (*_unread(summary), *_left(left)))
    exceptions = (
        *_not_judged(findings), *_unread(summary), *_left(left), *_not_compared(checked)
    )  # fmt: skip
    seen = sum(checked.get(rule.name, 0) for rule in DATA_PLANE)
    scope = f"control plane, and {seen:,} comparisons of the data plane" if seen else SCOPE
    return Judgement(verdict, scope, exceptions)


def rule_rows(checked: Mapping[str, int]) -> list[dict[str, Any]]:
    """Every rule: how often it compared, and which lines it would need if it never did."""
    return [
        {
            "rule": rule.name,
            "says": rule.says,
            "compared": checked.get(rule.name, 0),
            "needs": rule.needs,
        }
        for rule in JUDGING
    ]


def _not_judged(findings: Iterable[Finding]) -> list[str]:
    clusters = sorted(
        {each.cluster for each in findings if each.kind == FindingKind.NOT_JUDGED.value}
    )
    return [f"what is not judged of {_some(clusters)}"] if clusters else []


def _unread(summary: Mapping[str, Any]) -> tuple[str, ...]:
    """Files and lines that could not be read, or that contain no events."""
    found = []
    closed = [row["file"] for row in summary["unreadable"]]
    if closed:
        found.append(f"{_some(closed)}, which could not be read (to the end)")
    quiet = [row["file"] for row in summary["silent"]]
    if quiet:
        found.append(f"{_some(quiet)}, in which nothing stands")
    rejected = sum(summary["rejected_by_reason"].values())
    if rejected:
        found.append(f"{rejected:,} lines that were not understood")
    nuls = sum(row.get("nuls") or 0 for row in summary["files"])
    if nuls:
        found.append(f"{nuls:,} places where NUL bytes stand for what was lost")
    return tuple(found)


def _left(lines: int) -> list[str]:
    return [f"{lines:,} lines of traces that were not judged"] if lines else []


def _not_compared(checked: Mapping[str, int]) -> list[str]:
    idle = [rule.name for rule in JUDGING if not checked.get(rule.name)]
    if not idle:
        return []
    return [f"{len(idle)} of {len(JUDGING)} rules had nothing to compare"]


def _some(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return " and ".join([", ".join(names[:_NAMED]), *([f"{more} more"] if more > 0 else [])])
