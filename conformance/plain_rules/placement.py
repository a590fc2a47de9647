"""Replicas of added partitions and assignments given by hand, beside the model's placement.

Source: kafka.admin.AdminUtils / AdminZkClient.addPartitions.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from model.protocol.assignment import Assignment, AssignmentRefused, Racks, assign_replicas


def start_of_addition(existing: Mapping[int, Sequence[int]], brokers: Collection[int]) -> int:
    """The start that Kafka fixes for added partitions: where the first replica of partition 0 is.

    It is the index of the first broker with that id or a greater one, or 0 if there is none.
    """
    leader = existing[0][0]
    return next((at for at, broker in enumerate(sorted(brokers)) if broker >= leader), 0)


def add_partitions(
    existing: Mapping[int, Sequence[int]],
    racks: Racks,
    total: int,
    manual: Mapping[int, Sequence[int]] | None = None,
) -> Assignment:
    """The partitions that a topic gets to have `total` of them; those that it has stay.

    Nothing is drawn: start and shift are both `start_of_addition`. `manual` is a list for every
    partition, of which those that exist already are skipped.
    AssignmentRefused: not more than there are, partition 0 missing, or `manual` does not fit.
    """
    if 0 not in existing:
        raise AssignmentRefused(
            "AdminOperationException",
            "Unexpected existing replica assignment, partition id 0 is missing.",
        )
    if total <= len(existing):
        raise AssignmentRefused(
            "InvalidPartitionsException",
            "The number of partitions for a topic can only be increased. "
            f"It has {len(existing)} partitions, which would not be an increase to {total}.",
        )
    replication_factor, first = len(existing[0]), len(existing)
    if manual is None:
        start = start_of_addition(existing, racks)
        return assign_replicas(racks, total - first, replication_factor, start, start, first)
    added = {
        partition: list(replicas) for partition, replicas in manual.items() if partition >= first
    }
    if sorted(added) != list(range(first, total)):
        raise AssignmentRefused(
            "InvalidReplicaAssignmentException",
            f"The assignment must name the partitions up to {total - 1}, and no other.",
        )
    check_assignment({0: existing[0], **added}, racks)
    return added


def check_assignment(
    assignment: Mapping[int, Sequence[int]], brokers: Collection[int] | None = None
) -> None:
    """Refuses lists of different lengths, a broker twice in a list, and unknown brokers."""
    for partition, replicas in sorted(assignment.items()):
        if len({*replicas}) < len(replicas):
            raise AssignmentRefused(
                "InvalidReplicaAssignmentException",
                f"Duplicate replica assignment found: partition {partition} has {[*replicas]}.",
            )
        unknown = sorted({*replicas} - {*(replicas if brokers is None else brokers)})
        if unknown:
            raise AssignmentRefused(
                "InvalidReplicaAssignmentException",
                f"Unknown broker(s) in replica assignment: {', '.join(map(str, unknown))}.",
            )
    if len({len(replicas) for replicas in assignment.values()}) > 1:
        raise AssignmentRefused(
            "InvalidReplicaAssignmentException",
            "All partitions should have the same number of replicas.",
        )
