"""Replica placement of new topics and partitions, with or without racks (fact sheet i.2).

``start`` is the index of the broker that leads partition 0, ``shift`` how far the second replica is
from the first; Kafka draws both at random, so here they are arguments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from impl.admin.errors import (
    AdminCommandFailed,
    AdminError,
    AdminOperation,
    BrokersNotThere,
    InvalidPartitions,
    InvalidReplicaAssignment,
    InvalidReplicationFactor,
)
from impl.releases import Release
from impl.znodes.text import numbers_of

Assignment = dict[int, tuple[int, ...]]

MOST_PARTITIONS = 0xFFFFF // len('"0":[1],')
"""No znode is larger than ``jute.maxbuffer``, and a topic's has at least so much for a partition.

Kafka places them all before it finds that they cannot be written, if its memory is enough.
"""


def assign_replicas(
    brokers: Mapping[int, str | None],
    partitions: int,
    factor: int,
    start: int,
    shift: int,
    release: Release,
    first: int = 0,
) -> Assignment:
    """Replicas for ``partitions`` partitions from number ``first`` on, the leader first.

    ``brokers`` maps ids, in the order of the list, to racks: all None (racks are not looked at) or
    none None. ``AssignReplicasToBrokers`` of AdminUtils.
    """
    check_counts(len(brokers), partitions, factor, release)
    racks = set(brokers.values())
    if racks == {None}:
        return _rack_unaware(list(brokers), partitions, factor, start, shift, first)
    if None in racks:
        raise AdminOperation(
            "Not all brokers have rack information for replica rack aware assignment."
        )
    known = {broker: rack for broker, rack in brokers.items() if rack is not None}
    return _rack_aware(known, partitions, factor, start, shift, first)


def check_racks(brokers: Mapping[int, str | None]) -> None:
    """Check that all brokers have a rack, or none of them (``getBrokerMetadatas``)."""
    if None in brokers.values() and set(brokers.values()) != {None}:
        raise AdminOperation(
            "Not all brokers have rack information. Add --disable-rack-aware in command line to "
            "make replica assignment without rack information."
        )


def check_counts(brokers: int, partitions: int, factor: int, release: Release) -> None:
    """Refuse invalid numbers; in 0.10.0 always with AdminOperationException."""
    own = release.since("0.10.1")
    if partitions <= 0:
        kind = InvalidPartitions if own else AdminOperation
        text = "Number of partitions" if release.since("1.0") else "number of partitions"
        raise kind(f"{text} must be larger than 0" + "." * release.since("1.0"))
    if partitions > MOST_PARTITIONS:
        kind = InvalidPartitions if own else AdminOperation
        raise kind(
            f"{partitions} partitions cannot be written to one znode, which holds 1 MB "
            f"(jute.maxbuffer); {MOST_PARTITIONS} are the most"
        )
    too = InvalidReplicationFactor if own else AdminOperation
    if factor <= 0:
        text = "Replication factor" if release.since("1.0") else "replication factor"
        raise too(f"{text} must be larger than 0" + "." * release.since("1.0"))
    if factor > brokers:
        raise too(
            f"Replication factor: {factor} larger than available brokers: {brokers}."
            if release.since("1.0")
            else f"replication factor: {factor} larger than available brokers: {brokers}"
        )


def rack_alternated(racks: Mapping[int, str]) -> list[int]:
    """The brokers in the order in which racks take turns, each rack's brokers by id."""
    by_rack = {
        rack: sorted(broker for broker in racks if racks[broker] == rack)
        for rack in sorted(set(racks.values()))
    }
    most = max(map(len, by_rack.values()), default=0)
    return [
        members[turn] for turn in range(most) for members in by_rack.values() if turn < len(members)
    ]


def _rack_unaware(
    brokers: Sequence[int], partitions: int, factor: int, start: int, shift: int, first: int
) -> Assignment:
    size, assignment = len(brokers), {}
    for number in range(first, first + partitions):
        shift += _wraps(number, size)
        leader = (number + start) % size
        others = [
            brokers[_follower_index(leader, shift + turn, size)] for turn in range(factor - 1)
        ]
        assignment[number] = (brokers[leader], *others)
    return assignment


def _rack_aware(
    racks: Mapping[int, str], partitions: int, factor: int, start: int, shift: int, first: int
) -> Assignment:
    brokers, rack_count = rack_alternated(racks), len(set(racks.values()))
    size, assignment = len(brokers), {}
    for number in range(first, first + partitions):
        shift += _wraps(number, size)
        leader = (number + start) % size
        taken = [brokers[leader]]
        turn = 0
        while len(taken) < factor:
            broker = brokers[_follower_index(leader, shift * rack_count + turn, size)]
            turn += 1
            used = {racks[one] for one in taken}
            new_rack = racks[broker] not in used or len(used) == rack_count
            if new_rack and (broker not in taken or len(taken) == size):
                taken.append(broker)
        assignment[number] = tuple(taken)
    return assignment


def _wraps(number: int, size: int) -> int:
    """The shift grows whenever the leaders have gone round once."""
    return int(number > 0 and number % size == 0)


def _follower_index(leader: int, shift: int, size: int) -> int:
    return (leader + 1 + shift % (size - 1)) % size


def add_partitions(
    topic: str,
    existing: Mapping[int, Sequence[int]],
    brokers: Mapping[int, str | None],
    total: int,
    release: Release,
    by_hand: Mapping[int, Sequence[int]] | None = None,
) -> Assignment:
    """Replicas of the partitions that are added when a topic grows to ``total`` (fact sheet i.3).

    ``brokers`` in the order of their ids. ``by_hand`` covers the new partitions at least, or all.
    """
    if 0 not in existing:
        raise AdminOperation(
            f"Unexpected existing replica assignment for topic '{topic}', partition id 0 is missing"
        )
    if total <= len(existing):
        kind = InvalidPartitions if release.since("1.0") else AdminOperation
        if not release.since("1.0"):
            raise kind("The number of partitions for a topic can only be increased")
        raise kind(
            "The number of partitions for a topic can only be increased. "
            f"Topic {topic} currently has {len(existing)} partitions, "
            f"{total} would not be an increase."
        )
    head = existing[0]
    if by_hand is not None:
        added = {number: tuple(by_hand[number]) for number in by_hand if number >= len(existing)}
        check_by_hand(added, set(brokers), len(head), release)
        return added
    start, first = added_from(existing, list(brokers))
    count = total - len(existing)
    return assign_replicas(brokers, count, len(head), start, start, release, first)


def added_from(existing: Mapping[int, Sequence[int]], brokers: Sequence[int]) -> tuple[int, int]:
    """The start index and the first number of the partitions that are added to a topic."""
    head = existing[0][0]
    start = next((index for index, broker in enumerate(brokers) if broker >= head), -1)
    return max(0, start), len(existing)


def check_by_hand(
    added: Mapping[int, Sequence[int]], known: set[int], factor: int, release: Release
) -> None:
    """Refuse manual replicas that do not exist, occur twice, or are too many or too few."""
    kind = InvalidReplicaAssignment if release.since("1.0") else AdminOperation
    for number, replicas in added.items():
        if not replicas:
            raise kind(f"Cannot have replication factor of 0 for partition id {number}.")
        if len(set(replicas)) != len(replicas):
            listed = ", ".join(map(str, replicas))
            raise kind(
                "Duplicate brokers not allowed in replica assignment: "
                f"{listed} for partition id {number}."
            )
        if not known.issuperset(replicas):
            named, there = (", ".join(map(str, one)) for one in (replicas, sorted(known)))
            absent = BrokersNotThere if release.since("1.0") else AdminOperation
            raise absent(
                f"Some brokers specified for partition id {number} are not available. "
                f"Specified brokers: {named}, available brokers: {there}."
            )
    off = {number: len(replicas) for number, replicas in added.items() if len(replicas) != factor}
    if off:
        raise kind(
            "Inconsistent replication factor between partitions, partition 0 has "
            f"{factor} while partitions [{', '.join(map(str, sorted(off)))}] have replication "
            f"factors [{', '.join(str(off[number]) for number in sorted(off))}], respectively."
        )


def check_assignment(assignment: Mapping[int, Sequence[int]], release: Release) -> None:
    """Refuse an inconsistent assignment of a new topic (i.5)."""
    if len({len(replicas) for replicas in assignment.values()}) != 1:
        raise InvalidReplicaAssignment("All partitions should have the same number of replicas")
    for replicas in assignment.values():
        if len(set(replicas)) != len(replicas):
            raise InvalidReplicaAssignment(
                f"Duplicate replica assignment found: {_as_map(assignment)}"
            )
    if release.since("2.3") and sorted(assignment) != list(range(len(assignment))):
        raise InvalidReplicaAssignment(
            "partitions should be a consecutive 0-based integer sequence"
        )


def _as_map(assignment: Mapping[int, Sequence[int]]) -> str:
    entries = ", ".join(
        f"{number} -> List({', '.join(map(str, replicas))})"
        for number, replicas in assignment.items()
    )
    return f"Map({entries})"


def parse_replica_assignment(text: str) -> Assignment:
    """Read ``--replica-assignment``: commas separate partitions, colons separate replicas (i.4).

    NumberFormatException for an invalid broker id.
    """
    assignment: Assignment = {}
    for number, entry in enumerate(text.removesuffix(",").split(",")):
        replicas = tuple(numbers_of("".join(entry.split(" ")), ":"))
        twice = sorted({one for one in replicas if replicas.count(one) > 1})
        if twice:
            raise duplicates("Partition replica lists may not contain duplicate entries", twice)
        assignment[number] = replicas
        if len(replicas) != len(assignment[0]):
            raise AdminOperation(f"Partition {number} has different replication factor: {entry}")
    return assignment


def duplicates(text: str, entries: Sequence[object]) -> AdminError:
    """``AdminCommandFailedException`` that lists the duplicates."""
    return AdminCommandFailed(f"{text}: {','.join(map(str, entries))}")
