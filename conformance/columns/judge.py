"""Runs in columns, replayed on the model as traces are, and natively if they are long."""

from __future__ import annotations

from pathlib import Path

from conformance.columns.batch import ColumnBatch
from conformance.columns.reading import open_columns
from conformance.columns.whole import require_whole
from conformance.replay import Replay, not_replayed
from conformance.trace_report import TraceReport, unreadable
from impl import TraceError


def check_columns(path: str | Path) -> TraceReport:
    """Replays one `insync.columns/1` file. An unreadable or empty one is not checked."""
    where = Path(path)
    try:
        columns = open_columns(where)
        refused = not_replayed(columns.header, columns.rows, str(where))
        if refused is not None:
            return refused
        moves = require_whole(columns)
        replay = Replay(columns.header, str(where), None, columns.rows)
        if replay.begins():
            first = 0
            for batch in columns.batches():
                if not replay.goes_on(ColumnBatch(batch, first, moves, where)):
                    break
                first += batch.num_rows
        return replay.report
    except (TraceError, OSError) as error:
        return unreadable(where, error)
