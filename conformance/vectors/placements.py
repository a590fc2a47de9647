"""Reads and writes placements of replicas in cases, for both sides (assignment.json)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

Placement = Mapping[int, Sequence[int]]
Place = Callable[[int, int], Placement]
"""Places the replicas of a question, given where leaders begin and by how much others are off."""


def brokers_of(asked: Mapping[str, Any]) -> dict[int, str | None]:
    """The brokers with their racks, in the order of the question; Kafka's callers sort them."""
    if "racks" in asked:
        return {int(broker): rack for broker, rack in asked["racks"].items()}
    return dict.fromkeys(asked["brokers"])


def numbered(replicas: Mapping[str, Any] | None) -> dict[int, Any] | None:
    """Lists of replicas by partition, as JSON has them."""
    return None if replicas is None else {int(number): ids for number, ids in replicas.items()}


def by_number(placed: Mapping[int, Iterable[int]]) -> dict[str, list[int]]:
    """A placement with the keys of JSON."""
    return {str(number): list(replicas) for number, replicas in placed.items()}


def placed(asked: Mapping[str, Any], place: Place) -> dict[str, Any]:
    """The placement for the start and shift of the question, 0 by default."""
    start, shift = asked.get("startIndex", 0), asked.get("replicaShift", 0)
    return {"assignment": by_number(place(start, shift))}


def properties(asked: Mapping[str, Any], place: Place) -> dict[str, Any]:
    """Properties common to the placements of one start, or of every start and shift."""
    racks, start = brokers_of(asked), asked["startIndex"]
    size = range(len(racks))
    draws = [(one, two) for one in size for two in size] if start == "any" else [(start, start)]
    found = [place(*draw) for draw in draws]
    leaders = [Counter(replicas[0] for replicas in one.values()) for one in found]
    holders = [Counter(held for replicas in one.values() for held in replicas) for one in found]
    rows = [replicas for one in found for replicas in one.values()]
    return {
        "leadersPerBroker": _common(count[broker] for count in leaders for broker in racks),
        "replicasPerBroker": _common(count[broker] for count in holders for broker in racks),
        "racksPerPartition": _common(len({racks[one] for one in row}) for row in rows),
        "distinctReplicas": all(len(set(row)) == len(row) for row in rows),
    }


def _common(values: Iterable[int]) -> int | list[int]:
    distinct = sorted(set(values))
    return distinct[0] if len(distinct) == 1 else distinct
