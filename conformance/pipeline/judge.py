"""All rules on the events of one cluster, as a plain function for every engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from conformance.ingest.schema import Event
from conformance.ingest.znode_rows import TRANSACTIONS
from conformance.pipeline import (
    kraft,
    rules_brokers,
    rules_channels,
    rules_controllers,
    rules_controllership,
    rules_data_plane,
    rules_deletion,
    rules_isr,
    rules_lines,
    rules_missing,
    rules_model,
    rules_order,
    rules_partitions,
    rules_requests,
    rules_states,
    rules_truncation,
    rules_zookeeper,
)
from conformance.pipeline.history import History
from conformance.pipeline.mixed import two_clusters
from conformance.pipeline.places import Place
from conformance.pipeline.request_rows import fences_sessions, release_number
from conformance.pipeline.rule_context import RuleContext


def judge(
    events: Iterable[Event],
    places: Mapping[str, Place],
    reduced: bool = False,
    marked: bool = False,
) -> RuleContext:
    """Every rule on the events of one cluster, up to where KRaft takes over.

    `reduced`: of its partitions only what was handed on is here, `marked` where it does not go
    together (`History`).
    """
    events = list(events)
    transactions = [event for event in events if event.kind in TRANSACTIONS]
    judged, findings = kraft.split(event for event in events if event.kind not in TRANSACTIONS)
    mixed = two_clusters(judged, places)
    if mixed is not None:
        judged, findings = [], [*findings, mixed]
    else:
        judged += transactions
    bench = RuleContext(History(judged, places, reduced, marked), findings)
    rules_lines.check(bench)
    rules_controllers.check(bench)
    rules_partitions.check(bench)
    rules_brokers.check(bench)
    rules_truncation.check(bench)
    rules_deletion.check_names(bench)
    rules_deletion.check_topics(bench)
    release = oldest_release(bench)
    rules_data_plane.check(bench, fences_sessions(release))
    rules_states.check_versions(bench)
    rules_model.check(bench, release)
    rules_states.check(bench)
    rules_isr.check(bench)
    rules_requests.check(bench)
    rules_channels.check(bench)
    rules_order.check(bench)
    rules_controllership.check(bench, release)
    rules_zookeeper.check(bench, release)
    rules_missing.check(bench)
    bench.findings.sort(key=lambda finding: finding.order)
    return bench


def oldest_release(bench: RuleContext) -> str | None:
    """The oldest release that a broker of the cluster says it runs; None if none says it."""
    named = {event.detail for event in bench.history.events if event.kind == "release"}
    releases = sorted(
        (release_number(each), each) for each in named if each and release_number(each)
    )
    return releases[0][1] if releases else None
