"""Answers about placing replicas (assignment.json)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.vectors import placements
from conformance.vectors.placements import Place, Placement, brokers_of, by_number, numbered
from conformance.vectors.questions import Answer, Question, given, or_refusal, release, under
from impl.admin import placement
from impl.releases import Release


def _place(asked: Mapping[str, Any], under_release: Release) -> Place:
    def place(start: int, shift: int) -> Placement:
        first = max(0, asked.get("startPartitionId", 0))
        return placement.assign_replicas(
            brokers_of(asked), asked["nPartitions"], asked["rf"], start, shift, under_release, first
        )

    return place


def assign(question: Question) -> dict[str, Any]:
    """Replicas for new partitions."""
    asked = given(question)
    return or_refusal(lambda: placements.placed(asked, _place(asked, release(question))))


def rack_alternated(question: Question) -> dict[str, Any]:
    """Brokers in the order of racks taking turns."""
    racks = {one: rack or "" for one, rack in brokers_of(given(question)).items()}
    return {"list": placement.rack_alternated(racks)}


def properties(question: Question) -> dict[str, Any]:
    """Properties common to all placements, or the reason why there is none."""
    asked = given(question)
    return or_refusal(lambda: placements.properties(asked, _place(asked, release(question))))


def add_partitions(question: Question) -> dict[str, Any]:
    """The replicas of the partitions that are added to a topic."""
    asked = given(question)
    brokers = dict(sorted(brokers_of(asked).items()))  # as getBrokerMetadatas sorts them
    existing, by_hand = numbered(asked["existing"]) or {}, numbered(asked.get("manual"))

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


ANSWERS: dict[tuple[str, str], Answer] = under(
    "assignment",
    assign=assign,
    rackAlternatedList=rack_alternated,
    assignProperties=properties,
    addPartitions=add_partitions,
)
