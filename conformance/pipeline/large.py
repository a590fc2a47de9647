"""Judges clusters too large for one task on Spark: by partition first, then as a whole.

    events -> what the whole cluster needs (`of_clusters`) ┬────────────┐
    events -> parts, each beside that -> what does not go together (`screen`) ┴-> the rules

Parts are buckets of partitions of about the same size. A partition larger than a part is cut by
time into several parts; each hands on its first and last lines, where the parts are joined again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from conformance.ingest.schema import MERGED, Event, events_of
from conformance.ingest.templates_kraft import KINDS
from conformance.pipeline import kraft
from conformance.pipeline.clocks import clocks, joined
from conformance.pipeline.cluster_evidence import (
    ANCHORS,
    BLOCK,
    FOR_CLOCKS,
    SAMPLE,
    SIGHTED,
    UNUSED,
    for_clocks,
    for_parts,
    kept_of_file,
)
from conformance.pipeline.cycles import without_cycle_collector
from conformance.pipeline.history import History
from conformance.pipeline.places import Place
from conformance.pipeline.rules import FINDINGS, OF_CLUSTERS, ONE_CLUSTER
from conformance.pipeline.session import spark_schema
from conformance.pipeline.suspect_lines import ScreenedLines, screen

if TYPE_CHECKING:
    from pyspark import Broadcast
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


def screened(
    places: Mapping[str, Place],
    releases: Mapping[str, Sequence[str]],
    evidence: Broadcast[dict[str, bytes]],
) -> Step:
    """Reduces parts to the lines that they hand on, and to counts.

    `releases` are those that a cluster's lines name, `evidence` is the result of `packed`.
    """

    def judged(table: pa.Table) -> pa.Table:
        known = _known(evidence.value, table["cluster"][0].as_py(), places)
        return screen_part(table, places, releases, "/" in table["part"][0].as_py(), known)

    def step(parts: DataFrame) -> DataFrame:
        return parts.groupBy("cluster", "part").applyInArrow(judged, schema=spark_schema(SCREENED))

    return step


@without_cycle_collector
def screen_part(
    table: pa.Table,
    places: Mapping[str, Place],
    releases: Mapping[str, Sequence[str]],
    cut: bool,
    known: History | None = None,
) -> pa.Table:
    """The lines that a part hands on, and its counts, as a table of `SCREENED`.

    `cut`: the part is a stretch of time of one partition. `known`: what is known of its cluster.
    """
    cluster = table["cluster"][0].as_py()
    partitions: dict[tuple[str, int] | None, list[Event]] = defaultdict(list)
    rows: dict[int, int] = {}
    for number, event in enumerate(events_of(table)):
        partitions[event.tp].append(event)
        rows[id(event)] = number
    found = ScreenedLines()
    for _, inside in sorted(partitions.items(), key=lambda item: str(item[0])):
        named = releases.get(cluster) or (None,)
        found.add(screen(inside, places, named, ends=cut, cluster=known))
    return pa.concat_tables([_handed(table, found, rows), _counts(cluster, found)])


def packed(evidence: pa.Table) -> dict[str, bytes]:
    """Packs the lines that whole clusters need, by cluster, to send them to every worker."""
    found = {}
    for name in evidence["cluster"].unique().to_pylist():
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, MERGED) as writer:
            rows = for_parts(evidence.filter(pc.equal(evidence["cluster"], name)))
            writer.write_table(rows.select(MERGED.names).cast(MERGED))
        found[name] = sink.getvalue().to_pybytes()
    return found


_last_known: tuple[object, str, History | None] = (None, "", None)
"""A worker's last cluster: parts of one cluster come one after another."""


def _known(
    evidence: Mapping[str, bytes], cluster: str, places: Mapping[str, Place]
) -> History | None:
    global _last_known
    if _last_known[0] is not evidence or _last_known[1] != cluster:
        some = evidence.get(cluster)
        table = MERGED.empty_table() if some is None else pa.ipc.open_stream(some).read_all()
        _last_known = evidence, cluster, known_of(table, places)
    return _last_known[2]


def known_of(evidence: pa.Table, places: Mapping[str, Place]) -> History:
    """The history that parts are judged beside: `evidence` is the result of `for_parts`."""
    return History(events_of(evidence), places)


def handed_on(screened: DataFrame) -> DataFrame:
    """The handed-on lines in the result of `screened`."""
    return screened.where(screened.what == HANDED).select(*MERGED.names)


def counts(screened: DataFrame) -> DataFrame:
    """Each rule's comparisons over all parts, as rows of `FINDINGS`."""
    from pyspark.sql import functions as f

    return (
        screened.where(screened.what != HANDED)
        .groupBy("what", "cluster", "rule")
        .agg(f.sum("count").alias("count"))
    )


def releases_by_cluster(events: DataFrame) -> DataFrame:
    """The releases that each cluster's lines name."""
    lines = events.where((events.kind == "release") & events.detail.isNotNull())
    return lines.select("cluster", lines.detail.alias("release")).distinct()


def first_times(events: DataFrame) -> DataFrame:
    """The first time of each kind that distinguishes ZooKeeper clusters from KRaft clusters."""
    from pyspark.sql import functions as f

    lines = events.where(events.kind.isin(*KINDS, *sorted(kraft.ZOOKEEPER)))
    return lines.groupBy("cluster", "kind").agg(f.min("at").alias("at"))


def before_kraft(rows: Iterable[Mapping[str, Any]]) -> Step:
    """Leaves out events after KRaft took over, by the rows of `first_times`."""
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
    """Selects the lines that the rules of a whole cluster need (`cluster_evidence`)."""
    from pyspark.sql import functions as f

    def needed(table: pa.Table) -> pa.Table:
        return kept_of_file(table.select(MERGED.names), for_clocks=False)

    loose = events.partition.isNull() & ~events.kind.isin(*UNUSED, *SIGHTED)
    rest = events.kind.isin(*SIGHTED, *ANCHORS, *UNUSED) & ~loose
    block = f.floor(events.line / BLOCK)
    kept = (
        events.where(rest)
        .groupBy("cluster", "file", block)
        .applyInArrow(needed, schema=spark_schema(MERGED))
    )
    return events.where(loose).select(*MERGED.names).unionByName(kept)


def clocks_of(events: DataFrame) -> DataFrame:
    """The offsets between clocks, from one request in `SAMPLE`, as rows of `FINDINGS`."""
    asked = events.where(events.kind.isin(*FOR_CLOCKS))
    sample = (events.correlation % SAMPLE == 0) | (events.version % SAMPLE == 0)
    return (
        asked.where(sample)
        .select(*MERGED.names)
        .groupBy("cluster")
        .applyInArrow(_clock_rows, schema=spark_schema(FINDINGS))
    )


def _clock_rows(events: pa.Table) -> pa.Table:
    return clock_rows(events, events["cluster"][0].as_py())


def clock_rows(events: pa.Table, cluster: str) -> pa.Table:
    """The offsets between the clocks of one cluster, as a table of `FINDINGS`."""
    return clock_rows_of_parts([events], cluster)


def clock_rows_of_parts(parts: Iterable[pa.Table], cluster: str) -> pa.Table:
    """The same for lines in parts; no two parts have lines of one controller epoch."""
    rows = [
        {"what": _CLOCK, "cluster": cluster, "count": clock.pairs} | asdict(clock)
        for clock in joined(clocks(events_of(for_clocks(part))) for part in parts)
    ]
    return pa.Table.from_pylist(rows, schema=FINDINGS)


def only_of_clusters(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Rows of `judge_cluster` without those that `counts` and `clocks_of` give."""
    return [
        row
        for row in rows
        if row["what"] != _CLOCK
        and (row["what"] not in (_CHECKED, _FIRED) or row["rule"] in OF_CLUSTERS)
    ]


def without_mixed(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Rows without the counts of clusters that are not judged because two lie in one folder."""
    mixed = {row["cluster"] for row in rows if row["rule"] == ONE_CLUSTER.name}
    return [row for row in rows if row["cluster"] not in mixed or row["what"] == "finding"]


def _handed(table: pa.Table, found: ScreenedLines, rows: Mapping[int, int]) -> pa.Table:
    """The lines that are handed on, of the table that they are in."""
    size = len(found.evidence)
    lines = table.select(MERGED.names).take(
        pa.array([rows[id(event)] for event in found.evidence], pa.int64())
    )
    beside = pa.array([event.beside for event in found.evidence], pa.string())
    lines = lines.set_column(MERGED.get_field_index("beside"), MERGED.field("beside"), beside)
    for number, column in enumerate((
        pa.array([HANDED] * size, pa.string()), pa.nulls(size, pa.string()),
        pa.nulls(size, pa.int64()),
    )):  # fmt: skip
        lines = lines.add_column(number, SCREENED.field(number), column)
    return lines.cast(SCREENED)


def _counts(cluster: str, found: ScreenedLines) -> pa.Table:
    rows: list[dict[str, Any]] = []
    for what, counted in ((_CHECKED, found.checked), (_FIRED, found.fired)):
        rows += [
            {"what": what, "cluster": cluster, "rule": rule, "count": count}
            for rule, count in sorted(counted.items())
        ]
    rows.append({"what": _SEQUENCES, "cluster": cluster, "count": found.sequences})
    return pa.Table.from_pylist(rows, schema=SCREENED)
