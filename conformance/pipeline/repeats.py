"""Merges copies of the same line in several files into one event, with all its positions.

Brokers write some lines to two logs, rolled files overlap, and folders are copied. A line that
occurs twice in one file, equal to the millisecond, is one event as well: a log shipper may have
sent it twice, and nothing distinguishes this from a thread that wrote it twice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from conformance.ingest.schema import EVENTS, MERGED


def merge_repeats(
    events: pa.Table, owners: Mapping[str, int | None], folders: Mapping[str, str]
) -> pa.Table:
    """Merges a table of `EVENTS` into one of `MERGED`, one row per event, sorted by file and line.

    A table with some of the columns of `EVENTS` (`NOTES`) is merged in the same way.

    `owners` gives a file's broker, for lines that name no broker. Rows with the same digest must
    all be in the same table. Lines of two brokers are never one event.
    """
    single, rows = _parted(events)
    single = _owned(single, owners)
    where = pc.binary_join_element_wise(single["file"], single["line"].cast(pa.string()), ":")
    each = pa.array(np.arange(len(where) + 1, dtype=np.int32))
    where = where.combine_chunks() if isinstance(where, pa.ChunkedArray) else where
    single = single.append_column("positions", pa.ListArray.from_arrays(each, where))
    merged = pa.Table.from_pylist(
        list(_merged(rows, owners, folders)),
        schema=pa.schema([MERGED.field(name) for name in single.column_names]),
    )
    together = pa.concat_tables([single, merged]).sort_by(
        [("file", "ascending"), ("line", "ascending")]
    )
    return together.append_column("distinct", pa.array([1] * together.num_rows, pa.int64()))


def count_events(
    events: pa.Table, owners: Mapping[str, int | None], folders: Mapping[str, str]
) -> int:
    """The number of rows that `merge_repeats` gives."""
    single, rows = _parted(events)
    return int(single.num_rows) + sum(1 for _ in _merged(rows, owners, folders))


def _parted(events: pa.Table) -> tuple[pa.Table, list[dict[str, Any]]]:
    """The lines that occur once, and the others."""
    events = events.select([each for each in EVENTS.names if each in events.column_names])
    events = events.combine_chunks()
    counted = events.group_by(["cluster", "digest"]).aggregate([("line", "count")])
    often = pc.filter(counted["digest"], pc.greater(counted["line_count"], 1))
    repeated = pc.is_in(events["digest"], value_set=often.combine_chunks())
    return events.filter(pc.invert(repeated)), events.filter(repeated).to_pylist()


def _owned(events: pa.Table, owners: Mapping[str, int | None]) -> pa.Table:
    files = pc.dictionary_encode(events["file"]).combine_chunks()
    whose = pa.array([owners.get(file) for file in files.dictionary.to_pylist()], pa.int32())
    default = whose.take(files.indices)
    place = events.schema.get_field_index("broker")
    return events.set_column(place, "broker", pc.coalesce(events["broker"], default))


def _merged(
    rows: list[dict[str, Any]], owners: Mapping[str, int | None], folders: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    groups: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        if row["broker"] is None:
            row["broker"] = owners.get(row["file"])
        groups[row["cluster"], row["digest"]].append(row)
    for group in groups.values():
        for same in _events(group, folders):
            # A broker's own log before what was caught from its standard output.
            same.sort(key=lambda row: (row["broker"] is None, ".out" in row["file"], *_place(row)))
            row = dict(same[0])
            row["positions"] = [
                f"{each['file']}:{each['line']}" for each in sorted(same, key=_place)
            ]
            yield row


def _place(row: dict[str, Any]) -> tuple[str, int]:
    return row["file"], row["line"]


def _events(group: list[dict[str, Any]], folders: Mapping[str, str]) -> list[list[dict[str, Any]]]:
    """Splits rows of one text into events: one per broker; one per folder if no broker is known."""
    known: dict[object, list[dict[str, Any]]] = {}
    unknown: dict[object, list[dict[str, Any]]] = {}
    for row in sorted(group, key=_place):
        owner: object = row["broker"]
        if owner is None:
            unknown.setdefault(folders.get(row["file"], ""), []).append(row)
        else:
            known.setdefault(owner, []).append(row)
    events = list(known.values())
    files = [{row["file"] for row in rows} for rows in events]
    # A copy that names nobody, such as several brokers' lines in one file, repeats known lines.
    for rows in unknown.values():
        own: list[dict[str, Any]] = []
        seen: dict[str, int] = defaultdict(int)
        for row in rows:
            number = seen[row["file"]]
            seen[row["file"]] += 1
            named = [n for n, inside in enumerate(files) if row["file"] not in inside]
            copies = events[named[min(number, len(named) - 1)]] if named else own
            copies.append(row)
        if own:
            events.append(own)
    return events
