"""Parses a chunk of a growing log: the unit that a running judgement takes in."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import pyarrow as pa

from conformance.ingest.dialects import NOTE, dialect_for
from conformance.ingest.growing import FileChunk, text_of
from conformance.ingest.layouts import change_for
from conformance.ingest.log4j import starts_record
from conformance.ingest.parse import FileCounts, rows_of_lines
from conformance.ingest.reader import DamagedError, UnreadableError, head_of, split, text
from conformance.ingest.schema import EVENT, EVENTS


@dataclass
class ParsedChunk:
    """Events of a part of one file, and its counts. Without `file`, only the time has advanced."""

    cluster: str
    events: pa.Table = field(default_factory=EVENTS.empty_table)  # without notes
    log: dict[str, Any] = field(default_factory=dict)  # a row of `LogFile`
    file: dict[str, Any] = field(default_factory=dict)
    """A row of `FILES`, of this part, with the counts that tell what is wrong with a file."""
    kinds: dict[str, int] = field(default_factory=dict)
    unknown: list[tuple[str, str, int, int]] = field(default_factory=list)
    """Reason, shape, count and first line of what was rejected."""
    looked: dict[str, dict[str, int]] = field(default_factory=dict)
    """How often the rules looked at lines that did not come along, by what was counted."""

    def packed(self) -> tuple[str, bytes, str]:
        """Cluster, events as an Arrow stream, and the rest as JSON."""
        book = {
            "log": self.log, "file": self.file, "kinds": self.kinds, "unknown": self.unknown,
            "looked": self.looked,
        }  # fmt: skip
        return self.cluster, pack(self.events), json.dumps(book)

    @classmethod
    def unpacked(cls, cluster: str, events: bytes, book: str) -> ParsedChunk:
        """Restores the result of `packed`."""
        said = json.loads(book)
        unknown = [tuple(each) for each in said.pop("unknown")]
        return cls(cluster, unpack(events), unknown=unknown, **said)


def pack(table: pa.Table) -> bytes:
    """A table as one compressed Arrow stream."""
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def unpack(data: bytes) -> pa.Table:
    """Restores the result of `pack`."""
    return pa.ipc.open_stream(data).read_all()


def piece_of(chunk: FileChunk, release: str | None, layout: str | None = None) -> ParsedChunk:
    """Parses a chunk; `layout` is as for `plain`. Never raises because of the file."""
    since, until = chunk.since, chunk.until
    tally = FileCounts()
    lines = _CountedLines(split(text(text_of(chunk), since.bytes == 0)))
    rows: list[dict[str, Any]] = []
    unknown: dict[tuple[str, str], list[int]] = {}
    kinds: Counter[str] = Counter()
    reason = until.reason
    leading = 0
    try:
        change = change_for(head_of(chunk.path) if chunk.path else "", layout)
        changed = iter(lines if change is None else change(lines))
        first = next(changed, None)
        if not since.loose:
            # They belong to the record that the chunk before ended with.
            while first is not None and not starts_record(first):
                leading += 1
                first = next(changed, None)
        every = chain([first] if first is not None else [], changed)
        dialect = dialect_for(release)
        for row in rows_of_lines(since.cluster, chunk.name, every, dialect, tally):
            row["line"] += since.lines + leading
            if row["what"] == EVENT:
                kinds[row["kind"]] += 1
                if row["kind"] != NOTE:
                    rows.append(row)
            else:
                unknown.setdefault((row["reason"], row["template"]), []).append(row["line"])
    except (UnreadableError, DamagedError) as error:
        reason = reason or str(error)
    return ParsedChunk(
        cluster=since.cluster,
        events=pa.Table.from_pylist(rows, schema=EVENTS),
        log={
            "cluster": since.cluster, "name": chunk.name, "path": chunk.path,
            "folder": since.folder, "stream": since.stream, "roll": since.roll,
            "gap_before": since.gap_before,
        },
        file={
            "cluster": since.cluster, "file": chunk.name, "reason": reason, "read": lines.number,
            "events": tally.events, "continuation": tally.continuation + leading,
            "rejected": tally.rejected, "protocol": tally.protocol, "since": tally.since,
            "until": tally.until, "jumps": [line + since.lines + leading for line in tally.jumps],
            "holes": [line + since.lines + leading for line in tally.holes],
            "hole_times": tally.hole_times, "nuls": tally.nuls,
            "turns": tally.turns, "one_writer": tally.one_writer,
            "brokers": sorted(tally.brokers),
            "named": [count for _, count in sorted(tally.brokers.items())],
            "release": tally.release, "stated_id": tally.stated_id,
            "stamped": tally.stamped, "kafka": tally.kafka,
        },
        kinds=dict(kinds),
        unknown=[(*key, len(found), min(found)) for key, found in sorted(unknown.items())],
    )  # fmt: skip


class _CountedLines:
    """Lines, counted as they are passed on."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.number += 1
        return line
