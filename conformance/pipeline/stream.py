"""Checks growing logs as a query of Spark's Structured Streaming.

    growing logs -> lines by partition -> the state of each partition -> what it hands on
                 -> what the cluster needs ----------------------------> the state of each cluster
                                                                         -> what is said

Most rules are about one partition, and run where its last lines are kept, by cluster, topic and
partition. The state of the cluster judges the owner of each controller epoch, what a restart or a
new ZooKeeper excuses, and what brokers report of each other: it has the lines of no partition, the
ends of each controller's runs, and contradictory lines that partitions hand on.

Spark's checkpoint holds how far every file was read and both kinds of state, all of the same
trigger. The report of a trigger is kept in a file named after the trigger, so that a trigger that
is repeated after a crash reports nothing twice.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from conformance.ingest.pieces import ParsedChunk
from conformance.pipeline.partitions import KeptPartition
from conformance.pipeline.session import spark_session
from conformance.pipeline.streaming_state import StreamingState
from conformance.pipeline.watch_store import ReportFinding, WatchStore, said_from_row

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.state import GroupState

STATE = "events binary, book binary"
PARTITION_STATE = "kept string"
PIECES = "cluster string, events binary, book string"
_PARTS = "spark.sql.shuffle.partitions"
_CHECK = "spark.sql.streaming.unsupportedOperationCheck"
SAID = "cluster string, said string, book string"


def watch(
    logs: str,
    store: WatchStore,
    tell: ReportFinding,
    *,
    seconds: float = 2.0,
    final: bool = False,
    release: str | None = None,
    layout: str | None = None,
    master: str | None = None,
) -> StreamingQuery:
    """Starts a query that checks the folder `logs` every so many seconds and reports findings.

    `final` treats the present content as complete, so that the query comes to an end.
    """
    from conformance.pipeline.watch_source import NAME, GrowingLogs

    session = spark_session(master)
    # As many parts of the state as tasks can run: each costs a commit at every trigger.
    slots = session.sparkContext.defaultParallelism
    before = {name: session.conf.get(name) for name in (_PARTS, _CHECK)}
    session.conf.set(_PARTS, str(slots))  # a query takes a copy when it starts
    # Spark refuses two states in a row because of time-outs and late rows, which neither has.
    session.conf.set(_CHECK, "false")
    session.dataSource.register(GrowingLogs)
    rows = (
        session.readStream.format(NAME)
        .option("folder", os.path.abspath(logs))
        .option("final", str(final).lower())
        .option("release", release or "")
        .option("layout", layout or "")
        .load()
    )

    def sink(said: DataFrame, number: int) -> None:
        found, books = [], {}
        for row in said.collect():
            books[row["cluster"]] = row["book"]
            found += [said_from_row(each) for each in json.loads(row["said"])]
        found.sort(key=lambda each: each.order)
        store.keep(number, found, books, tell)

    try:
        return (
            rows.transform(partition_state_function(release))
            .transform(judged)
            .writeStream.foreachBatch(sink)
            .option("checkpointLocation", store.checkpoint)
            .trigger(processingTime=f"{seconds} seconds")
            .start()
        )
    finally:
        for name, value in before.items():
            session.conf.set(name, value or "")


def partition_state_function(release: str | None) -> Callable[[DataFrame], DataFrame]:
    """The function that turns a partition's new lines into rows for its cluster's judgement."""

    def advance(
        key: tuple[Any, ...], frames: Iterator[pd.DataFrame], state: GroupState
    ) -> Iterator[pd.DataFrame]:
        import pandas as pd

        cluster, topic, _ = key
        if not topic:
            for frame in frames:
                yield frame[["cluster", "events", "book"]]
            return
        partition = KeptPartition.unpacked(*state.get) if state.exists else KeptPartition()
        rows = [(row.events, row.book) for frame in frames for row in frame.itertuples()]
        handed = partition.advance(cluster, rows, release).packed()
        state.update((partition.packed(),))
        yield pd.DataFrame([handed], columns=["cluster", "events", "book"])

    def step(rows: DataFrame) -> DataFrame:
        from pyspark.sql import functions

        pieces = rows.groupBy("cluster", "topic", "partition").applyInPandasWithState(
            advance, PIECES, PARTITION_STATE, outputMode="append", timeoutConf="NoTimeout"
        )
        # Rows of a state's making are no rows to be shuffled; a projection makes them such.
        cluster = functions.coalesce("cluster", functions.lit("")).alias("cluster")
        return pieces.select(cluster, "events", "book")

    return step


def judged(pieces: DataFrame) -> DataFrame:
    """Converts pieces to the reports of each cluster, whose state is in the state store."""
    return pieces.groupBy("cluster").applyInPandasWithState(
        _advance, SAID, STATE, outputMode="append", timeoutConf="NoTimeout"
    )


def _advance(
    key: tuple[Any, ...], frames: Iterator[pd.DataFrame], state: GroupState
) -> Iterator[pd.DataFrame]:
    import pandas as pd

    (cluster,) = key
    streaming = StreamingState.unpacked(*state.get) if state.exists else StreamingState(cluster)
    pieces = [
        ParsedChunk.unpacked(cluster, row.events, row.book)
        for frame in frames
        for row in frame.itertuples()
    ]
    said = streaming.advance(pieces)
    events, book = streaming.packed()
    state.update((events, book))
    words = json.dumps([each.as_row() for each in said])
    yield pd.DataFrame({"cluster": [cluster], "said": [words], "book": [book.decode()]})
