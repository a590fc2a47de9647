"""The engine without Spark: the same plain functions, one file and one cluster after another."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from conformance.ingest.dialects import NOTE
from conformance.ingest.files import Found, LogFile
from conformance.ingest.parse import batches, rows_of_file
from conformance.ingest.schema import EVENT, EVENTS, FILE, FILES, LINES, REJECTED, REJECTS
from conformance.pipeline import store
from conformance.pipeline.corpus import Corpus, Figures, Judged, Unknown
from conformance.pipeline.kernels import judge_cluster, judged_of
from conformance.pipeline.places import owners_of, places_of
from conformance.pipeline.repeats import merge_repeats


class LocalEngine:
    """One process, Arrow tables in memory."""

    def ingest(self, found: Found, release: str | None, layout: str | None = None) -> Corpus:
        """Read and merge the lines of the logs that were found."""
        rows = [asdict(log) for log in found.logs]
        lines = pa.Table.from_batches(_read(found.logs, release, layout), schema=LINES)
        files = _only(lines, FILE, FILES.names).to_pylist()
        folders = {row["name"]: row["folder"] for row in rows}
        parsed = _only(lines, EVENT, EVENTS.names)
        rejected = _only(lines, REJECTED, REJECTS.names)
        del lines
        kinds = Counter(
            {each["values"]: each["counts"] for each in pc.value_counts(parsed["kind"]).to_pylist()}
        )
        events = merge_repeats(parsed, owners_of(rows, files), folders)
        figures = Figures(kinds, events.num_rows, _unknown(rejected))
        return Corpus(rows, files, events, rejected, figures, found.skipped, found.closed)

    def save(self, corpus: Corpus, folder: str) -> None:
        """Write the tables `events` and `rejected` as Parquet into an empty folder."""
        for name, table in (("events", corpus.events), ("rejected", corpus.rejected)):
            os.makedirs(os.path.join(folder, name))
            pq.write_table(table, os.path.join(folder, name, "part-0.parquet"))

    def load(self, folder: str) -> Corpus:
        """Read what `save` (of any engine) and `store.keep` have written."""
        corpus = store.kept(folder)
        corpus.events = pq.read_table(os.path.join(folder, "events"))
        corpus.rejected = pq.read_table(os.path.join(folder, "rejected"))
        return corpus

    def judge(self, corpus: Corpus) -> Judged:
        """Apply every rule to every cluster."""
        places = places_of(corpus.logs, corpus.files)
        events = corpus.events.filter(pc.not_equal(corpus.events["kind"], NOTE))
        clusters = sorted(set(events["cluster"].to_pylist()))
        tables = [
            judge_cluster(events.filter(pc.equal(events["cluster"], cluster)), places)
            for cluster in clusters
        ]
        return judged_of(row for table in tables for row in table.to_pylist())


def _read(
    logs: Sequence[LogFile], release: str | None, layout: str | None = None
) -> Iterator[pa.RecordBatch]:
    """Lines of all files in batches; small files share one, for each costs what many rows do."""
    return batches(
        row
        for log in logs
        for row in rows_of_file(log.cluster, log.name, log.path, release, layout)
    )


def _only(lines: pa.Table, what: str, columns: Sequence[str]) -> pa.Table:
    return lines.select(columns).filter(pc.equal(lines["what"], what))


def _unknown(rejected: pa.Table) -> list[Unknown]:
    found: dict[tuple[str, str, str], list[tuple[str, int]]] = {}
    for row in rejected.select(["cluster", "reason", "template", "file", "line"]).to_pylist():
        key = row["cluster"], row["reason"], row["template"]
        found.setdefault(key, []).append((row["file"], row["line"]))
    return [Unknown(*key, len(places), *min(places)) for key, places in sorted(found.items())]
