"""Runs as columns: observations are mapped to the model's fields once, when they are written."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet

from conformance.columns.magic import ARROW, FORMS
from conformance.columns.schema import (
    ARGS,
    ORDER,
    TEXTS,
    VALUE,
    index_names,
    layout_of,
    metadata_of,
    schema_of,
    shown,
)
from conformance.observed import Observed
from conformance.partial import is_partial
from conformance.replay import moves_of, not_replayed
from conformance.trace_report import UnknownLeaf
from impl import Trace, TraceError, read_trace
from impl.world.trace import TraceEvent
from model.language.schema import Field
from specs.partial.compiled_steps import CompiledSteps

BATCH = 10_000
"""Rows that are compressed, and read, together."""


def convert(source: Path, target: Path) -> int:
    """Writes a trace (`insync.trace/1`) as columns, by the target's ending; how many lines.

    Raises TraceError for a file that is no whole trace, or that shows what has no column; KeyError
    for an ending that is none of FORMS; OSError.
    """
    if is_partial(source):
        why = "a trace with parts missing; only whole ones have columns"
        raise TraceError(source, 1, f"{why}: leave it as it is, insync check reads it")
    trace = read_trace(source)
    write_columns(target, trace, source)
    return len(trace.events)


def write_columns(target: Path, trace: Trace, source: Path | None = None) -> None:
    """Writes the file whole or not at all; `source` is named where an event has no columns."""
    magic = FORMS[target.suffix.removeprefix(".")]
    table = table_of(trace, source or target)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".", suffix=".part")
    os.close(handle)
    try:
        if magic == ARROW:
            options = pa.ipc.IpcWriteOptions(compression="lz4")
            with pa.ipc.new_file(name, table.schema, options=options) as file:
                file.write_table(table, max_chunksize=BATCH)
        else:
            parquet.write_table(table, name, row_group_size=BATCH)
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def table_of(trace: Trace, source: Path) -> pa.Table:
    """All rows of a run. Raises TraceError for what no column can say."""
    refused = not_replayed(trace.header, 1, str(source))
    if refused is not None:
        finding = refused.findings[0]
        raise TraceError(source, 1, f"{finding.why}; give {finding.allowed}")
    moves = moves_of(trace.header)
    columns: dict[str, Any] = {name: [] for name in ORDER}
    args: dict[str, list[int | None]] = {name: [] for name in ARGS}
    cells = {leaf.name: _Cells(moves, number, leaf) for number, leaf in shown(moves)}
    try:
        observed = Observed(trace.header.initial)
    except UnknownLeaf as error:
        raise TraceError(source, 1, str(error)) from error
    for row, event in enumerate(trace.events):
        for name in ORDER:
            columns[name].append(getattr(event, name))
        for name in ARGS:
            args[name].append(_argument(event, name, source))
        try:
            for (name, index), code in observed.show(event.observed).items():
                cells[name].add(row, index, code)
        except (UnknownLeaf, _NoPlaceError) as error:
            raise TraceError(source, event.line, f"{error}; no column can say that") from error
    schema = schema_of(moves)
    arrays = [pa.array(args[name], pa.int64()) for name in ARGS]
    arrays += [one.array(len(trace.events), schema.field(name)) for name, one in cells.items()]
    for name in TEXTS:
        columns[name] = pa.array([str(each) for each in columns[name]]).dictionary_encode()
    arrays = [pa.array(columns[name]) for name in ORDER] + arrays
    metadata = metadata_of(vars(trace.header), len(trace.events), layout_of(moves))
    return pa.table(arrays, schema=schema.with_metadata(metadata))


def _argument(event: TraceEvent, name: str, source: Path) -> int | None:
    value = event.args.get(name)
    if value is None and name not in event.args:
        return None
    if type(value) is not int or not -(2**63) <= value < 2**63:
        why = f"{name} is {value!r}, and the arguments in columns are whole numbers of 64 bits"
        raise TraceError(source, event.line, why)
    return value


class _NoPlaceError(ValueError):
    """A number that its column is too narrow for."""


class _Cells:
    """A column of a field: which row changed which of its cells, to what."""

    def __init__(self, moves: CompiledSteps, number: int, leaf: Field) -> None:
        self.leaf, self.blank = leaf, int(moves.ledger.blanks[number])
        self.rows: list[int] = []
        self.indices: list[tuple[int, ...]] = []
        self.codes: list[int] = []
        self._room = _room(moves.twin.ends(leaf.sort)[1])
        self._rooms = [_room(moves.twin.ends(sort)[1]) for sort in leaf.dims]

    def add(self, row: int, index: tuple[int, ...], code: int | None) -> None:
        """One cell; None is blank."""
        if code is not None and int(code) not in self._room:
            raise _NoPlaceError(f"{self.leaf.name} is {code}, and its column is narrower")
        if not all(each in room for each, room in zip(index, self._rooms, strict=True)):
            raise _NoPlaceError(f"{self.leaf.name}{list(index)} has no place for such an index")
        self.rows.append(row)
        self.indices.append(index)
        self.codes.append(self.blank if code is None else int(code))

    def array(self, rows: int, field: pa.Field) -> pa.Array:
        """The column, with a place for every row."""
        if not self.leaf.dims:
            values: list[int | None] = [None] * rows
            for row, code in zip(self.rows, self.codes, strict=True):
                values[row] = code
            return pa.array(values, pa.int64()).cast(field.type)
        counts = np.bincount(np.array(self.rows, np.int64), minlength=rows)
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        kinds = field.type.value_type
        parts = [
            pa.array([index[place] for index in self.indices], kinds.field(name).type)
            for place, name in enumerate(index_names(self.leaf))
        ]
        parts.append(pa.array(self.codes, pa.int64()).cast(kinds.field(VALUE).type))
        inside = pa.StructArray.from_arrays(parts, fields=[kinds[n] for n in range(len(parts))])
        return pa.ListArray.from_arrays(pa.array(starts, pa.int32()), inside, type=field.type)


def _room(high: int | None) -> range:
    """What a column of numbers takes, by the greatest value of its sort."""
    return range(-(2**63), 2**63) if high is None else range(-(2**15), 2**15)
