"""The table of a campaign: one row per fault profile and planted bug."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, ClassVar

from conformance.campaign.plan import CampaignRun
from specs.rendering import HIDDEN, parts
from specs.verdict import Verdict, combine


@dataclass(frozen=True)
class SummaryLine:
    """The runs of one profile with one bug; `run` is the broken one of the lowest seed, `first`."""

    ALSO: ClassVar = parts("first")

    planted: str
    profile: str
    verdict: Verdict
    runs: int
    events: int
    broken: int
    not_checked: int
    run: CampaignRun | None = field(metadata=HIDDEN)
    why: str | None

    @property
    def first(self) -> int | None:
        """Its seed."""
        return self.run.seed if self.run else None


def summary(verdicts: Iterable[dict[str, Any]]) -> list[SummaryLine]:
    """The lines, in the order of the plan."""
    kinds = groupby(verdicts, lambda row: (row["planted"], row["profile"]))
    return [_line(planted, profile, list(rows)) for (planted, profile), rows in kinds]


def _line(planted: str, profile: str, rows: list[dict[str, Any]]) -> SummaryLine:
    broken = [row for row in rows if row["verdict"] == str(Verdict.BROKEN)]
    first = broken[0] if broken else None
    return SummaryLine(
        planted,
        profile,
        combine(Verdict(row["verdict"]) for row in rows),
        len(rows),
        sum(row["events"] for row in rows),
        len(broken),
        sum(row["verdict"] == str(Verdict.NOT_CHECKED) for row in rows),
        CampaignRun(**{name: first[name] for name in CampaignRun.__dataclass_fields__})
        if first
        else None,
        f"line {first['line']}: {first['why']}" if first else None,
    )
