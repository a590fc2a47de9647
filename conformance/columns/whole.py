"""Whether a file of columns is one whole run of this model, in order; if not, it is refused.

What cannot be vouched for is named by file and line, in the words of the reader of NDJSON: rows of
two runs, a gap in the clock or in a node's sequence, a file that is cut off, columns of another
model.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from conformance.columns.batch import numbers_of, texts_of
from conformance.columns.reading import Columns
from conformance.columns.schema import COUNTS, FIRST_LINE, ORDER, layout_of, schema_of
from conformance.replay import moves_of
from impl import TraceError
from specs.partial.compiled_steps import CompiledSteps


def require_whole(columns: Columns) -> CompiledSteps:
    """The columns are those of the model, and the rows one run, in order. TraceError if not."""
    moves = moves_of(columns.header)
    _require_columns(columns, moves)
    seen, row = dict[str, int](), 0
    for batch in columns.batches(list(ORDER)):
        wrong = _first_wrong(columns, batch, row, seen)
        if wrong is not None:
            at, why = wrong
            raise TraceError(columns.path, at + FIRST_LINE, why)
        row += batch.num_rows
    if row != columns.events:
        why = f"truncated after {row} events; the file says that it has {columns.events}"
        raise TraceError(columns.path, row + FIRST_LINE - 1, why)
    return moves


def _require_columns(columns: Columns, moves: CompiledSteps) -> None:
    path, found = columns.path, columns.schema
    if columns.layout != layout_of(moves):
        why = (
            f"columns of another model: layout {columns.layout}, and that of "
            f"{columns.header.system} {columns.header.version} is {layout_of(moves)}; "
            "convert the run again"
        )
        raise TraceError(path, 1, why)
    for wanted in schema_of(moves):
        if wanted.name not in found.names:
            raise TraceError(path, 1, f"no column {wanted.name}, which is {wanted.type}")
        kind = found.field(wanted.name).type
        if not _reads_as(kind, wanted.type):
            why = f"column {wanted.name} is {kind}, where {wanted.type} is right"
            raise TraceError(path, 1, why)


def _reads_as(kind: pa.DataType, wanted: pa.DataType) -> bool:
    """Of one kind: another program may have written wider numbers, or plain texts."""
    types = pa.types
    if types.is_dictionary(wanted):
        texts = (types.is_string, types.is_large_string, types.is_dictionary)
        return any(is_one(kind) for is_one in texts)
    if types.is_list(wanted):
        if not (types.is_list(kind) and types.is_struct(kind.value_type)):
            return False
        parts = {part.name: part.type for part in kind.value_type}
        return all(
            part.name in parts and _reads_as(parts[part.name], part.type)
            for part in wanted.value_type
        )
    if types.is_integer(wanted):
        return bool(types.is_integer(kind))
    return bool(kind == wanted)


def _first_wrong(
    columns: Columns, batch: pa.RecordBatch, first: int, seen: dict[str, int]
) -> tuple[int, str] | None:
    """The first row that does not go on the run, and why; `seen` counts each node's events."""
    found: list[tuple[int, int, str]] = []
    for number, name in enumerate(ORDER):
        column = batch.column(name)
        if column.null_count:
            at = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
            found.append((at, number, f"the event lacks {name}"))
    if found:
        at, _, why = min(found)
        return first + at, why
    run, node = (texts_of(batch.column(name)) for name in ("run", "node"))
    clock, seq = (numbers_of(batch.column(name)) for name in COUNTS)
    other = np.flatnonzero(np.array([text != columns.header.run for text in run[1]])[run[0]])
    if other.size:
        name = run[1][run[0][other[0]]]
        why = f"two runs mixed: {name!r} in the trace of {columns.header.run!r}; one file a run"
        found.append((int(other[0]), 0, why))
    due = np.arange(first + 1, first + 1 + clock.size)
    for at in np.flatnonzero(clock != due)[:1]:
        order = "out of order" if clock[at] < due[at] else "gap"
        why = f"{order}: clock {clock[at]} where {due[at]} is next; a line is missing or moved"
        found.append((int(at), 1, why))
    for code, name in enumerate(node[1]):
        rows = np.flatnonzero(node[0] == code)
        due = seen.get(name, 0) + 1 + np.arange(rows.size)
        for at in np.flatnonzero(seq[rows] != due)[:1]:
            order = "out of order" if seq[rows[at]] < due[at] else "gap"
            why = f"{order}: seq {seq[rows[at]]} of node {name} where {due[at]} is next"
            found.append((int(rows[at]), 2, why))
        seen[name] = seen.get(name, 0) + rows.size
    if not found:
        return None
    at, _, why = min(found)
    return first + at, why
