"""The same judgement over logs as they grow: a query of Structured Streaming.

    growing logs -> pieces -> the state of each cluster in the state store -> what is said

Spark's checkpoint holds how far every file was read and every cluster's state, both of the same
trigger. What a trigger said is kept in a file named after it, so that a trigger which is done
again after a crash says nothing twice.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from conformance.ingest.pieces import Piece
from conformance.pipeline.session import spark_session
from conformance.pipeline.standing import Standing
from conformance.pipeline.told import Tell, Told, said_of

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.state import GroupState

STATE = "events binary, book binary"
_PARTS = "spark.sql.shuffle.partitions"
SAID = "cluster string, said string, book string"


def watch(
    logs: str,
    told: Told,
    tell: Tell,
    *,
    seconds: float = 2.0,
    final: bool = False,
    release: str | None = None,
    master: str | None = None,
) -> StreamingQuery:
    """Start a query that tells what it finds in the folder `logs`, every so many seconds.

    `final` takes what is there as all that will be, so that the query comes to rest.
    """
    from conformance.pipeline.watch_source import NAME, GrowingLogs

    session = spark_session(master)
    # As many parts of the state as tasks can run: each costs a commit at every trigger.
    slots = session.sparkContext.defaultParallelism
    before = session.conf.get(_PARTS)
    session.conf.set(_PARTS, str(slots))  # a query takes a copy when it starts
    session.dataSource.register(GrowingLogs)
    rows = (
        session.readStream.format(NAME)
        .option("folder", os.path.abspath(logs))
        .option("final", str(final).lower())
        .option("release", release or "")
        .load()
    )

    def sink(said: DataFrame, number: int) -> None:
        found, books = [], {}
        for row in said.collect():
            books[row["cluster"]] = row["book"]
            found += [said_of(each) for each in json.loads(row["said"])]
        found.sort(key=lambda each: each.order)
        told.keep(number, found, books, tell)

    try:
        return (
            rows.transform(judged)
            .writeStream.foreachBatch(sink)
            .option("checkpointLocation", told.checkpoint)
            .trigger(processingTime=f"{seconds} seconds")
            .start()
        )
    finally:
        session.conf.set(_PARTS, before or "4")


def judged(pieces: DataFrame) -> DataFrame:
    """Pieces to what is said of each cluster, whose state is in the state store."""
    return pieces.groupBy("cluster").applyInPandasWithState(
        _advance, SAID, STATE, outputMode="append", timeoutConf="NoTimeout"
    )


def _advance(
    key: tuple[Any, ...], frames: Iterator[pd.DataFrame], state: GroupState
) -> Iterator[pd.DataFrame]:
    import pandas as pd

    (cluster,) = key
    standing = Standing.unpacked(*state.get) if state.exists else Standing(cluster)
    pieces = [
        Piece.unpacked(cluster, row.events, row.book)
        for frame in frames
        for row in frame.itertuples()
    ]
    said = standing.advance(pieces)
    events, book = standing.packed()
    state.update((events, book))
    words = json.dumps([each.as_row() for each in said])
    yield pd.DataFrame({"cluster": [cluster], "said": [words], "book": [book.decode()]})
