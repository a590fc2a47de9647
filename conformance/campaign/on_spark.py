"""The engine of a campaign on Spark: executors record and judge runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from conformance.campaign import run_one as one
from conformance.campaign.campaign_folder import CELLS, SMALL, TRACES, VERDICTS
from conformance.campaign.plan import CampaignPlan, CampaignRun
from conformance.campaign.run_campaign import cells_as_table
from conformance.pipeline.session import spark_schema, spark_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Step = Callable[["DataFrame"], "DataFrame"]


def record_runs(steps: int, brokers: int) -> Step:
    """Runs cells, and returns the lines of their traces."""

    def record(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for row in batch.to_pylist():
                lines = one.recorded(CampaignRun(**row), steps, brokers)
                yield pa.RecordBatch.from_pylist(lines, TRACES)

    return lambda cells: cells.mapInArrow(record, schema=spark_schema(TRACES))


def judge_runs(traces: DataFrame) -> DataFrame:
    """Judges the lines of traces, with one verdict per run."""

    def judge(table: pa.Table) -> pa.Table:
        return pa.Table.from_pylist([one.judged(table.to_pylist())], VERDICTS)

    return traces.groupBy("number").applyInArrow(judge, schema=spark_schema(VERDICTS))


def shrink_runs(steps: int, brokers: int) -> Step:
    """Shrinks broken cells to the smallest runs that break."""

    def small(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = [one.made_small(CampaignRun(**row), steps, brokers) for row in batch.to_pylist()]
            yield pa.RecordBatch.from_pylist(rows, SMALL)

    return lambda cells: cells.mapInArrow(small, schema=spark_schema(SMALL))


class SparkCampaign:
    """The steps, and the actions between them. `master` as Spark names it."""

    def __init__(self, master: str | None = None) -> None:
        self._master = master

    @cached_property
    def _session(self) -> SparkSession:
        return spark_session(self._master)

    def run(self, cells: Sequence[CampaignRun], plan: CampaignPlan, folder: Path) -> None:
        """Records and judges runs; writes the tables `traces` and `verdicts` below a folder.

        Verdicts are computed from the written traces, so they can be reproduced.
        """
        where = folder.absolute()
        traces = self._frame(cells).transform(record_runs(plan.steps, plan.brokers))
        traces.write.parquet(str(where / "traces"))
        kept = self._session.read.schema(spark_schema(TRACES)).parquet(str(where / "traces"))
        kept.transform(judge_runs).write.parquet(str(where / "verdicts"))

    def make_small(self, cells: Sequence[CampaignRun], plan: CampaignPlan) -> list[dict[str, Any]]:
        """Rows of `SMALL`, one a run, by number."""
        small = self._frame(cells).transform(shrink_runs(plan.steps, plan.brokers))
        return sorted((row.asDict() for row in small.collect()), key=lambda row: row["number"])

    def _frame(self, cells: Sequence[CampaignRun]) -> DataFrame:
        rows = cells_as_table(cells)
        slices = min(len(rows), 4 * self._session.sparkContext.defaultParallelism)
        return self._session.createDataFrame(rows, schema=spark_schema(CELLS)).repartition(slices)
