"""Carries out a campaign, part by part; parts that are done already are skipped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import groupby, islice
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
from pyarrow import parquet

from conformance.campaign import run_one as one
from conformance.campaign.campaign_folder import TRACES, VERDICTS, CampaignFolder
from conformance.campaign.plan import CampaignPlan, CampaignRun

PART = 128
"""Runs a part: what an interruption costs at most."""


class CampaignEngine(Protocol):
    """Makes the runs: on this machine, or on Spark."""

    def run(self, cells: Sequence[CampaignRun], plan: CampaignPlan, folder: Path) -> None:
        """Records and judges runs; writes the tables `traces` and `verdicts` below a folder."""

    def make_small(self, cells: Sequence[CampaignRun], plan: CampaignPlan) -> list[dict[str, Any]]:
        """Rows of `SMALL`, one a run."""


def run_whole_campaign(
    plan: CampaignPlan,
    folder: CampaignFolder,
    engine: CampaignEngine,
    on_progress: Callable[[int], None] = lambda _: None,
) -> list[dict[str, Any]]:
    """Every verdict of the plan, by number; `on_progress` gets the number of finished runs."""
    left = plan.cells()
    while cells := tuple(islice(left, PART)):

        def make(where: Path, cells: tuple[CampaignRun, ...] = cells) -> None:
            engine.run(cells, plan, where)

        folder.make_part(cells[0].number, make)
        on_progress(cells[-1].number + 1)
    return folder.verdicts()


class LocalCampaign:
    """One run after the other, in this process, without Spark."""

    def run(self, cells: Sequence[CampaignRun], plan: CampaignPlan, folder: Path) -> None:
        """Records and judges runs; writes the tables `traces` and `verdicts` below a folder."""
        rows = [row for cell in cells for row in one.recorded(cell, plan.steps, plan.brokers)]
        _write(pa.Table.from_pylist(rows, TRACES), folder / "traces")
        verdicts = [
            one.judged(list(lines)) for _, lines in groupby(rows, lambda row: row["number"])
        ]
        _write(pa.Table.from_pylist(verdicts, VERDICTS), folder / "verdicts")

    def make_small(self, cells: Sequence[CampaignRun], plan: CampaignPlan) -> list[dict[str, Any]]:
        """Rows of `SMALL`, one a run."""
        return [one.made_small(cell, plan.steps, plan.brokers) for cell in cells]


def cells_as_table(cells: Sequence[CampaignRun]) -> list[dict[str, Any]]:
    """Rows of `CELLS`."""
    return [asdict(cell) for cell in cells]


def _write(table: pa.Table, folder: Path) -> None:
    folder.mkdir(parents=True)
    parquet.write_table(table, folder / "part-0.parquet")
