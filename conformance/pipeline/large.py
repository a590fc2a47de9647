"""Clusters too large for one task, as steps in Spark: partition by partition, then what stays.

    events -> parts -> what each part hands on (`screen`) ┐
    events -> what the whole cluster needs (`sightings`)  ┴-> the rules, one cluster at a time

Parts are buckets of partitions of about the same size; a partition that is larger than a part is
cut by time into several, and each hands on its ends, where the parts are joined again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from conformance.ingest.schema import MERGED, Event, events_of
from conformance.ingest.templates_kraft import KINDS
from conformance.pipeline import kraft
from conformance.pipeline.clocks import clocks
from conformance.pipeline.cluster_evidence import (
    ANCHORS,
    BLOCK,
    FOR_CLOCKS,
    SAMPLE,
    SIGHTED,
    UNUSED,
    for_clocks,
    kept_of_file,
)
from conformance.pipeline.cycles import few_cycles
from conformance.pipeline.findings import FINDINGS, OF_CLUSTERS
from conformance.pipeline.places import Place
from conformance.pipeline.screen import Screened, screen

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Step = Callable[["DataFrame"], "DataFrame"]
PART = 50_000  # events that one task judges together
WHOLE = 300_000  # events of a cluster that one task judges as a whole
_CUTS = 200  # parts of one partition at most
HANDED, _CHECKED, _FIRED, _SEQUENCES = "handed on", "checked", "fired", "sequences"
_CLOCK = "clock"

SCREENED = pa.schema(
    [pa.field("what", pa.string()), pa.field("rule", pa.string()), pa.field("count", pa.int64()),
     *MERGED]
)  # fmt: skip
"""Lines that are handed on, and counts by rule of what was looked at."""


def heavy(events: DataFrame) -> DataFrame:
    """Partitions larger than a part, each with the times at which to cut it."""
    from pyspark.sql import functions as f

    shares = [n / _CUTS for n in range(1, _CUTS)]
    return (
        events.where(events.partition.isNotNull())
        .groupBy("cluster", "topic", "partition")
        .agg(f.count("*").alias("size"), f.percentile_approx("at", shares).alias("cuts"))
        .where(f.col("size") > PART)
    )


def in_parts(cuts: DataFrame, buckets: int) -> Step:
    """Add the column `part`: a bucket of partitions, or a stretch of time of a `heavy` one."""

    def step(events: DataFrame) -> DataFrame:
        from pyspark.sql import functions as f

        keys = ["cluster", "topic", "partition"]
        lines = events.where(events.partition.isNotNull())
        joined = lines.join(f.broadcast(cuts), keys, "left")
        every = f.ceil(f.lit(_CUTS) * PART / f.col("size"))
        cut = f.floor(f.size(f.filter("cuts", lambda time: time <= joined.at)) / every)
        name = f.concat_ws("/", "topic", "partition", cut.cast("string"))
        bucket = f.pmod(f.xxhash64("topic", "partition"), f.lit(buckets)).cast("string")
        part = f.when(f.col("size").isNull(), bucket).otherwise(name)
        return joined.withColumn("part", part).drop("size", "cuts")

    return step


def screened(places: Mapping[str, Place], releases: Mapping[str, Sequence[str]]) -> Step:
    """Parts to what they hand on, and to counts. `releases` are those that a cluster tells of."""

    def judged(table: pa.Table) -> pa.Table:
        return screen_part(table, places, releases, cut="/" in table["part"][0].as_py())

    def step(parts: DataFrame) -> DataFrame:
        return parts.groupBy("cluster", "part").applyInArrow(judged, schema=_spark(SCREENED))

    return step


@few_cycles
def screen_part(
    table: pa.Table,
    places: Mapping[str, Place],
    releases: Mapping[str, Sequence[str]],
    cut: bool,
) -> pa.Table:
    """What a part hands on, and counts, as a table of `SCREENED`.

    `cut`: it is a stretch of time of one partition.
    """
    cluster = table["cluster"][0].as_py()
    partitions: dict[tuple[str, int] | None, list[Event]] = defaultdict(list)
    for event in events_of(table):
        partitions[event.tp].append(event)
    found = Screened()
    for _, inside in sorted(partitions.items(), key=lambda item: str(item[0])):
        found.add(screen(inside, places, releases.get(cluster) or (None,), ends=cut))
    return _table(cluster, found)


def handed_on(screened: DataFrame) -> DataFrame:
    """The lines among what `screened` has given."""
    return screened.where(screened.what == HANDED).select(*MERGED.names)


def counts(screened: DataFrame) -> DataFrame:
    """How often each rule looked, over all parts, as rows of `FINDINGS`."""
    from pyspark.sql import functions as f

    return (
        screened.where(screened.what != HANDED)
        .groupBy("what", "cluster", "rule")
        .agg(f.sum("count").alias("count"))
    )


def releases(events: DataFrame) -> DataFrame:
    """The releases that each cluster's lines tell of."""
    told = events.where((events.kind == "release") & events.detail.isNotNull())
    return told.select("cluster", told.detail.alias("release")).distinct()


def first_times(events: DataFrame) -> DataFrame:
    """The first time of each kind by which ZooKeeper's clusters and KRaft's are told apart."""
    from pyspark.sql import functions as f

    told = events.where(events.kind.isin(*KINDS, *sorted(kraft.ZOOKEEPER)))
    return told.groupBy("cluster", "kind").agg(f.min("at").alias("at"))


def before_kraft(rows: Iterable[Mapping[str, Any]]) -> Step:
    """Leave out what comes after KRaft took over, by the rows of `first_times`."""
    first: dict[str, dict[str, int]] = defaultdict(dict)
    for row in rows:
        first[row["cluster"]][row["kind"]] = row["at"]
    until = {name: kraft.cutoff(times) for name, times in first.items()}
    ends = {name: at for name, at in until.items() if at is not None}

    def step(events: DataFrame) -> DataFrame:
        for name, at in sorted(ends.items()):
            known = events.kind.isin(*KINDS)
            events = events.where((events.cluster != name) | (events.at < at) | known)
        return events

    return step


def of_clusters(events: DataFrame) -> DataFrame:
    """What the rules of a whole cluster need of its lines (`sightings`)."""
    from pyspark.sql import functions as f

    def needed(table: pa.Table) -> pa.Table:
        return kept_of_file(table.select(MERGED.names))

    loose = events.partition.isNull() & ~events.kind.isin(*UNUSED, *SIGHTED)
    rest = events.kind.isin(*SIGHTED, *ANCHORS, *UNUSED) & ~loose
    block = f.floor(events.line / BLOCK)
    kept = (
        events.where(rest)
        .groupBy("cluster", "file", block)
        .applyInArrow(needed, schema=_spark(MERGED))
    )
    return events.where(loose).select(*MERGED.names).unionByName(kept)


def clocks_of(events: DataFrame) -> DataFrame:
    """How far clocks are apart, from one request in `SAMPLE`, as rows of `FINDINGS`."""
    asked = events.where(events.kind.isin(*FOR_CLOCKS))
    sample = (events.correlation % SAMPLE == 0) | (events.version % SAMPLE == 0)
    return (
        asked.where(sample)
        .select(*MERGED.names)
        .groupBy("cluster")
        .applyInArrow(_clock_rows, schema=_spark(FINDINGS))
    )


def _clock_rows(events: pa.Table) -> pa.Table:
    return clock_rows(events, events["cluster"][0].as_py())


def clock_rows(events: pa.Table, cluster: str) -> pa.Table:
    """How far clocks of one cluster are apart, as a table of `FINDINGS`."""
    rows = [
        {"what": _CLOCK, "cluster": cluster, "count": clock.pairs} | asdict(clock)
        for clock in clocks(events_of(for_clocks(events)))
    ]
    return pa.Table.from_pylist(rows, schema=FINDINGS)


def only_of_clusters(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Rows of `judge_cluster` without what `counts` and `clocks_of` have."""
    return [
        row
        for row in rows
        if row["what"] != _CLOCK
        and (row["what"] not in (_CHECKED, _FIRED) or row["rule"] in OF_CLUSTERS)
    ]


def _table(cluster: str, found: Screened) -> pa.Table:
    rows: list[dict[str, Any]] = [
        {"what": HANDED} | {name: getattr(event, name, 1) for name in MERGED.names}
        for event in found.evidence
    ]
    for what, counted in ((_CHECKED, found.checked), (_FIRED, found.fired)):
        rows += [
            {"what": what, "cluster": cluster, "rule": rule, "count": count}
            for rule, count in sorted(counted.items())
        ]
    rows.append({"what": _SEQUENCES, "cluster": cluster, "count": found.sequences})
    return pa.Table.from_pylist(rows, schema=SCREENED)


def _spark(schema: pa.Schema) -> Any:
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)
