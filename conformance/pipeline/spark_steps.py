"""The pipeline's steps in Spark: `DataFrame -> DataFrame`, joined by `.transform`.

    logs.transform(read_lines(None)).transform(only_events).transform(merge(...))

Python code runs where a line or a cluster has to be interpreted, in Arrow batches; the rest is
Spark's own. No step collects.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import pyarrow as pa

from conformance.ingest.dialects import NOTE
from conformance.ingest.parse import batches, parsed_file
from conformance.ingest.schema import (
    EVENT,
    EVENTS,
    FILE,
    FILES,
    LINES,
    MERGED,
    REJECTED,
    REJECTS,
)
from conformance.pipeline.kernels import judge_cluster
from conformance.pipeline.places import Place
from conformance.pipeline.repeats import merge_repeats
from conformance.pipeline.rules import FINDINGS
from conformance.pipeline.session import spark_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Step = Callable[["DataFrame"], "DataFrame"]


def read_lines(release: str | None, layout: str | None = None) -> Step:
    """Converts files (one row each, as `LogFile`) to the rows of their lines."""

    def parse(files: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        gc.disable()  # as in `without_cycle_collector`; a worker goes when its session ends
        return batches(
            row
            for batch in files
            for log in batch.to_pylist()
            for row in parsed_file(log["cluster"], log["name"], log["path"], release, layout)
        )

    return lambda logs: logs.mapInArrow(parse, schema=spark_schema(LINES))


def only_events(lines: DataFrame) -> DataFrame:
    """Selects the lines that were understood."""
    return lines.where(lines.what == EVENT).select(*EVENTS.names)


def only_rejected(lines: DataFrame) -> DataFrame:
    """Selects the lines that were not understood, each with its reason."""
    return lines.where(lines.what == REJECTED).select(*REJECTS.names)


def only_files(lines: DataFrame) -> DataFrame:
    """Selects one row per file, with its counts."""
    return lines.where(lines.what == FILE).select(*FILES.names)


def merge(owners: Mapping[str, int | None], folders: Mapping[str, str], buckets: int = 8) -> Step:
    """Merges repeated lines to one event. Equal lines share a bucket, whichever their file."""

    def merged(table: pa.Table) -> pa.Table:
        return merge_repeats(table, owners, folders)

    def step(events: DataFrame) -> DataFrame:
        from pyspark.sql import functions

        bucket = functions.pmod(events.digest, functions.lit(buckets))
        return events.groupBy(bucket).applyInArrow(merged, schema=spark_schema(MERGED))

    return step


def protocol_events_only(events: DataFrame) -> DataFrame:
    """Selects the events of the protocol."""
    return events.where(events.kind != NOTE)


def apply_rules(places: Mapping[str, Place], reduced: bool = False) -> Step:
    """Converts events to findings, one cluster at a time; `reduced`: of the handed-on lines."""

    def judged(table: pa.Table) -> pa.Table:
        return judge_cluster(table, places, reduced, marked=reduced)

    return lambda events: events.groupBy("cluster").applyInArrow(
        judged, schema=spark_schema(FINDINGS)
    )


def count_lines(lines: DataFrame) -> DataFrame:
    """Counts events by kind; rejected lines by cluster, reason and shape, with the first place."""
    from pyspark.sql import functions as f

    shapes = ("cluster", "reason", "template")
    keys = [f.when(lines.what == REJECTED, lines[name]).alias(name) for name in shapes]
    first = f.min(f.struct("file", "line")).alias("first")
    counted = lines.where(lines.what != FILE).groupBy("what", "kind", *keys)
    return counted.agg(f.count("*").alias("count"), first)


def count_clusters(events: DataFrame) -> DataFrame:
    """Counts lines by cluster."""
    return events.groupBy("cluster").count()
