"""Recorded traces (lines or columns) beside logs: each is replayed on the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from conformance.columns.magic import is_columns
from conformance.pipeline.findings import Finding
from conformance.pipeline.report import TraceResult

if TYPE_CHECKING:
    from conformance.misfits import Misfit
    from conformance.partial import PartialReport
    from conformance.replay import TraceReport


def replayed(path: str, hidden: int | None = None) -> TraceResult:
    """Replay one trace; what did not fit takes the form of every other finding.

    A trace whose header says that parts are missing is searched for a run that fits; `hidden` then
    overrides how many steps may be missing before a line.
    """
    report = _report(path, hidden)
    return TraceResult(
        file=path,
        verdict=report.verdict,
        lines=report.events,
        findings=[_finding(misfit) for misfit in report.findings],
        coverage={
            "accepted": report.accepted,
            "silent": report.silent,
            "hidden": report.hidden,
            "fired": dict(sorted(report.fired.items())),
        },
    )


def replayed_cluster(folder: str, paths: Sequence[str]) -> TraceResult:
    """Replay what the processes of one cluster traced; `folder` is where their files are."""
    from conformance.running.judge import judge_running

    report = judge_running(paths, folder)
    silent = report.events - sum(one.lines for one in report.replayed)
    return TraceResult(
        file=folder,
        verdict=report.verdict,
        lines=report.events,
        findings=[_finding(misfit) for misfit in report.findings],
        coverage={
            "accepted": report.events,
            "silent": max(0, silent),
            "hidden": 0,
            "fired": dict(sorted(report.fired.items())),
            "files": report.files,
            "version": report.version,
            "partitions": report.partitions(),
            "by_force": dict(report.forced.most_common()),
        },
    )


def _finding(misfit: Misfit) -> Finding:
    return Finding(
        kind=misfit.kind,
        cluster="",
        file=misfit.file,
        line=misfit.line,
        rule=misfit.rule,
        why=misfit.why,
        allowed=misfit.allowed,
        positions=(f"{misfit.file}:{misfit.line}",),
    )


def _report(path: str, hidden: int | None) -> TraceReport | PartialReport:
    from conformance.partial import check_partial, is_partial
    from conformance.replay import check_trace

    if is_columns(path):
        from conformance.columns.judge import check_columns

        return check_columns(path)
    return check_partial(path, hidden) if is_partial(path) else check_trace(path)
