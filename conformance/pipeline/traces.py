"""Recorded traces (lines or columns) beside logs: each is replayed on the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.columns.magic import is_columns

if TYPE_CHECKING:
    from conformance.trace_report import TraceReport


def replayed(path: str, hidden: int | None = None) -> TraceReport:
    """Replay one trace.

    A trace whose header says that parts are missing is searched for a run that fits; `hidden` then
    overrides how many steps may be missing before a line.
    """
    from conformance.partial import check_partial, is_partial
    from conformance.replay import check_trace

    if is_columns(path):
        from conformance.columns.judge import check_columns

        return check_columns(path)
    return check_partial(path, hidden) if is_partial(path) else check_trace(path)
