"""The engine without Spark: runs the same plain functions in this process.

Few logs are one table in memory. Of many logs, one part at a time is in memory and the rest on
disk, so memory does not grow with the number of lines.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from conformance.ingest.dialects import NOTE
from conformance.ingest.files import LogSources
from conformance.ingest.parse import batches, parsed_file
from conformance.ingest.schema import (
    EVENT,
    EVENTS,
    FILE,
    FILES,
    MERGED,
    NOTES,
    REJECTED,
    REJECTS,
)
from conformance.pipeline import large, store
from conformance.pipeline.corpus import Corpus, Figures, JudgedCorpus, UnknownShape
from conformance.pipeline.cycles import without_cycle_collector
from conformance.pipeline.kernels import judge_cluster, judged_of
from conformance.pipeline.large_local import judge_large
from conformance.pipeline.places import owners_of, places_of
from conformance.pipeline.repeats import count_events, merge_repeats
from conformance.pipeline.spill import Spill, StoredRows

PART = 32 << 20  # bytes of text whose lines are merged together

Progress = Callable[[str, float], None]
"""Receives what is being done, and how much of it is done, from 0 to 1."""


class Notes:
    """Notes of logs held on disk: no rule reads them, so they are loaded only when asked for."""

    def __init__(
        self, lines: Spill, owners: Mapping[str, int | None], folders: Mapping[str, str]
    ) -> None:
        self._lines, self._owners, self._folders = lines, owners, folders

    def count(self) -> int:
        """How many there are after repeated lines are merged."""
        parts = self._lines.tables()
        return sum(count_events(part, self._owners, self._folders) for part in parts)

    def tables(self) -> Iterator[pa.Table]:
        """Tables of `MERGED`."""
        for part in self._lines.tables():
            merged = merge_repeats(part, self._owners, self._folders)
            size = merged.num_rows
            for name in ("kind", "template"):
                merged = merged.append_column(name, pa.array([NOTE] * size, pa.string()))
            for each in MERGED:
                if each.name not in merged.column_names:
                    merged = merged.append_column(each, pa.nulls(size, each.type))
            yield merged.select(MERGED.names)


class LocalEngine:
    """One process, with Arrow tables. Clusters of more than `whole` events are judged in parts.

    Logs of more than `part` bytes of text, uncompressed, are held on disk.
    """

    def __init__(
        self, progress: Progress | None = None, whole: int = large.WHOLE, part: int = PART
    ) -> None:
        self._progress = progress or (lambda what, share: None)
        self.whole, self.part = whole, part

    @without_cycle_collector
    def ingest(self, found: LogSources, release: str | None, layout: str | None = None) -> Corpus:
        """Read and merge the lines of the logs that were found."""
        rows = [asdict(log) for log in found.logs]
        sizes = {log.name: store.text_bytes(log.path) for log in found.logs}
        buckets = sum(sizes.values()) // self.part + 1
        parsed = Spill(EVENTS, buckets, on_disk=buckets > 1)
        notes = Spill(NOTES, buckets, on_disk=True) if parsed.on_disk else None
        rejected = Spill(REJECTS, on_disk=buckets > 1)
        files: list[dict[str, Any]] = []
        kinds: Counter[str] = Counter()
        read, total = 0, sum(sizes.values()) or 1
        for batch in self._read(found, release, layout):
            lines = pa.Table.from_batches([batch])
            events = _only(lines, EVENT, EVENTS.names)
            for each in pc.value_counts(events["kind"]).to_pylist():
                kinds[each["values"]] += each["counts"]
            kept = notes if notes is not None and _are_notes(events) else parsed
            kept.add(events, events["digest"].to_numpy() % buckets)
            rejected.add(_only(lines, REJECTED, REJECTS.names))
            for row in _only(lines, FILE, FILES.names).to_pylist():
                files.append(row)
                read += sizes.get(row["file"], 0)
            self._progress("read", read / total)
        owners, folders = owners_of(rows, files), {row["name"]: row["folder"] for row in rows}
        figures = Figures(kinds, 0, _unknown(rejected))
        events = self._merged(parsed, owners, folders)
        merged = None if notes is None else Notes(notes, owners, folders)
        figures.distinct = events.num_rows + (merged.count() if merged is not None else 0)
        unread = rejected if rejected.on_disk else rejected.part(0)
        return Corpus(rows, files, events, unread, figures, found.skipped, found.closed, merged)

    def _read(
        self, found: LogSources, release: str | None, layout: str | None
    ) -> Iterator[pa.RecordBatch]:
        """Reads the lines of all files in batches; small files share one, as a batch has a cost."""
        return batches(
            row
            for log in found.logs
            for row in parsed_file(log.cluster, log.name, log.path, release, layout)
        )

    def _merged(
        self, parsed: Spill, owners: Mapping[str, int | None], folders: Mapping[str, str]
    ) -> pa.Table | Spill:
        if not parsed.on_disk:
            return merge_repeats(parsed.part(0), owners, folders)
        events = Spill(MERGED, parsed.parts, on_disk=True)
        for part in range(parsed.parts):
            self._progress("merge", part / parsed.parts)
            table = merge_repeats(parsed.part(part), owners, folders)
            events.put(part, table)
            parsed.drop(part)
        return events

    def save(self, corpus: Corpus, folder: str) -> None:
        """Write the tables `events` and `rejected` as Parquet into an empty folder."""
        events = chain(_tables(corpus.events), corpus.notes.tables() if corpus.notes else ())
        for name, tables, schema in (
            ("events", events, MERGED),
            ("rejected", _tables(corpus.rejected), REJECTS),
        ):
            os.makedirs(os.path.join(folder, name))
            with pq.ParquetWriter(os.path.join(folder, name, "part-0.parquet"), schema) as file:
                for each in tables:
                    file.write_table(each.select(schema.names).cast(schema))

    def load(self, folder: str) -> Corpus:
        """Read what `save` (of any engine) and `store.keep` have written."""
        corpus = store.kept(folder)
        corpus.rejected = StoredRows(os.path.join(folder, "rejected"))
        events = StoredRows(os.path.join(folder, "events"))
        corpus.events = events if events.num_rows > self.whole else events.whole()
        return corpus

    def judge(self, corpus: Corpus) -> JudgedCorpus:
        """Apply every rule to every cluster."""
        places = places_of(corpus.logs, corpus.files)
        events = corpus.events
        if not isinstance(events, pa.Table):
            looked, total = 0, events.num_rows or 1

            def count(lines: int) -> None:
                nonlocal looked
                looked += lines
                self._progress("check", looked / total)

            return judged_of(judge_large(events.tables, places, self.whole, count))
        events = events.filter(pc.not_equal(events["kind"], NOTE))
        clusters = sorted(events["cluster"].unique().to_pylist())
        found = []
        for number, cluster in enumerate(clusters):
            self._progress("check", number / len(clusters))
            inside = events.filter(pc.equal(events["cluster"], cluster))
            found += judge_cluster(inside, places).to_pylist()
        return judged_of(found)


def _tables(events: pa.Table | Spill | StoredRows) -> Iterator[pa.Table]:
    if isinstance(events, pa.Table):
        yield events
    else:
        yield from events.tables()


def _only(lines: pa.Table, what: str, columns: Sequence[str]) -> pa.Table:
    chosen = pc.equal(lines["what"], what)
    return _where(lines.select(columns), chosen)


def _where(table: pa.Table, chosen: pa.ChunkedArray) -> pa.Table:
    """The chosen rows; the table itself if all rows are chosen, or none."""
    if pc.all(chosen).as_py() is not False:
        return table
    return table.filter(chosen) if pc.any(chosen).as_py() else table.slice(0, 0)


def _are_notes(events: pa.Table) -> bool:
    """Whether a batch holds notes; such a batch holds nothing else."""
    return bool(events.num_rows) and bool(events["kind"][0].as_py() == NOTE)


def _unknown(rejected: Spill) -> list[UnknownShape]:
    found: dict[tuple[str, str, str], list[Any]] = {}
    names = ("cluster", "reason", "template", "file", "line")
    for table in rejected.blocks():
        for cluster, reason, template, file, line in zip(
            *(table[name].to_pylist() for name in names), strict=True
        ):
            known = found.setdefault((cluster, reason, template), [0, (file, line)])
            known[0] += 1
            known[1] = min(known[1], (file, line))
    return [UnknownShape(*key, count, *first) for key, (count, first) in sorted(found.items())]
