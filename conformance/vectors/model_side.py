"""The model's answers to questions about Kafka's behaviour, one a file and operation.

The model's pure functions answer here under the names of its own; what it does in steps is asked
of its transitions, by whoever adds an answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from conformance.vectors import (
    model_controller,
    model_followers,
    model_moves,
    model_obedience,
    model_sequences,
)
from model.protocol import assignment
from model.protocol.assignment import AssignmentRefused

Question = Mapping[str, Any]
Answer = Callable[[Question], Any]


def _or_refusal(ask: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return ask()
    except AssignmentRefused as refused:
        return {"error": refused.exception, "message": str(refused)}


def _racks(asked: Mapping[str, Any]) -> dict[int, str | None]:
    if "racks" in asked:
        return {int(broker): rack for broker, rack in asked["racks"].items()}
    return dict.fromkeys(asked["brokers"])


def _by_number(placed: Mapping[int, Iterable[int]]) -> dict[str, list[int]]:
    return {str(partition): list(replicas) for partition, replicas in placed.items()}


def assign(question: Question) -> dict[str, Any]:
    """Replicas for new partitions."""
    asked = question["input"]

    def ask() -> dict[str, Any]:
        placed = assignment.assign_replicas(
            _racks(asked),
            asked["nPartitions"],
            asked["rf"],
            asked.get("startIndex", 0),
            asked.get("replicaShift", 0),
            max(0, asked.get("startPartitionId", 0)),
        )
        return {"assignment": _by_number(placed)}

    return _or_refusal(ask)


def rack_alternated(question: Question) -> dict[str, Any]:
    """Brokers in the order of racks taking turns."""
    racks = question["input"]["racks"].items()
    return {"list": assignment.rack_alternated({int(one): rack for one, rack in racks})}


def properties(question: Question) -> dict[str, Any]:
    """What is the same for the placements of one start, or of every start and shift."""
    asked = question["input"]
    racks, start = _racks(asked), asked["startIndex"]
    size = range(len(racks))
    draws = [(one, two) for one in size for two in size] if start == "any" else [(start, start)]
    placed = [
        assignment.assign_replicas(
            racks, asked["nPartitions"], asked["rf"], one, two, asked["startPartitionId"]
        )
        for one, two in draws
    ]
    leaders = [Counter(replicas[0] for replicas in one.values()) for one in placed]
    holders = [Counter(held for replicas in one.values() for held in replicas) for one in placed]
    rows = [replicas for one in placed for replicas in one.values()]
    return {
        "leadersPerBroker": _common(count[broker] for count in leaders for broker in racks),
        "replicasPerBroker": _common(count[broker] for count in holders for broker in racks),
        "racksPerPartition": _common(len({racks[one] for one in row}) for row in rows),
        "distinctReplicas": all(len(set(row)) == len(row) for row in rows),
    }


def _common(values: Iterable[int]) -> int | list[int]:
    distinct = sorted(set(values))
    return distinct[0] if len(distinct) == 1 else distinct


def add_partitions(question: Question) -> dict[str, Any]:
    """Replicas of the partitions that a topic grows by."""
    asked = question["input"]
    existing = {int(number): replicas for number, replicas in asked["existing"].items()}
    manual = asked.get("manual")
    by_hand = {int(p): replicas for p, replicas in manual.items()} if manual is not None else None

    def ask() -> dict[str, Any]:
        racks = _racks(asked)
        added = assignment.add_partitions(existing, racks, asked["newTotal"], by_hand)
        return {
            "added": _by_number(added),
            "startIndex": assignment.start_of_addition(existing, racks),
            "startPartitionId": len(existing),
        }

    return _or_refusal(ask)


def parse_replica_assignment(question: Question) -> dict[str, Any]:
    """``--replica-assignment``."""
    text = question["input"]["arg"]
    return _or_refusal(
        lambda: {"assignment": _by_number(assignment.parse_replica_assignment(text))}
    )


def validate_assignment(question: Question) -> dict[str, Any]:
    """The replicas of a new topic, given by hand."""
    wanted = {int(number): ids for number, ids in question["input"]["assignment"].items()}

    def ask() -> dict[str, Any]:
        assignment.check_assignment(wanted)
        return {"error": None}

    return _or_refusal(ask)


ANSWERS: dict[tuple[str, str], Answer] = {
    ("assignment", "assign"): assign,
    ("assignment", "rackAlternatedList"): rack_alternated,
    ("assignment", "assignProperties"): properties,
    ("assignment", "addPartitions"): add_partitions,
    ("election", "elect"): model_controller.elect,
    ("partition_state_machine", "transition"): model_controller.partition_transition,
    ("partition_state_machine", "effects"): model_controller.partition_effects,
    ("replica_state_machine", "transition"): model_controller.replica_transition,
    ("replica_state_machine", "effects"): model_controller.replica_effects,
    ("leader_epoch_cache", "epochCache"): model_followers.epoch_cache,
    ("reassignment", "reassignTrace"): model_moves.reassign_trace,
    ("reassignment", "reassignTraceKip455"): model_moves.reassign_trace_kip_455,
    ("reassignment", "guard"): model_moves.guard,
    ("replica_manager", "leaderAndIsr"): model_obedience.leader_and_isr,
    ("request_sequences", "sequence"): model_sequences.sequence,
    ("truncation", "offsetTruncationState"): model_followers.truncation,
    ("truncation", "offsetTruncationStateOld"): model_followers.old_truncation,
    ("topic_admin", "parseReplicaAssignment"): parse_replica_assignment,
    ("topic_admin", "validateAssignment"): validate_assignment,
}
"""By file and operation."""
