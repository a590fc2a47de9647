"""The engine on Spark: reads files and judges clusters in parallel."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from conformance.ingest.files import LogSources
from conformance.ingest.schema import EVENT
from conformance.pipeline import large as large_
from conformance.pipeline import spark_steps, store
from conformance.pipeline.corpus import Corpus, Figures, JudgedCorpus, UnknownShape
from conformance.pipeline.kernels import judged_of
from conformance.pipeline.places import Place, owners_of, places_of
from conformance.pipeline.session import SHUFFLED, in_brief, spark_session
from conformance.pipeline.store import size_of, text_bytes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_LOGS = pa.schema(
    {
        **dict.fromkeys(("cluster", "name", "path", "folder", "stream"), pa.string()),
        "roll": pa.int32(),
        "gap_before": pa.bool_(),
    }
)
_FEW = 32 << 20  # bytes of text that are read in less time than Java takes to compile well
_BUCKET = 64 << 20  # bytes of text whose lines are merged together by two Python calls


class SparkEngine:
    """Runs the steps of `spark_steps` and `large`, and the actions between them, on `master`.

    A cluster of more than `whole` events is judged in parts.
    """

    def __init__(self, master: str | None = None, whole: int = large_.WHOLE) -> None:
        self._master, self.whole = master, whole

    @cached_property
    def _session(self) -> SparkSession:
        return spark_session(self._master)

    def ingest(self, found: LogSources, release: str | None, layout: str | None = None) -> Corpus:
        """Read and merge the lines of the logs that were found."""
        text = sum(text_bytes(log.path) for log in found.logs)
        session = spark_session(self._master, brief=text <= _FEW)
        in_brief(session, text <= _FEW)
        session.sparkContext.setJobDescription("read: files")
        rows = [asdict(log) for log in found.logs]
        # Large files first, so that the last task is a short one.
        rows.sort(key=lambda row: (-size_of(row["path"]), row["name"]))
        buckets = self._tasks(text // _BUCKET)
        slices = min(len(rows), 4 * session.sparkContext.defaultParallelism) or 1
        table = pa.Table.from_pylist(rows, schema=_LOGS)
        files_frame = session.createDataFrame(table).repartition(slices)
        lines = files_frame.transform(spark_steps.read_lines(release, layout)).persist()
        files = [row.asDict() for row in lines.transform(spark_steps.only_files).collect()]
        files.sort(key=lambda row: row["file"])
        rows.sort(key=lambda row: (row["cluster"], row["stream"], row["roll"]))
        folders = {row["name"]: row["folder"] for row in rows}
        parsed = lines.transform(spark_steps.only_events)
        events = parsed.transform(
            spark_steps.merge(owners_of(rows, files), folders, 2 * buckets)
        ).persist()
        rejected = lines.transform(spark_steps.only_rejected)
        kinds, unknown = _counted(lines)
        figures = Figures(kinds, events.count(), unknown)
        return Corpus(rows, files, events, rejected, figures, found.skipped, found.closed)

    def _tasks(self, wanted: int) -> int:
        """The number of tasks after a shuffle, at least as many as the session was made with."""
        number = max(wanted, SHUFFLED)
        self._session.conf.set("spark.sql.shuffle.partitions", str(number))
        return number

    def save(self, corpus: Corpus, folder: str) -> None:
        """Write the tables `events` and `rejected` as Parquet into an empty folder."""
        for name, frame in (("events", corpus.events), ("rejected", corpus.rejected)):
            frame.write.parquet(os.path.join(os.path.abspath(folder), name))

    def load(self, folder: str) -> Corpus:
        """Read what `save` (of any engine) and `store.keep` have written."""
        corpus = store.kept(folder)
        read = self._session.read.parquet
        corpus.events = read(os.path.join(os.path.abspath(folder), "events"))
        corpus.rejected = read(os.path.join(os.path.abspath(folder), "rejected"))
        return corpus

    def judge(self, corpus: Corpus) -> JudgedCorpus:
        """Applies every rule to every cluster; judges clusters too large for one task in parts."""
        context = self._session.sparkContext
        context.setJobDescription("check: sizes")
        places = places_of(corpus.logs, corpus.files)
        events = corpus.events.transform(spark_steps.protocol_events_only)
        sizes = {row[0]: row[1] for row in events.transform(spark_steps.count_clusters).collect()}
        large = sorted(name for name, size in sizes.items() if size > self.whole)
        small = events if not large else events.where(~events.cluster.isin(large))
        found: list[Mapping[str, Any]] = []
        if len(large) < len(sizes):
            context.setJobDescription("check: clusters")
            judged = small.transform(spark_steps.apply_rules(places))
            found += [row.asDict() for row in judged.collect()]
        if large:
            events = events.where(events.cluster.isin(large))
            total = sum(sizes[name] for name in large)
            parts = -(-total // large_.PART)
            self._tasks(parts)
            found += self._in_parts(events, places, parts)
        return judged_of(found)

    def _in_parts(
        self, events: DataFrame, places: Mapping[str, Place], buckets: int
    ) -> list[Mapping[str, Any]]:
        """The rows of `judge_cluster`, for clusters of which a task holds only a part."""
        context = self._session.sparkContext
        context.setJobDescription("check: where KRaft begins")
        events = events.transform(
            large_.before_kraft(
                row.asDict() for row in events.transform(large_.first_times).collect()
            )
        )
        context.setJobDescription("check: the largest partitions")
        cuts = events.transform(large_.heavy).persist()
        cuts.count()
        releases: dict[str, list[str]] = {}
        for row in events.transform(large_.releases_by_cluster).collect():
            releases.setdefault(row["cluster"], []).append(row["release"])
        context.setJobDescription("check: partitions")
        rest = events.transform(large_.of_clusters).persist()
        evidence = context.broadcast(large_.packed(rest.toArrow()))
        parts = events.transform(large_.in_parts(cuts, buckets))
        screened = parts.transform(large_.screened(places, releases, evidence)).persist()
        found: list[Mapping[str, Any]] = []
        found += [row.asDict() for row in screened.transform(large_.counts).collect()]
        context.setJobDescription("check: clusters")
        place = ["cluster", "file", "line"]
        handed = screened.transform(large_.handed_on).dropDuplicates(place)
        # A line that was handed on says what it does not go with, so it is taken as that.
        others = rest.join(handed.select(*place), place, "left_anti")
        reduced = others.select(*handed.columns).unionByName(handed)
        judged = reduced.transform(spark_steps.apply_rules(places, reduced=True)).collect()
        found += large_.only_of_clusters(row.asDict() for row in judged)
        context.setJobDescription("check: clocks")
        found += [row.asDict() for row in events.transform(large_.clocks_of).collect()]
        for frame in (screened, rest, cuts):
            frame.unpersist()
        evidence.unpersist()
        return large_.without_mixed(found)


def _counted(lines: DataFrame) -> tuple[Counter[str], list[UnknownShape]]:
    """Counts lines by kind, and rejected lines by shape, in one pass."""
    kinds: Counter[str] = Counter()
    unknown = []
    for row in lines.transform(spark_steps.count_lines).collect():
        if row["what"] == EVENT:
            kinds[row["kind"]] += row["count"]
        else:
            first = row["first"]["file"], row["first"]["line"]
            place = row["cluster"], row["reason"], row["template"]
            unknown.append(UnknownShape(*place, row["count"], *first))
    unknown.sort(key=lambda each: (each.cluster, each.reason, each.template))
    return kinds, unknown
