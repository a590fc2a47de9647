"""The engine of a campaign in this process, without Spark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from conformance.campaign import cells as one
from conformance.campaign.plan import CampaignPlan, CampaignRun
from conformance.campaign.schema import TRACES, VERDICTS


class LocalCampaign:
    """One run after the other."""

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
