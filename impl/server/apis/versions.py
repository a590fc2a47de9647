"""API versions that each release offers, 0.10.0 to 2.8, of the APIs that are implemented.

Source: ``Protocol.java`` (to 0.11), the requests' ``schemaVersions`` (to 2.1), the message files'
``validVersions`` (since 2.2), at the tag of each line's last patch.
"""

from __future__ import annotations

from impl.releases import Release
from impl.wire import UnknownApi, api_key, api_name

_History = tuple[tuple[int, str], ...]

_NEWEST: dict[str, _History] = {
    "Produce": ((2, "0.10.0"), (3, "0.11"), (5, "1.0"), (6, "2.0"), (7, "2.1"), (8, "2.4"),
                (9, "2.8")),
    "Fetch": ((2, "0.10.0"), (3, "0.10.1"), (5, "0.11"), (6, "1.0"), (7, "1.1"), (8, "2.0"),
              (10, "2.1"), (11, "2.3"), (12, "2.7")),
    "ListOffsets": ((0, "0.10.0"), (1, "0.10.1"), (2, "0.11"), (3, "2.0"), (4, "2.1"), (5, "2.2"),
                    (6, "2.8")),
    "Metadata": ((1, "0.10.0"), (2, "0.10.1"), (4, "0.11"), (5, "1.0"), (6, "2.0"), (7, "2.1"),
                 (8, "2.3"), (9, "2.4"), (11, "2.8")),
    "OffsetCommit": ((2, "0.10.0"), (3, "0.11"), (4, "2.0"), (6, "2.1"), (7, "2.3"), (8, "2.4")),
    "OffsetFetch": ((1, "0.10.0"), (2, "0.10.2"), (3, "0.11"), (4, "2.0"), (5, "2.1"), (6, "2.4"),
                    (7, "2.5")),
    "FindCoordinator": ((0, "0.10.0"), (1, "0.11"), (2, "2.0"), (3, "2.4")),
    "JoinGroup": ((0, "0.10.0"), (1, "0.10.1"), (2, "0.11"), (3, "2.0"), (4, "2.2"), (5, "2.3"),
                  (6, "2.4"), (7, "2.5")),
    "Heartbeat": ((0, "0.10.0"), (1, "0.11"), (2, "2.0"), (3, "2.3"), (4, "2.4")),
    "LeaveGroup": ((0, "0.10.0"), (1, "0.11"), (2, "2.0"), (4, "2.4")),
    "SyncGroup": ((0, "0.10.0"), (1, "0.11"), (2, "2.0"), (3, "2.3"), (4, "2.4"), (5, "2.5")),
    "DescribeGroups": ((0, "0.10.0"), (1, "0.11"), (2, "2.0"), (3, "2.3"), (5, "2.4")),
    "ListGroups": ((0, "0.10.0"), (1, "0.11"), (2, "2.0"), (3, "2.4"), (4, "2.6")),
    "DeleteGroups": ((0, "1.1"), (1, "2.0"), (2, "2.4")),
    "ApiVersions": ((0, "0.10.0"), (1, "0.11"), (2, "2.0"), (3, "2.4")),
    "CreateTopics": ((0, "0.10.1"), (1, "0.10.2"), (2, "0.11"), (3, "2.0"), (5, "2.4"), (6, "2.7"),
                     (7, "2.8")),
    "DeleteTopics": ((0, "0.10.1"), (1, "0.11"), (2, "2.0"), (3, "2.1"), (4, "2.4"), (5, "2.7"),
                     (6, "2.8")),
    "DeleteRecords": ((0, "0.11"), (1, "2.0"), (2, "2.4")),
    "InitProducerId": ((0, "0.11"), (1, "2.0"), (2, "2.4"), (3, "2.5"), (4, "2.7")),
    "OffsetForLeaderEpoch": ((0, "0.11"), (1, "2.0"), (2, "2.1"), (3, "2.3"), (4, "2.8")),
    "DescribeConfigs": ((0, "0.11"), (1, "1.1"), (2, "2.0"), (3, "2.6"), (4, "2.8")),
    "AlterConfigs": ((0, "0.11"), (1, "2.0"), (2, "2.8")),
    "AlterReplicaLogDirs": ((0, "1.0"), (1, "2.0"), (2, "2.8")),
    "DescribeLogDirs": ((0, "1.0"), (1, "2.0"), (2, "2.6")),
    "CreatePartitions": ((0, "1.0"), (1, "2.0"), (2, "2.5"), (3, "2.7")),
    "ElectLeaders": ((0, "2.2"), (2, "2.4")),
    "IncrementalAlterConfigs": ((0, "2.3"), (1, "2.4")),
    "AlterPartitionReassignments": ((0, "2.4"),),
    "ListPartitionReassignments": ((0, "2.4"),),
    "DescribeCluster": ((0, "2.8"),),
    "LeaderAndIsr": ((0, "0.10.0"), (1, "1.0"), (2, "2.2"), (4, "2.4"), (5, "2.8")),
    "UpdateMetadata": ((2, "0.10.0"), (3, "0.10.2"), (4, "1.0"), (5, "2.2"), (6, "2.4"),
                       (7, "2.8")),
    "StopReplica": ((0, "0.10.0"), (1, "2.2"), (2, "2.4"), (3, "2.6")),
    "ControlledShutdown": ((1, "0.10.0"), (2, "2.2"), (3, "2.4")),
    "AlterIsr": ((0, "2.7"),),
}  # fmt: skip
"""By API, its newest version and the release that brought it."""

_CAPS = {"Metadata": 8, "CreateTopics": 6, "DeleteTopics": 5, "LeaderAndIsr": 4,
         "UpdateMetadata": 6}  # fmt: skip
"""Newer ones are not offered. Metadata 9: librdkafka asks for it (list_topics) with a byte that
Kafka takes for an unknown tagged field and skips, and kio refuses those. The rest, 2.8's, and
Metadata 10 name topics by ids, which topics have not got here.
"""


def newest(key: int, release: Release) -> int | None:
    """The newest version of an API in a release; None where it is not served."""
    try:
        name = api_name(key)
    except UnknownApi:
        return None
    offered = [version for version, since in _NEWEST.get(name, ()) if release.since(since)]
    if not offered:
        return None
    return min(offered[-1], _CAPS.get(name, offered[-1]))


def offered(release: Release) -> list[tuple[int, int, int]]:
    """Key, oldest and newest version of each API, by key: what ApiVersions returns."""
    keys = sorted(api_key(name) for name in _NEWEST)
    found = [(key, newest(key, release)) for key in keys]
    return [(key, 0, latest) for key, latest in found if latest is not None]
