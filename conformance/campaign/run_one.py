"""Records one run of a campaign, judges it from its record, and shrinks it, without Spark."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from conformance.campaign.plan import NOTHING, CampaignRun
from conformance.diagnosis import diagnose
from conformance.lockstep import BOUNDS
from conformance.mutants.planted import PLANTED
from conformance.replay import judge
from impl.world.minimize_run import shrink
from impl.world.partition_simulator import simulate, steps_of
from impl.world.trace import Trace, TraceError, lines_of, parse_trace
from model.replication import SYSTEM as REPLICATION
from specs.verdict import Verdict

_ABSENT = object()


@contextlib.contextmanager
def with_planted(bug: str) -> Iterator[None]:
    """Plants a historic bug in this process's implementation, and removes it afterwards.

    Raises KeyError for a bug that cannot be planted.
    """
    parts = () if bug == NOTHING else {one.id: one for one in PLANTED}[bug].parts
    before = [(owner, name, vars(owner).get(name, _ABSENT)) for owner, name, _ in parts]
    for owner, name, replacement in parts:
        setattr(owner, name, replacement)
    try:
        yield
    finally:
        for owner, name, was in before:
            if was is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, was)


def recorded(cell: CampaignRun, steps: int, brokers: int) -> list[dict[str, Any]]:
    """Rows of `TRACES`: the lines of the run's `insync.trace/1`.

    A planted bug may make the implementation itself fail; the line of the failure says so.
    """
    with with_planted(cell.planted):
        try:
            lines = lines_of(simulate(cell.seed, steps, cell.profile, brokers))
        except Exception as error:  # a bug may do anything
            if cell.planted == NOTHING:
                raise
            lines = [f"the run failed: {type(error).__name__}: {error}"]
    return [
        {**asdict(cell), "line": line, "text": text + "\n"} for line, text in enumerate(lines, 1)
    ]


def judged(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A row of `VERDICTS` from the lines of one run, in any order."""
    rows = sorted(rows, key=lambda row: row["line"])
    verdict = {name: rows[0][name] for name in ("number", "seed", "profile", "planted")}
    empty = {"events": 0, "line": None, "kind": None, "rule": None, "why": None}
    try:
        trace = parse_trace((row["text"] for row in rows), Path(f"seed-{verdict['seed']}.ndjson"))
    except TraceError as error:
        failed = verdict["planted"] != NOTHING and rows[0]["text"].startswith("the run failed")
        return {
            **verdict, **empty, "line": error.line,
            "verdict": str(Verdict.BROKEN if failed else Verdict.NOT_CHECKED),
            "kind": "failed" if failed else "unreadable",
            "rule": "a run goes on to its end and is recorded whole",
            "why": rows[0]["text"].strip() if failed else str(error),
        }  # fmt: skip
    report = judge(trace)
    found = {**empty, "verdict": str(report.verdict), "events": report.events}
    if report.findings:
        first = report.findings[0]
        found |= {"line": first.line, "kind": first.kind, "rule": first.rule, "why": first.why}
    return verdict | found


def made_small(cell: CampaignRun, steps: int, brokers: int) -> dict[str, Any]:
    """A row of `SMALL`: the smallest run found that breaks as this one does, and its story.

    The story is the model's: its steps up to there, and its reason for refusing the next step. It
    is empty if the run does not fit into bounds for which the model compiles.
    """

    def fails(played: Trace) -> int | None:
        report = judge(played)
        if report.verdict is not Verdict.BROKEN:
            return None
        return min(finding.line for finding in report.findings) - 1  # the header's line

    with with_planted(cell.planted):
        found = shrink(
            simulate(cell.seed, steps, cell.profile, brokers),
            fails,
            REPLICATION.bounds["brokers"].least,
        )
        taken = steps_of(found.trace)
        diagnosis = diagnose(taken, {**BOUNDS, "brokers": found.trace.header.brokers})
    return {
        **asdict(cell),
        "steps": [str(step) for step in taken],
        "brokers": found.after[0],
        "faults": found.after[1],
        "trace": "".join(f"{line}\n" for line in lines_of(found.trace)),
        "story": diagnosis.story if diagnosis is not None else "",
    }
