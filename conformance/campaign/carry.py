"""Carries out a campaign, part by part; parts that are done already are skipped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from conformance.campaign.kept import Folder
from conformance.campaign.plan import CampaignPlan, CampaignRun

PART = 128
"""Runs a part: what an interruption costs at most."""


class CampaignEngine(Protocol):
    """Where runs are made."""

    def run(self, cells: Sequence[CampaignRun], plan: CampaignPlan, folder: Path) -> None:
        """Records and judges runs; writes the tables `traces` and `verdicts` below a folder."""

    def make_small(self, cells: Sequence[CampaignRun], plan: CampaignPlan) -> list[dict[str, Any]]:
        """Rows of `SMALL`, one a run."""


def carry_out(
    plan: CampaignPlan,
    folder: Folder,
    engine: CampaignEngine,
    on_progress: Callable[[int], None] = lambda _: None,
) -> list[dict[str, Any]]:
    """Every verdict of the plan, by number; `on_progress` hears how many runs are done."""
    left = plan.cells()
    while cells := tuple(islice(left, PART)):

        def make(where: Path, cells: tuple[CampaignRun, ...] = cells) -> None:
            engine.run(cells, plan, where)

        folder.part(cells[0].number, make)
        on_progress(cells[-1].number + 1)
    return folder.verdicts()
