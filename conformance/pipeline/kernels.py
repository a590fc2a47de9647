"""Plain functions in the form that both engines call: Arrow tables in, Arrow tables out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import pyarrow as pa

from conformance.ingest.schema import Event, events_of
from conformance.pipeline.check_rules import judge
from conformance.pipeline.clocks import Clock, clocks
from conformance.pipeline.corpus import JudgedCorpus
from conformance.pipeline.cycles import without_cycle_collector
from conformance.pipeline.places import Place
from conformance.pipeline.rules import FINDINGS, Finding

_FINDING, _CHECKED, _FIRED, _SEQUENCES = "finding", "checked", "fired", "sequences"
_CLOCK, _ELECTION, _REQUESTS = "clock", "election", "requests"


def judge_cluster(
    events: pa.Table, places: Mapping[str, Place], reduced: bool = False, marked: bool = False
) -> pa.Table:
    """Applies all rules to one cluster: a table of `FINDINGS`, with what was looked at.

    `reduced` and `marked` as in `judge`.
    """
    return judge_events(events_of(events), places, reduced, marked)


@without_cycle_collector
def judge_events(
    inside: Sequence[Event],
    places: Mapping[str, Place],
    reduced: bool = False,
    marked: bool = False,
) -> pa.Table:
    """Judges events where their table need not stay in memory as well."""
    cluster = inside[0].cluster if inside else ""
    context = judge(inside, places, reduced, marked)
    rows: list[dict[str, Any]] = [
        {"what": _FINDING} | asdict(finding) | {"positions": list(finding.positions)}
        for finding in context.findings
    ]
    others = {rule: count - context.of_requests[rule] for rule, count in context.checked.items()}
    rows += [
        {"what": what, "cluster": cluster, "rule": rule, "count": count}
        for what, counted in ((_CHECKED, others), (_REQUESTS, context.of_requests))
        for rule, count in sorted(counted.items())
    ]
    rows += [
        {"what": _FIRED, "cluster": cluster, "rule": step, "count": count}
        for step, count in sorted(context.fired.items())
    ]
    rows += [
        {"what": _ELECTION, "cluster": cluster, "rule": step, "count": count}
        for step, count in sorted(context.election_steps.items())
    ]
    rows += [
        {"what": _CLOCK, "cluster": cluster, "count": clock.pairs} | asdict(clock)
        for clock in clocks(inside)
    ]
    rows.append({"what": _SEQUENCES, "cluster": cluster, "count": context.sequences})
    return pa.Table.from_pylist(rows, schema=FINDINGS)


def judged_of(rows: Iterable[Mapping[str, Any]]) -> JudgedCorpus:
    """Combines the rows of `judge_cluster` of all clusters, in a fixed order."""
    judged = JudgedCorpus()
    for row in rows:
        if row["what"] == _FINDING:
            judged.findings.append(
                Finding(
                    kind=row["kind"],
                    cluster=row["cluster"],
                    file=row["file"],
                    line=row["line"],
                    rule=row["rule"],
                    why=row["why"],
                    allowed=row["allowed"],
                    positions=tuple(row["positions"]),
                )
            )
        elif row["what"] in (_CHECKED, _REQUESTS):
            judged.checked[row["rule"]] += row["count"]
        elif row["what"] == _FIRED:
            judged.fired[row["rule"]] += row["count"]
        elif row["what"] == _ELECTION:
            judged.election_steps[row["rule"]] += row["count"]
        elif row["what"] == _CLOCK:
            clock = Clock(
                row["broker"], row["against"], row["least"], row["most"], pairs=row["count"]
            )
            judged.clocks.append((row["cluster"], clock))
        else:
            judged.sequences += row["count"]
    judged.clocks.sort(key=lambda each: (each[0], each[1].against, each[1].broker))
    judged.findings.sort(key=lambda finding: finding.order)
    return judged
