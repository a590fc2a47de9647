"""Where the replicas of a topic go: Kafka's placement of partitions on brokers, as pure functions.

A replica assignment is a list of broker ids a partition, the first of them the preferred leader.
Kafka draws the start and the shift at random; here they are arguments, and `draws` names all.

Source: kafka.admin.AdminUtils / AdminZkClient.addPartitions, TopicCommand.parseReplicaAssignment;
KIP-36 (racks).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

Assignment = dict[int, list[int]]
"""Partition id -> broker ids, the preferred leader first."""

Racks = Mapping[int, str | None]
"""Broker id -> its rack, or None where it has none."""


class AssignmentRefused(ValueError):
    """No such assignment: `exception` is the name of Kafka's own exception (1.0 and later)."""

    def __init__(self, exception: str, message: str) -> None:
        super().__init__(message)
        self.exception = exception


def assign_replicas(
    racks: Racks, partitions: int, replication_factor: int, start: int, shift: int, first: int = 0
) -> Assignment:
    """The partitions `first`, `first` + 1, ... placed on all brokers of `racks`.

    `start` and `shift` are Kafka's two draws, each from 0 up to the number of brokers (exclusive).
    With racks for all brokers they are placed rack-aware, with none at all rack-unaware.
    AssignmentRefused: too few brokers, nothing to place, or only some racks are known.
    """
    if partitions <= 0:
        raise AssignmentRefused(
            "InvalidPartitionsException", "Number of partitions must be larger than 0.")
    if replication_factor <= 0:
        raise AssignmentRefused(
            "InvalidReplicationFactorException", "Replication factor must be larger than 0.")
    if replication_factor > len(racks):
        raise AssignmentRefused(
            "InvalidReplicationFactorException",
            f"Replication factor: {replication_factor} larger than available brokers: "
            f"{len(racks)}.")
    known = {broker: rack for broker, rack in racks.items() if rack is not None}
    if not known:
        return _rack_unaware([*racks], partitions, replication_factor, start, shift, first)
    if len(known) < len(racks):
        raise AssignmentRefused(
            "AdminOperationException",
            "Not all brokers have rack information for replica rack aware assignment.")
    return _rack_aware(known, partitions, replication_factor, start, shift, first)


def _rack_unaware(
    brokers: Sequence[int], partitions: int, replication_factor: int,
    start: int, shift: int, first: int,
) -> Assignment:
    size = len(brokers)
    placed: Assignment = {}
    for partition in range(first, first + partitions):
        # Whenever leaders have gone once around, their followers move on by one.
        shift += partition > 0 and partition % size == 0
        leader = (partition + start) % size
        followers = [
            brokers[(leader + 1 + (shift + number) % (size - 1)) % size]
            for number in range(replication_factor - 1)]
        placed[partition] = [brokers[leader], *followers]
    return placed


def rack_alternated(racks: Mapping[int, str]) -> list[int]:
    """The brokers, rack by rack in turn: each rack's by id, racks by name, exhausted ones skipped.

    Three brokers in each of three racks: 0, 3, 6, 1, 4, 7, 2, 5, 8.
    """
    names = sorted({*racks.values()})
    queues = [sorted(broker for broker in racks if racks[broker] == name) for name in names]
    rounds = range(max(map(len, queues), default=0))
    return [queue[turn] for turn in rounds for queue in queues if turn < len(queue)]


def _rack_aware(
    racks: Mapping[int, str], partitions: int, replication_factor: int,
    start: int, shift: int, first: int,
) -> Assignment:
    brokers, kinds = rack_alternated(racks), len({*racks.values()})
    size = len(brokers)
    placed: Assignment = {}
    for partition in range(first, first + partitions):
        shift += partition > 0 and partition % size == 0
        leader = (partition + start) % size
        replicas = [brokers[leader]]
        candidates = _in_turn(brokers, leader, shift * kinds)
        while len(replicas) < replication_factor:
            broker = next(candidates)
            used = {racks[one] for one in replicas}
            # A second replica in a rack only when every rack has one.
            if (racks[broker] not in used or len(used) == kinds) and broker not in replicas:
                replicas.append(broker)
        placed[partition] = replicas
    return placed


def _in_turn(brokers: Sequence[int], leader: int, shift: int) -> Iterator[int]:
    """Every broker but the leader, from a shifted place on, around and around."""
    size, tried = len(brokers), 0
    while True:
        yield brokers[(leader + 1 + (shift + tried) % (size - 1)) % size]
        tried += 1


def start_of_addition(existing: Mapping[int, Sequence[int]], brokers: Collection[int]) -> int:
    """The start that Kafka fixes for added partitions: where the first replica of partition 0 is.

    It is the index of the first broker with that id or a greater one, or 0 if there is none.
    """
    leader = existing[0][0]
    return next((at for at, broker in enumerate(sorted(brokers)) if broker >= leader), 0)


def add_partitions(
    existing: Mapping[int, Sequence[int]], racks: Racks, total: int,
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
            "Unexpected existing replica assignment, partition id 0 is missing.")
    if total <= len(existing):
        raise AssignmentRefused(
            "InvalidPartitionsException",
            "The number of partitions for a topic can only be increased. "
            f"It has {len(existing)} partitions, which would not be an increase to {total}.")
    replication_factor, first = len(existing[0]), len(existing)
    if manual is None:
        start = start_of_addition(existing, racks)
        racks = dict(sorted(racks.items()))
        return assign_replicas(racks, total - first, replication_factor, start, start, first)
    added = {
        partition: list(replicas) for partition, replicas in manual.items() if partition >= first}
    if sorted(added) != list(range(first, total)):
        raise AssignmentRefused(
            "InvalidReplicaAssignmentException",
            f"The assignment must name the partitions up to {total - 1}, and no other.")
    check_assignment({0: existing[0], **added}, racks)
    return added


def check_assignment(
    assignment: Mapping[int, Sequence[int]], brokers: Collection[int] | None = None,
    from_zero: bool = False,
) -> None:
    """Refuses lists of different lengths, a broker twice in a list, and unknown brokers.

    `from_zero`: partitions are numbered without a gap, as those of a new topic are (2.3).
    """
    for partition, replicas in sorted(assignment.items()):
        if len({*replicas}) < len(replicas):
            raise AssignmentRefused(
                "InvalidReplicaAssignmentException",
                f"Duplicate replica assignment found: partition {partition} has {[*replicas]}.")
        unknown = sorted({*replicas} - {*(replicas if brokers is None else brokers)})
        if unknown:
            raise AssignmentRefused(
                "InvalidReplicaAssignmentException",
                f"Unknown broker(s) in replica assignment: {', '.join(map(str, unknown))}.")
    if len({len(replicas) for replicas in assignment.values()}) > 1:
        raise AssignmentRefused(
            "InvalidReplicaAssignmentException",
            "All partitions should have the same number of replicas.")
    if from_zero and {*assignment} != {*range(len(assignment))}:
        raise AssignmentRefused(
            "InvalidReplicaAssignmentException",
            "partitions should be a consecutive 0-based integer sequence.")


def parse_replica_assignment(text: str) -> Assignment:
    """The option --replica-assignment: `1:2:0,2:0:1` is two partitions with three replicas."""
    parsed: Assignment = {}
    for partition, listed in enumerate(text.split(",")):
        try:
            replicas = [int(broker) for broker in listed.split(":")]
        except ValueError:
            raise AssignmentRefused(
                "NumberFormatException",
                f"{listed!r} is no list of broker ids; write such as 1:2:0,2:0:1") from None
        if len({*replicas}) < len(replicas):
            raise AssignmentRefused(
                "AdminCommandFailedException",
                f"Partition replica lists may not contain duplicate entries: {listed}")
        parsed[partition] = replicas
        if len(replicas) != len(parsed[0]):
            raise AssignmentRefused(
                "AdminOperationException",
                f"Partition {partition} has different replication factor: {listed}")
    return parsed


def draws(brokers: int) -> list[tuple[int, int]]:
    """Every pair of start and shift that Kafka may draw for a number of brokers."""
    return [(start, shift) for start in range(brokers) for shift in range(brokers)]
