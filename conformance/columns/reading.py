"""Files of columns: their metadata, and their rows, batch by batch."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet

from conformance.columns.magic import ARROW, form_of
from conformance.columns.schema import FORMAT, KEY
from impl import TraceError
from impl.world.trace import HEADER_FIELDS, TraceHeader

BATCH = 10_000
DAMAGED = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OSError)


@dataclass(frozen=True)
class Columns:
    """A file of columns whose metadata can be read: the header of its run, and its rows."""

    path: Path
    header: TraceHeader
    events: int
    layout: str
    schema: pa.Schema
    rows: int

    def batches(self, names: list[str] | None = None) -> Iterator[pa.RecordBatch]:
        """All rows, some columns of them. TraceError for a batch that cannot be read."""
        try:
            if form_of(self.path) == ARROW:
                yield from _arrow_batches(self.path, self.schema, names)
            else:
                with parquet.ParquetFile(self.path) as file:
                    yield from file.iter_batches(BATCH, columns=names)
        except DAMAGED as error:
            raise TraceError(self.path, 1, f"damaged: {_first_line(error)}") from error


def _arrow_batches(
    path: Path, schema: pa.Schema, names: list[str] | None
) -> Iterator[pa.RecordBatch]:
    wanted = None if names is None else [schema.get_field_index(name) for name in names]
    options = pa.ipc.IpcReadOptions(included_fields=wanted or [])
    with pa.memory_map(str(path)) as source, pa.ipc.open_file(source, options=options) as file:
        for number in range(file.num_record_batches):
            yield file.get_batch(number)


def open_columns(path: Path) -> Columns:
    """The file's header. TraceError for one that is none, or of a format that is not known."""
    try:
        if form_of(path) == ARROW:
            with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as file:
                schema = file.schema
            rows = sum(batch.num_rows for batch in _arrow_batches(path, schema, schema.names[:1]))
        else:
            with parquet.ParquetFile(path) as stored:
                schema, rows = stored.schema_arrow, stored.metadata.num_rows
    except DAMAGED as error:
        raise _cut_off(path, error) from error
    stored_header = _metadata(path, schema)
    header = TraceHeader(**{name: stored_header[name] for name in HEADER_FIELDS})
    return Columns(path, header, stored_header["events"], stored_header["layout"], schema, rows)


def _metadata(path: Path, schema: pa.Schema) -> dict[str, Any]:
    try:
        found = json.loads((schema.metadata or {}).get(KEY, b"{}"))
    except ValueError as error:
        raise TraceError(path, 1, f"its metadata `insync` is not JSON ({error})") from error
    version = found.get("format") if isinstance(found, dict) else None
    if version != FORMAT:
        raise TraceError(path, 1, f"unknown format {version!r}; this reader knows {FORMAT} alone")
    for name, kind in {**HEADER_FIELDS, "events": int, "layout": str}.items():
        if name not in found:
            raise TraceError(path, 1, f"the header lacks {name}")
        if not isinstance(found[name], kind):
            raise TraceError(path, 1, f"the header's {name} is {found[name]!r}")
    return dict(found)


def _cut_off(path: Path, error: Exception) -> TraceError:
    """A file without its end: how many lines of it can still be read."""
    whole = 0
    if form_of(path) == ARROW:
        try:
            with pa.OSFile(str(path)) as source:
                source.seek(8)  # what begins a file stands before the stream of its batches
                for batch in pa.ipc.open_stream(source):
                    whole += batch.num_rows
        except (*DAMAGED, StopIteration):
            pass
    after = f"truncated after {whole} events" if whole else "truncated, or damaged"
    why = f"{after}; its end, which says where all is, cannot be read ({_first_line(error)})"
    return TraceError(path, whole + 1, why)


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0].rstrip(".")
