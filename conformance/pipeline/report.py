"""The result of an ingestion or a check, as plain data for JSON and for tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from conformance.ingest.parse import UNKNOWN_TEMPLATE, is_harmless_skip
from conformance.pipeline.causes import causes
from conformance.pipeline.corpus import Corpus, JudgedCorpus
from conformance.pipeline.coverage import as_rows, coverage_of
from conformance.pipeline.judgement import judgement, rule_rows
from conformance.pipeline.places import file_order_by_log
from conformance.pipeline.rules import FILE_ORDER, UNREAD, Finding, FindingKind
from conformance.pipeline.rules_controllership import HIDDEN, REFUSED
from conformance.trace_report import TraceReport

_TOLERATED = 10  # one protocol line in so many may be unknown before a judgement is doubtful


def lines_of(corpora: Iterable[Corpus]) -> dict[str, int]:
    """The number of lines read, by what became of them."""
    names = ("read", "events", "continuation", "rejected")
    files = [row for corpus in corpora for row in corpus.files]
    return {name: sum(row[name] for row in files) for name in names}


def ingest_summary(corpora: Sequence[Corpus]) -> dict[str, Any]:
    """Everything that ingestion reports, in a fixed order."""
    kinds: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for corpus in corpora:
        kinds.update(corpus.figures.kinds)
        for each in corpus.figures.unknown:
            reasons[each.reason] += each.count
    unknown = [asdict(each) for corpus in corpora for each in corpus.figures.unknown]
    unknown.sort(key=lambda each: (-each["count"], each["cluster"], each["template"]))
    files = sorted(
        (row for corpus in corpora for row in corpus.files), key=lambda row: str(row["file"])
    )
    return {
        "lines": lines_of(corpora),
        "distinct_events": sum(corpus.figures.distinct for corpus in corpora),
        "events_by_kind": dict(sorted(kinds.items(), key=lambda item: (-item[1], item[0]))),
        "rejected_by_reason": dict(sorted(reasons.items(), key=lambda item: (-item[1], item[0]))),
        "rejected_by_template": unknown,
        "clusters": _clusters(corpora),
        "files": files,
        "silent": [row for row in _reasons(files) if is_harmless_skip(row["reason"])],
        "unreadable": [
            *(row for row in _reasons(files) if not is_harmless_skip(row["reason"])),
            *(
                {"file": each.name, "reason": each.reason}
                for corpus in corpora
                for each in corpus.closed
            ),
        ],
        "skipped": [asdict(each) for corpus in corpora for each in corpus.skipped],
    }


def _reasons(files: Iterable[Mapping[str, Any]]) -> list[dict[str, str]]:
    return [{"file": row["file"], "reason": row["reason"]} for row in files if row["reason"]]


def check_result(
    corpora: Sequence[Corpus],
    judged: JudgedCorpus,
    traces: Sequence[TraceReport] = (),
    *,
    unread_too: bool = True,
) -> dict[str, Any]:
    """The result that `insync check --json` prints, and everything that ingestion reports.

    `unread_too` is false if `judged` already has the findings of `unread`.
    """
    findings = list(judged.findings)
    if unread_too:
        findings += [*unread(corpora), *disordered(corpora)]
    findings += [finding for trace in traces for finding in trace.findings]
    findings.sort(key=lambda finding: finding.order)
    summary = ingest_summary(corpora)
    lines = summary.pop("lines")
    # A line of a recorded trace is an event; nothing in it is continued or rejected.
    recorded = sum(trace.events for trace in traces)
    lines["read"] += recorded
    lines["events"] += recorded
    said = judgement(
        findings, judged.checked, summary, [(trace.verdict, trace.events) for trace in traces],
        sum(row["left"] for trace in traces for row in trace.details.get("partitions", ())),
    )  # fmt: skip
    election = _election(judged.election_steps)
    rows = [asdict(finding) for finding in findings]
    steps, refusals = coverage_of(judged.fired, election, summary["events_by_kind"])
    return {
        "verdict": said.verdict.value,
        "headline": said.headline,
        "except": list(said.exceptions),
        "lines": lines,
        "traces": len(traces) + judged.sequences,
        "findings": rows,
        "causes": [
            {
                "kind": cause.finding["kind"],
                "rule": cause.finding["rule"],
                "cluster": cause.finding["cluster"],
                "count": cause.count,
                "first": cause.places[0],
                "last": cause.places[-1],
                "why": cause.finding["why"],
            }
            for cause in causes(rows)
        ],
        "clocks": [{"cluster": cluster} | asdict(clock) for cluster, clock in judged.clocks],
        "coverage": {
            "rules": dict(sorted(judged.checked.items())),
            "compared": rule_rows(judged.checked) if corpora else [],
            "steps": dict(sorted(judged.fired.items())),
            "election": election,
            "model": as_rows(steps),
            "refusals": as_rows(refusals),
            "kinds": summary["events_by_kind"],
            "histories": judged.sequences,
            "recorded": [
                {"file": trace.path, "verdict": trace.verdict.value} | trace.coverage
                for trace in traces
            ],
        },
        **summary,
    }


def _election(counts: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """Steps of `election` that lines show, hidden steps between them, and refusals."""
    found: dict[str, dict[str, int]] = {"steps": {}, "hidden": {}, "refused": {}}
    for name, count in sorted(counts.items()):
        part = next((part for part in (HIDDEN, REFUSED) if name.startswith(part)), "")
        found[part.strip() or "steps"][name.removeprefix(part)] = count
    return found


def unread(corpora: Sequence[Corpus]) -> Iterable[Finding]:
    """A finding for each cluster whose lines match no template, or are in another layout."""
    for corpus in corpora:
        for cluster in _names(corpus):
            files = [row for row in corpus.files if row["cluster"] == cluster]
            protocol = sum(row["protocol"] for row in files)
            stamped = sum(row["events"] + row["rejected"] for row in files)
            rejected = [each for each in corpus.figures.unknown if each.cluster == cluster]
            unknown = [each for each in rejected if each.reason == UNKNOWN_TEMPLATE]
            misshapen = [each for each in rejected if each.reason != UNKNOWN_TEMPLATE]
            for some, of, why in (
                (unknown, protocol, "{} of {} lines of the protocol's loggers fit no template"),
                (misshapen, stamped, "{} of {} lines are not in the layout of Kafka's log4j"),
            ):
                count = sum(each.count for each in some)
                if count * _TOLERATED <= of:
                    continue
                first = min(some, key=lambda each: (each.file, each.line))
                yield Finding(
                    kind=FindingKind.INCOMPLETE.value,
                    cluster=cluster,
                    file=first.file,
                    line=first.line,
                    rule=UNREAD.name,
                    why=why.format(count, of),
                    allowed=UNREAD.allowed,
                    positions=(f"{first.file}:{first.line}",),
                )


def disordered(corpora: Sequence[Corpus]) -> Iterable[Finding]:
    """A finding for each log whose files are not in the order of their names."""
    for corpus in corpora:
        clusters = {row["name"]: row["cluster"] for row in corpus.logs}
        for stream, order in sorted(file_order_by_log(corpus.logs, corpus.files).items()):
            if order.shared or not (order.turned or order.tangled):
                continue
            names = sorted(order.rolls, key=lambda name: order.rolls[name])
            why = (
                "the files of this log were written in the other order than their names say, as "
                f"their stamps show; they are read from {names[0]} to {names[-1]}"
                if order.turned
                else f"the stamps of the {len(names)} files of {stream} overlap, so that nothing "
                "says which was written first; nothing is concluded from one to another"
            )
            yield Finding(
                kind=FindingKind.EXPLAINED.value,
                cluster=clusters[names[0]],
                file=names[0],
                line=1,
                rule=FILE_ORDER.name,
                why=why,
                allowed=FILE_ORDER.allowed,
                positions=tuple(f"{name}:1" for name in names),
            )


def _clusters(corpora: Sequence[Corpus]) -> list[dict[str, Any]]:
    found = []
    for corpus in corpora:
        for cluster in _names(corpus):
            files = [row for row in corpus.files if row["cluster"] == cluster]
            unknown = sum(
                each.count
                for each in corpus.figures.unknown
                if each.cluster == cluster and each.reason == UNKNOWN_TEMPLATE
            )
            found.append(
                {
                    "cluster": cluster,
                    "brokers": sorted({broker for row in files for broker in row["brokers"]}),
                    "releases": sorted({row["release"] for row in files if row["release"]}),
                    "files": len(files),
                    "lines": sum(row["read"] for row in files),
                    "protocol": sum(row["protocol"] for row in files),
                    "unknown": unknown,
                }
            )
    return found


def _names(corpus: Corpus) -> list[str]:
    return sorted({row["cluster"] for row in corpus.files})
