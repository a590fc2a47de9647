"""The verdict of a check, by stated rules, with everything that it does not cover.

- `broken`: a line of which no completion of the logs obeys the protocol (`findings.BREAKS`).
- `not checked`: nothing was compared.
- `unknown`: a value went back, or a step has no place, and lines that could tell why may be
  missing; too few lines were understood; or a file could not be read (to its end), so that what
  was asked was not all looked at.
- `holds`: else. Whatever was left out of it is named in the same sentence: rules for which there
  was nothing to compare, lines that could not be read, files that say nothing, what is not judged.
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
    """A verdict and the sentence around it. `exceptions` is what it does not mention."""

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

    `checked` says how often each rule compared, `summary` is `report.ingest_summary`'s, `traces`
    the verdict and the lines of each; `left` of their lines were not judged.
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
    """Every rule: how often it compared, and what lines it would need where it never did."""
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
    """Files and lines that could not be read, or that say nothing."""
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
