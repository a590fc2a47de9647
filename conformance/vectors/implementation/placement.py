"""Answers about placing replicas (assignment.json)."""

from __future__ import annotations

from collections import Counter
from typing import Any

from conformance.vectors.questions import Answer, Question, by_number, given, or_refusal, release
from impl.admin import placement
from impl.admin.placement import Assignment


def _brokers(asked: dict[str, Any]) -> dict[int, str | None]:
    if "racks" in asked:
        return {int(broker): rack for broker, rack in asked["racks"].items()}
    return dict.fromkeys(asked["brokers"])


def assign(question: Question) -> dict[str, Any]:
    """Replicas for new partitions."""
    asked = given(question)

    def ask() -> dict[str, Any]:
        placed = placement.assign_replicas(
            _brokers(asked),
            asked["nPartitions"],
            asked["rf"],
            asked.get("startIndex", 0),
            asked.get("replicaShift", 0),
            release(question),
            max(0, asked.get("startPartitionId", 0)),
        )
        return {"assignment": by_number(placed)}

    return or_refusal(ask)


def rack_alternated(question: Question) -> dict[str, Any]:
    """Brokers in the order of racks taking turns."""
    racks = {int(broker): rack for broker, rack in given(question)["racks"].items()}
    return {"list": placement.rack_alternated(racks)}


def properties(question: Question) -> dict[str, Any]:
    """What is the same for all placements, or why there is none."""
    return or_refusal(lambda: _properties(question))


def _properties(question: Question) -> dict[str, Any]:
    """What is the same for all placements: of one start, or of every start and shift."""
    asked, brokers = given(question), _brokers(given(question))
    start = asked["startIndex"]
    draws = (
        [(one, other) for one in range(len(brokers)) for other in range(len(brokers))]
        if start == "any"
        else [(start, start)]
    )
    found = [
        placement.assign_replicas(
            brokers,
            asked["nPartitions"],
            asked["rf"],
            one,
            shift,
            release(question),
            asked["startPartitionId"],
        )
        for one, shift in draws
    ]
    return {
        "leadersPerBroker": _common(leads for each in found for leads in _leads(each, brokers)),
        "replicasPerBroker": _common(held for each in found for held in _held(each, brokers)),
        "racksPerPartition": _common(
            len({brokers[one] for one in replicas}) for each in found for replicas in each.values()
        ),
        "distinctReplicas": all(
            len(set(replicas)) == len(replicas) for each in found for replicas in each.values()
        ),
    }


def _leads(assignment: Assignment, brokers: dict[int, str | None]) -> list[int]:
    count = Counter(replicas[0] for replicas in assignment.values())
    return [count[broker] for broker in brokers]


def _held(assignment: Assignment, brokers: dict[int, str | None]) -> list[int]:
    count = Counter(one for replicas in assignment.values() for one in replicas)
    return [count[broker] for broker in brokers]


def _common(values: Any) -> int | list[int]:
    """The one value that there is, else all of them."""
    distinct = sorted(set(values))
    return distinct[0] if len(distinct) == 1 else distinct


def add_partitions(question: Question) -> dict[str, Any]:
    """Replicas of the partitions that a topic grows by."""
    asked = given(question)
    brokers = dict(sorted(_brokers(asked).items()))  # as getBrokerMetadatas sorts them
    existing = {int(number): replicas for number, replicas in asked["existing"].items()}
    manual = asked.get("manual")
    by_hand = {int(p): r for p, r in manual.items()} if manual is not None else None

    def ask() -> dict[str, Any]:
        added = placement.add_partitions(
            asked.get("topic", "t"),
            existing,
            brokers,
            asked["newTotal"],
            release(question),
            by_hand,
        )
        start, first = placement.added_from(existing, list(brokers))
        return {"added": by_number(added), "startIndex": start, "startPartitionId": first}

    return or_refusal(ask)


ANSWERS: dict[tuple[str, str], Answer] = {
    ("assignment", "assign"): assign,
    ("assignment", "rackAlternatedList"): rack_alternated,
    ("assignment", "assignProperties"): properties,
    ("assignment", "addPartitions"): add_partitions,
}
