"""Judges clusters too large for memory without Spark: the steps of `large`, with parts on disk.

Only one part and the lines that are handed on are in memory at a time, so memory does not grow with
the number of consistent lines.
"""

from __future__ import annotations

import gc
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from conformance.ingest.dialects import NOTE
from conformance.ingest.schema import MERGED, events_of
from conformance.ingest.templates_kraft import KINDS
from conformance.pipeline import kraft, large
from conformance.pipeline.cluster_evidence import (
    ANCHORS,
    BLOCK,
    FOR_CLOCKS,
    SAMPLE,
    SIGHTED,
    UNUSED,
    for_parts,
    kept_of_file,
)
from conformance.pipeline.kernels import judge_cluster, judge_events
from conformance.pipeline.mixed import two_clusters
from conformance.pipeline.places import Place
from conformance.pipeline.spill import Spill

Tables = Callable[[], Iterator[pa.Table]]
Looked = Callable[[int], None]
"""Receives how many events were looked at."""

_SAMPLED = 64  # one line in so many, by its digest, tells how large partitions are, and when
_KINDS_OF_KRAFT = (*KINDS, *sorted(kraft.ZOOKEEPER))
_PLACE = ("cluster", "file", "line")


@dataclass
class Overview:
    """What must be known of all lines before the first is judged."""

    sizes: Counter[str] = field(default_factory=Counter)
    first: dict[str, dict[str, int]] = field(default_factory=lambda: defaultdict(dict))
    releases: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    times: dict[tuple[str, str, int], list[int]] = field(default_factory=lambda: defaultdict(list))
    """Of a sample of each partition's lines."""

    def add(self, events: pa.Table) -> None:
        """Take in more lines."""
        for row in pc.value_counts(events["cluster"]).to_pylist():
            self.sizes[row["values"]] += row["counts"]
        lines = events.filter(pc.is_in(events["kind"], pa.array(_KINDS_OF_KRAFT)))
        for row in lines.group_by(["cluster", "kind"]).aggregate([("at", "min")]).to_pylist():
            first = self.first[row["cluster"]]
            first[row["kind"]] = min(row["at_min"], first.get(row["kind"], row["at_min"]))
        lines = events.filter(pc.equal(events["kind"], "release"))
        for cluster, release in _rows(lines, ("cluster", "detail")):
            if release is not None:
                self.releases[cluster].add(release)
        some = _numbers(events["digest"]) % _SAMPLED == 0
        sample = events.filter(pa.array(some)).filter(pc.field("partition").is_valid())
        for cluster, topic, partition, at in _rows(sample, ("cluster", "topic", "partition", "at")):
            self.times[cluster, topic, partition].append(at)

    def cuts(self, cluster: str) -> dict[tuple[str, int], np.ndarray]:
        """The times at which to cut each of a cluster's partitions that are larger than a part."""
        found = {}
        for (name, topic, partition), times in self.times.items():
            parts = len(times) * _SAMPLED // large.PART
            if name == cluster and parts:
                times.sort()
                at = [times[len(times) * n // (parts + 1)] for n in range(1, parts + 1)]
                found[topic, partition] = np.array(at)
        return found


def judge_large(
    tables: Tables, places: Mapping[str, Place], whole: int, looked: Looked
) -> list[Mapping[str, Any]]:
    """The rows of `judge_cluster` of all clusters; those above `whole` events judged in parts."""
    overview = Overview()
    for table in tables():
        overview.add(_without_notes(table))
    clusters = sorted(overview.sizes)
    found: list[Mapping[str, Any]] = []
    small = [name for name in clusters if overview.sizes[name] <= whole]
    if small:
        together = Spill(MERGED, len(small))
        keys = {name: number for number, name in enumerate(small)}
        for table in tables():
            rows = _without_notes(table)
            rows = rows.filter(pc.is_in(rows["cluster"], pa.array(small)))
            together.add(rows, _coded(rows["cluster"], keys.__getitem__))
        for table in together.tables():
            found += judge_cluster(table, places).to_pylist()
            looked(table.num_rows)
        together.close()
    for name in clusters:
        if overview.sizes[name] > whole:
            found += _in_parts(name, tables, overview, places, looked)
    return found


def _in_parts(
    cluster: str, tables: Tables, overview: Overview, places: Mapping[str, Place], looked: Looked
) -> list[Mapping[str, Any]]:
    """The rows of `judge_cluster` of one cluster, with at most one part of it in memory."""
    until = kraft.cutoff(overview.first[cluster])
    cuts = overview.cuts(cluster)
    buckets = -(-overview.sizes[cluster] // large.PART)
    parts = Spill(MERGED, buckets + sum(len(each) + 1 for each in cuts.values()))
    files = Spill(MERGED, -(-overview.sizes[cluster] // large.PART))
    loose: list[pa.Table] = []
    clocks = Spill(MERGED, files.parts)
    for table in tables():
        rows = _without_notes(table)
        rows = rows.filter(pc.equal(rows["cluster"], cluster))
        if until is not None:
            early = pc.or_(pc.less(rows["at"], until), pc.is_in(rows["kind"], pa.array(KINDS)))
            rows = rows.filter(early)
        of_partitions = rows["partition"].is_valid()
        inside = rows.filter(of_partitions)
        parts.add(inside, _parts(inside, buckets, cuts))
        sighted = pc.is_in(rows["kind"], pa.array([*SIGHTED, *UNUSED]))
        wanted = pc.or_(sighted, pc.is_in(rows["kind"], pa.array(ANCHORS)))
        some = rows.filter(wanted)
        files.add(some, _coded(some["file"], lambda file: zlib.crc32(file.encode()) % files.parts))
        loose.append(rows.filter(pc.invert(pc.or_(of_partitions, sighted))).select(MERGED.names))
        asked = _for_clocks(rows)
        clocks.add(asked, _numbers(asked["controller_epoch"].fill_null(0)) % clocks.parts)
    found: list[Mapping[str, Any]] = []
    rest = _once(pa.concat_tables([MERGED.empty_table(), *loose, *_kept_of_files(files)]))
    files.close()
    known = large.known_of(for_parts(rest), places)
    if two_clusters(known.events, places) is not None:
        parts.close()
        found += judge_cluster(rest, places).to_pylist()  # says so, and judges nothing
        return found
    releases = {cluster: sorted(overview.releases[cluster])}
    handed: list[pa.Table] = []
    counted: Counter[tuple[str, str | None]] = Counter()
    for part in range(parts.parts):
        table = parts.part(part)
        if table.num_rows:
            screened = large.screen_part(table, places, releases, part >= buckets, known)
            evidence = pc.equal(screened["what"], large.HANDED)
            handed.append(screened.filter(evidence).select(MERGED.names))
            counts = screened.filter(pc.invert(evidence))
            for what, rule, count in _rows(counts, ("what", "rule", "count")):
                counted[what, rule] += count
            looked(table.num_rows)
    parts.close()
    found += [
        {"what": what, "cluster": cluster, "rule": rule, "count": count}
        for (what, rule), count in sorted(counted.items(), key=str)
    ]
    del known
    gc.collect()  # what it held in cycles is as much as what comes now
    reduced = _once(pa.concat_tables([MERGED.empty_table(), *handed, rest]))
    del handed, rest
    lines = events_of(reduced)
    del reduced
    judged = judge_events(lines, places, reduced=True, marked=True).to_pylist()
    found += large.only_of_clusters(judged)
    del lines
    gc.collect()
    found += large.clock_rows_of_parts(clocks.tables(), cluster).to_pylist()
    clocks.close()
    return found


def _kept_of_files(files: Spill) -> Iterator[pa.Table]:
    """The lines of each file that the whole cluster needs, in blocks."""
    for table in files.tables():
        table = table.sort_by([("file", "ascending"), ("line", "ascending")])
        block = _numbers(table["line"]) // BLOCK
        codes = table["file"].combine_chunks().dictionary_encode()
        codes = codes.combine_chunks() if isinstance(codes, pa.ChunkedArray) else codes
        key = codes.indices.to_numpy() * (int(block.max()) + 1) + block
        start = 0
        for end in (np.flatnonzero(np.diff(key, append=-1)) + 1).tolist():
            yield kept_of_file(table.slice(start, end - start), for_clocks=False)
            start = end


def _once(lines: pa.Table) -> pa.Table:
    """Each line once: its first occurrence."""
    seen: set[tuple[Any, ...]] = set()
    kept = []
    for number, place in enumerate(_rows(lines, _PLACE)):
        if place not in seen:
            seen.add(place)
            kept.append(number)
    return lines.take(pa.array(kept, pa.int64())) if len(kept) < lines.num_rows else lines


def _parts(
    events: pa.Table, buckets: int, cuts: Mapping[tuple[str, int], np.ndarray]
) -> np.ndarray:
    """The part of each line: a bucket of partitions, or a stretch of time of a large one."""
    topics = _coded(events["topic"], lambda name: zlib.crc32(name.encode()))
    numbers = _numbers(events["partition"])
    part = (topics * 31 + numbers) % buckets
    base = buckets
    at = _numbers(events["at"]) if cuts else None
    for (topic, partition), times in sorted(cuts.items()):
        here = (numbers == partition) & (topics == zlib.crc32(topic.encode()))
        if at is not None and here.any():
            part[here] = base + np.searchsorted(times, at[here], side="right")
        base += len(times) + 1
    return part  # type: ignore[no-any-return]


def _for_clocks(rows: pa.Table) -> pa.Table:
    asked = rows.filter(pc.is_in(rows["kind"], pa.array(FOR_CLOCKS)))
    some = np.zeros(asked.num_rows, np.bool_)
    for name in ("correlation", "version"):
        known = asked[name].is_valid().to_numpy(zero_copy_only=False)
        some |= known & (_numbers(asked[name].fill_null(0)) % SAMPLE == 0)
    return asked.filter(pa.array(some))


def _without_notes(table: pa.Table) -> pa.Table:
    of_rules = pc.not_equal(table["kind"], NOTE)
    return table if pc.all(of_rules).as_py() else table.filter(of_rules)


def _coded(column: pa.ChunkedArray, number: Callable[[str], int]) -> np.ndarray:
    """A number for each text."""
    array = column.combine_chunks()
    array = pa.concat_arrays(array.chunks) if isinstance(array, pa.ChunkedArray) else array
    coded = array.dictionary_encode()
    values = np.array([number(text) for text in coded.dictionary.to_pylist()] or [0], np.int64)
    return values[coded.indices.to_numpy()]  # type: ignore[no-any-return]


def _numbers(column: pa.ChunkedArray) -> np.ndarray:
    return column.to_numpy().astype(np.int64, copy=False)  # type: ignore[no-any-return]


def _rows(table: pa.Table, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    return zip(*(table[name].to_pylist() for name in names), strict=True)
