"""Runs one level of a distributed search on Spark: frontier -> candidates -> new states.

Each level has one shuffle, by owner. A row is a block of states, so that Spark only moves bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from conformance.distributed import task
from conformance.distributed.segments import Segments
from conformance.distributed.task import ExplorationTask, OpenClaims
from conformance.pipeline.session import spark_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FRONTIER = pa.schema([("shard", pa.int32())])
CANDIDATES = pa.schema([("shard", pa.int32()), ("block", pa.binary())])
MERGED = pa.schema(
    [
        ("shard", pa.int32()),
        ("states", pa.int64()),
        ("file", pa.string()),
        ("settled", pa.decimal128(20)),
        ("stats", pa.string()),
    ]
)
"""One row a shard that was sent something, and one with the counts; `settled` has a bit a claim."""

Step = Callable[["DataFrame"], "DataFrame"]


def expand(question: ExplorationTask, segments: Segments, level: int, asked: OpenClaims) -> Step:
    """Expands shards to the successors of the states that a level has found there."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for shard in batch.column(0).to_pylist():
                states = segments.level(shard, level)
                if states is None:
                    continue
                for owner, block in task.expanded(question, states, asked):
                    row = {"shard": owner, "block": block}
                    yield pa.RecordBatch.from_pylist([row], CANDIDATES)

    return lambda shards: shards.mapInArrow(run, schema=spark_schema(CANDIDATES))


def merge(question: ExplorationTask, segments: Segments, asked: OpenClaims) -> Step:
    """Reduces candidates to new states, which their owners write; also sums the counts."""

    def run(key: tuple[pa.Scalar, ...], table: pa.Table) -> pa.Table:
        shard, blocks = key[0].as_py(), table.column("block").to_pylist()
        if shard == task.STATS:
            row = {"shard": shard, "states": 0, "file": "", "settled": 0,
                   "stats": task.sum_counts(blocks)}  # fmt: skip
        else:
            row = task.merged(question, segments, shard, blocks, asked)
        return pa.Table.from_pylist([row], MERGED)

    return lambda candidates: candidates.groupBy("shard").applyInArrow(
        run, schema=spark_schema(MERGED)
    )
