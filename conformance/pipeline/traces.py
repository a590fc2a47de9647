"""Recorded traces (`insync.trace/1`) beside logs: each is replayed on the model."""

from __future__ import annotations

from conformance.pipeline.findings import Finding
from conformance.pipeline.report import TraceResult


def replayed(path: str, hidden: int | None = None) -> TraceResult:
    """Replay one trace; what did not fit takes the form of every other finding.

    A trace whose header says that parts are missing is searched for a run that fits; `hidden` then
    overrides how many steps may be missing before a line.
    """
    from conformance.partial import check_partial, is_partial
    from conformance.replay import check_trace

    report = check_partial(path, hidden) if is_partial(path) else check_trace(path)
    return TraceResult(
        file=path,
        verdict=report.verdict,
        lines=report.events,
        findings=[
            Finding(
                kind=misfit.kind,
                cluster="",
                file=misfit.file,
                line=misfit.line,
                rule=misfit.rule,
                why=misfit.why,
                allowed=misfit.allowed,
                positions=(f"{misfit.file}:{misfit.line}",),
            )
            for misfit in report.findings
        ],
        coverage={
            "accepted": report.accepted,
            "silent": report.silent,
            "hidden": report.hidden,
            "fired": dict(sorted(report.fired.items())),
        },
    )
