"""Kafka's placement of a topic's replicas on brokers, as pure functions.

A replica assignment is a list of broker ids for each partition; the first is the preferred leader.
Kafka draws the start and the shift at random; here they are arguments.

Source: kafka.admin.AdminUtils / AdminZkClient.assignReplicasToBrokers; KIP-36 (racks).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

Assignment = dict[int, list[int]]
"""Partition id -> broker ids, the preferred leader first."""

Racks = Mapping[int, str | None]
"""Broker id -> its rack, or None where it has none."""


class AssignmentRefused(ValueError):
    """The assignment is not possible: `exception` is the name of Kafka's own exception (1.0 and
    later)."""

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
