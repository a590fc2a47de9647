"""The engine on Spark: files are read in parallel, clusters are judged in parallel."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import asdict
from functools import cached_property
from typing import TYPE_CHECKING

from conformance.ingest.files import Found
from conformance.pipeline import steps, store
from conformance.pipeline.corpus import Corpus, Figures, Judged, Unknown
from conformance.pipeline.kernels import judged_of
from conformance.pipeline.places import owners_of, places_of
from conformance.pipeline.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_LOGS = (
    "cluster string, name string, path string, folder string, stream string, roll int, "
    "gap_before boolean"
)


class SparkEngine:
    """Steps of `steps`, and the actions between them. `master` as Spark names it."""

    def __init__(self, master: str | None = None) -> None:
        self._master = master

    @cached_property
    def _session(self) -> SparkSession:
        return spark_session(self._master)

    def ingest(self, found: Found, release: str | None) -> Corpus:
        """Read and merge the lines of the logs that were found."""
        rows = [asdict(log) for log in found.logs]
        # Large files first, so that the last task is a short one.
        rows.sort(key=lambda row: (-_size(row["path"]), row["name"]))
        slices = min(len(rows), 4 * self._session.sparkContext.defaultParallelism) or 1
        files_frame = self._session.createDataFrame(rows, schema=_LOGS).repartition(slices)
        lines = files_frame.transform(steps.read_lines(release)).persist()
        files = [row.asDict() for row in lines.transform(steps.only_files).collect()]
        files.sort(key=lambda row: row["file"])
        rows.sort(key=lambda row: (row["cluster"], row["stream"], row["roll"]))
        folders = {row["name"]: row["folder"] for row in rows}
        parsed = lines.transform(steps.only_events)
        events = parsed.transform(steps.merge(owners_of(rows, files), folders)).persist()
        rejected = lines.transform(steps.only_rejected)
        figures = Figures(
            Counter({row[0]: row[1] for row in parsed.transform(steps.count_kinds).collect()}),
            events.count(),
            _unknown(rejected),
        )
        return Corpus(rows, files, events, rejected, figures, found.skipped, found.closed)

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

    def judge(self, corpus: Corpus) -> Judged:
        """Apply every rule to every cluster."""
        places = places_of(corpus.logs, corpus.files)
        found = corpus.events.transform(steps.without_notes).transform(steps.apply_rules(places))
        return judged_of(row.asDict() for row in found.collect())


def _unknown(rejected: DataFrame) -> list[Unknown]:
    return [
        Unknown(
            row["cluster"],
            row["reason"],
            row["template"],
            row["count"],
            row["first"]["file"],
            row["first"]["line"],
        )
        for row in rejected.transform(steps.count_unknown).collect()
    ]


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0
