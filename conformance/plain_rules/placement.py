"""Places replicas of added partitions and checks manual assignments, beside the model's placement.

Source: kafka.admin.AdminUtils / AdminZkClient.addPartitions.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from model.protocol.assignment import Assignment, AssignmentRefused, Racks, assign_replicas


def start_of_addition(existing: Mapping[int, Sequence[int]], brokers: Collection[int]) -> int:
    """The fixed start for added partitions, from the first replica of partition 0.

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
    """The partitions to add so that a topic has `total` of them; existing ones stay.

    Nothing is random: start and shift are both `start_of_addition`. `manual` is a list for every
    partition, of which those that exist already are skipped. AssignmentRefused: `total` is not
    larger, partition 0 is missing, or `manual` does not fit.
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
        racks = dict(sorted(racks.items()))
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
    assignment: Mapping[int, Sequence[int]],
    brokers: Collection[int] | None = None,
    from_zero: bool = False,
) -> None:
    """Refuses lists of different lengths, a broker twice in a list, and unknown brokers.

    `from_zero`: partitions are numbered without a gap, like those of a new topic (2.3).
    """
    for partition, replicas in sorted(assignment.items()):
        if len({*replicas}) < len(replicas):
            raise AssignmentRefused(
                "InvalidReplicaAssignmentException",
                f"Duplicate replica assignment found: partition {partition} has {[*replicas]}.",
            )
        unknown = sorted({*replicas} - {*(replicas if brokers is None else brokers)})
        if unknown:
            raise AssignmentRefused(
                "BrokerNotAvailableException",
                f"Partition {partition} is given to brokers that are not available: "
                f"{', '.join(map(str, unknown))}.",
            )
    if len({len(replicas) for replicas in assignment.values()}) != 1:
        raise AssignmentRefused(
            "InvalidReplicaAssignmentException",
            "All partitions should have the same number of replicas.",
        )
    if from_zero and {*assignment} != {*range(len(assignment))}:
        raise AssignmentRefused(
            "InvalidReplicaAssignmentException",
            "partitions should be a consecutive 0-based integer sequence.",
        )


def parse_replica_assignment(text: str) -> Assignment:
    """The option --replica-assignment: `1:2:0,2:0:1` is two partitions with three replicas."""
    parsed: Assignment = {}
    for partition, listed in enumerate(text.split(",")):
        try:
            replicas = [int(broker) for broker in listed.split(":")]
        except ValueError:
            raise AssignmentRefused(
                "NumberFormatException",
                f"{listed!r} is no list of broker ids; write such as 1:2:0,2:0:1",
            ) from None
        if len({*replicas}) < len(replicas):
            raise AssignmentRefused(
                "AdminCommandFailedException",
                f"Partition replica lists may not contain duplicate entries: {listed}",
            )
        parsed[partition] = replicas
        if len(replicas) != len(parsed[0]):
            raise AssignmentRefused(
                "AdminOperationException",
                f"Partition {partition} has different replication factor: {listed}",
            )
    return parsed
