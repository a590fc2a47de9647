"""All rules on the events of one cluster: a plain function, the same with and without Spark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from conformance.ingest.schema import Event
from conformance.pipeline import rules_brokers, rules_controllers, rules_partitions
from conformance.pipeline.bench import Bench
from conformance.pipeline.history import History
from conformance.pipeline.places import Place


def judge(events: Iterable[Event], places: Mapping[str, Place]) -> Bench:
    """Every rule on the events of one cluster."""
    bench = Bench(History(events, places))
    rules_controllers.check(bench)
    rules_partitions.check(bench)
    rules_brokers.check(bench)
    bench.findings.sort(key=lambda finding: finding.order)
    return bench
