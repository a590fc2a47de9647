"""Applies all rules to the events of one cluster, as a plain function for every engine."""

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
    rules_details,
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
from conformance.pipeline.mixed import perhaps_two_clusters, two_clusters
from conformance.pipeline.places import Place
from conformance.pipeline.request_rows import fences_sessions, release_number
from conformance.pipeline.rule_context import RuleContext
from conformance.pipeline.rules import ONE_CLUSTER, FindingKind


def judge(
    events: Iterable[Event],
    places: Mapping[str, Place],
    reduced: bool = False,
    marked: bool = False,
) -> RuleContext:
    """Applies every rule to the events of one cluster, up to where KRaft takes over.

    `reduced`: of its large partitions, only lines that `screen` handed on are here; `marked`: each
    line that contradicts a neighbour says so (see `History`).
    """
    events = list(events)
    transactions = [event for event in events if event.kind in TRANSACTIONS]
    judged, findings = kraft.split(event for event in events if event.kind not in TRANSACTIONS)
    mixed = two_clusters(judged, places)
    if mixed is not None:
        judged, findings = [], [*findings, mixed]
    else:
        judged += transactions
    context = RuleContext(History(judged, places, reduced, marked), findings)
    for line, why in perhaps_two_clusters(context.history.events, places):
        context.report(FindingKind.INCOMPLETE, ONE_CLUSTER, line, why)
    rules_lines.check(context)
    rules_controllers.check(context)
    rules_partitions.check(context)
    rules_brokers.check(context)
    rules_truncation.check(context)
    rules_deletion.check_names(context)
    rules_deletion.check_made_again(context)
    rules_deletion.check_topics(context)
    release = oldest_release(context)
    rules_data_plane.check(context, fences_sessions(release))
    rules_states.check_versions(context)
    rules_model.check(context, release)
    rules_states.check(context)
    rules_isr.check(context)
    rules_requests.check(context)
    rules_channels.check(context)
    rules_order.check(context)
    rules_details.check(context)
    rules_controllership.check(context, release)
    rules_zookeeper.check(context, release)
    rules_missing.check(context)
    context.findings.sort(key=lambda finding: finding.order)
    return context


def oldest_release(context: RuleContext) -> str | None:
    """The oldest release that a broker of the cluster logs; None if none is logged."""
    named = {event.detail for event in context.history.events if event.kind == "release"}
    releases = sorted(
        (release_number(each), each) for each in named if each and release_number(each)
    )
    return releases[0][1] if releases else None
