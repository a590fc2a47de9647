"""The verdict on a cluster's traces, by `replication`, `election` and `cluster`.

Each partition is judged separately, up to its first line that is no step of the model. Whatever
cannot be judged because a file or a line is missing is unknown; the rest is still judged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from conformance.running.at_rest import AtRest, partition_at_rest
from conformance.running.cluster import replay_cluster, tells_of_controllers
from conformance.running.controllership import replay_controllership
from conformance.running.order import OrderedLines, order_lines
from conformance.running.partition import ReplicationJudge
from conformance.running.process_traces import (
    ZOOKEEPER,
    ClusterTraces,
    TraceProblem,
    read_process_traces,
)
from conformance.running.requests import RULE as NEVER_TAKEN_UP
from conformance.running.requests import never_taken_up
from conformance.running.result import ReplayResult
from conformance.trace_report import TraceReport
from impl.releases import Release
from model.language import ProtocolError
from specs.rendering import HIDDEN
from specs.verdict import FindingKind, Verdict, combine

MOST_BROKERS = 9
MOST_SHOWN = 8


@dataclass
class RunningReport(TraceReport):
    """What was found out about a cluster; `replayed` are its partitions and its controllership."""

    files: int = 0
    version: str = ""
    replayed: list[ReplayResult] = field(default_factory=list, metadata=HIDDEN)
    stuck: int = 0
    """Lines that wait for each other, which no replay has come to."""

    def partitions(self) -> list[dict[str, object]]:
        """A row a partition, the controllership among them."""
        return [
            {"partition": one.name, "lines": one.lines, "explained": one.explained,
             "left": one.left, "beyond": one.beyond, "steps": sum(one.fired.values()),
             "verdict": _verdict(one).value}
            for one in self.replayed
        ]  # fmt: skip

    def count(self) -> None:
        """Adds up the replayed steps of the model, and the forced changes by reason."""
        self.fired = sum((one.fired for one in self.replayed), Counter[str]())
        forced = sum((one.forced for one in self.replayed), Counter[str]())
        judged = self.stuck + sum(one.lines for one in self.replayed)
        self.silent = max(0, self.events - judged)
        self.details = {
            "files": self.files,
            "version": self.version,
            "partitions": self.partitions(),
            "by_force": dict(forced.most_common()),
            "stuck": self.stuck,
        }


def judge_running(
    paths: Iterable[str | Path], folder: str = "", rest: AtRest | None = None
) -> RunningReport:
    """Judges the files of one cluster; `folder` is its name. `rest` is the final state of a cluster
    that was left alone for long enough."""
    gathered = read_process_traces(paths)
    report = RunningReport(
        folder, Verdict.NOT_CHECKED, events=gathered.read, accepted=gathered.read,
        files=len(gathered.starts), version=gathered.version,
    )  # fmt: skip
    for one in gathered.troubles:
        report.add(
            FindingKind.INCOMPLETE, one.file, one.line, "the files of one cluster are whole",
            one.why, one.wanted,
        )  # fmt: skip
    why = _why_not(gathered)
    if why:
        report.add(
            FindingKind.INCOMPLETE, folder, 1, "a traced cluster is judged by the model", why,
            "brokers and ZooKeeper of one cluster, of a release with leader epochs asked for",
        )  # fmt: skip
        report.verdict = Verdict.UNKNOWN if gathered.read else Verdict.NOT_CHECKED
    else:
        report.verdict = _judged(report, gathered, rest)
    report.count()
    return report


def _judged(report: RunningReport, gathered: ClusterTraces, rest: AtRest | None) -> Verdict:
    order = order_lines(gathered)
    report.stuck = len(order.stuck)
    if order.stuck:
        first, *others = order.circle
        way = [f"{Path(one.file).name}:{one.number} ({one.step})" for one in (first, *others)]
        shown = [
            *way[:MOST_SHOWN],
            *([f"{len(way) - MOST_SHOWN} more"] if way[MOST_SHOWN:] else []),
        ]
        report.add(
            FindingKind.IMPOSSIBLE, first.file, first.number, "an effect comes after its cause",
            f"{len(order.stuck)} lines wait for each other: no order of them is possible, since "
            f"{' comes before '.join([*shown, 'the first'])}",
            "lines as the processes wrote them",
        )  # fmt: skip
    _replay(report, gathered, order, rest)
    passed_over = list(never_taken_up(gathered))
    for line, why in passed_over:
        report.add(
            FindingKind.IMPOSSIBLE, line.file, line.number, NEVER_TAKEN_UP, why,
            "a write of the controller that takes the request up before it goes on",
        )  # fmt: skip
    whole = not gathered.troubles
    verdicts = [_verdict(one) for one in report.replayed if one.fired or not one.beyond]
    verdicts += [Verdict.UNKNOWN] * (not whole) + [Verdict.BROKEN] * bool(
        order.stuck or passed_over
    )
    return combine(verdicts)


def _why_not(gathered: ClusterTraces) -> str:
    if not gathered.starts:
        return "there is no file that can be believed"
    if not any(one.process[0] == ZOOKEEPER for one in gathered.starts):
        return "without ZooKeeper's trace nothing says in which order states were written"
    brokers = [one for one in gathered.starts if one.process[0] == "broker"]
    if not brokers:
        return "there is no broker's trace"
    if len({one.process for one in brokers}) > MOST_BROKERS:
        return f"there are more than {MOST_BROKERS} brokers"
    try:
        _protocol_release(gathered)
    except ValueError as error:
        return f"the header names no release: {error}"
    return ""


def _protocol_release(gathered: ClusterTraces) -> Release:
    """The release that the brokers speak among them. ValueError."""
    first = next(one for one in gathered.starts if one.process[0] == "broker")
    return Release.of(str(first.settings.get("protocol", gathered.version)))


BY_REQUEST: dict[str, object] = {"isr_write_locks": False, "lost_isr_answer_blocks": True}
"""Who speaks 2.7 asks the controller for another ISR, and counts on either meanwhile (KIP-497)."""


def _replay(
    report: RunningReport, gathered: ClusterTraces, order: OrderedLines, rest: AtRest | None
) -> None:
    brokers = {one.process[1] for one in gathered.starts if one.process[0] == "broker"}
    brokers |= set(order.brokers.values())
    unclean = any(one.settings.get("unclean") for one in gathered.starts)
    try:
        version = gathered.version
        more = dict(BY_REQUEST) if _protocol_release(gathered).since("2.7") else {}
        # Up to 1.0 the last member leaves an ISR where unclean elections are allowed.
        keeps = Release.of(gathered.version).since("1.1") or not unclean
        more |= {"unclean_leader_election": unclean, "isr_keeps_last_member": keeps}
        at_the_end = partial(partition_at_rest, rest) if rest is not None else None
        judge = ReplicationJudge(order, brokers, version, more, at_the_end)
        done = [replay_controllership(order, brokers, version, {}, rest)]
        if tells_of_controllers(order):
            of_topics = {"unclean_leader_election": unclean}
            done.append(replay_cluster(order, brokers, version, of_topics))
    except ProtocolError as error:
        report.add(
            FindingKind.INCOMPLETE, report.path, 1, "the release is one of the model's", str(error),
            "a release that insync versions prints",
        )  # fmt: skip
        report.replayed.append(ReplayResult("", unknown=str(error)))
        return
    done += [judge.replay(one) for one in judge.partitions()]
    for one in done:
        _explain(report, gathered, one)
    report.replayed += done


def _explain(report: RunningReport, gathered: ClusterTraces, one: ReplayResult) -> None:
    """A misfit of which a missing line may be the reason breaks nothing."""
    if one.misfit is None and not one.unknown:
        return
    assert one.at is not None, "it stands at a line"
    what = f"broker {one.at.broker}'s" if one.at.broker else "ZooKeeper's"
    place = f"{what} trace, line {one.at.number} ({one.name})"
    if one.misfit is None:
        report.add(
            FindingKind.INCOMPLETE, one.at.file, one.at.number, "every line is a step of the model",
            f"{place}: {one.unknown}; what follows is unknown", "a step that the model has",
        )  # fmt: skip
        return
    kind, rule, why, allowed = (
        FindingKind.IMPOSSIBLE,
        one.misfit.rule,
        one.misfit.why,
        one.misfit.allowed,
    )
    if gathered.troubles and _may_be_why(gathered.troubles):
        one.unknown, one.misfit, kind = why, None, FindingKind.INCOMPLETE
        why += "; lines are missing that may say why"
    report.add(kind, one.at.file, one.at.number, rule, f"{place}: {why}", allowed)


def _may_be_why(troubles: Iterable[TraceProblem]) -> bool:
    return any(one.broker is not None or ZOOKEEPER in Path(one.file).name for one in troubles)


def _verdict(one: ReplayResult) -> Verdict:
    if one.misfit is not None:
        return Verdict.BROKEN
    if one.unknown:
        return Verdict.UNKNOWN
    return Verdict.HOLDS if one.fired else Verdict.NOT_CHECKED
