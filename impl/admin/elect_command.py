"""``kafka-preferred-replica-election`` on a cluster, by ZooKeeper (fact sheet k.3).

Source: PreferredReplicaLeaderElectionCommand.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from impl.admin.errors import AdminError, AdminOperation
from impl.znodes import TopicPartition, encode_partition_set
from impl.znodes.client import ZnodeClient
from impl.zookeeper.errors import NodeExists


class ElectionFailed(AdminError):
    """``AdminCommandFailedException`` of this tool."""

    kafka = "AdminCommandFailedException"


def parse_partitions(text: str) -> list[TopicPartition]:
    """Read ``--path-to-json-file``; AdminOperation says what is wrong with it."""
    try:
        entries = json.loads(text)["partitions"]
        found = [TopicPartition(str(one["topic"]), int(one["partition"])) for one in entries]
    except (ValueError, KeyError, TypeError) as error:
        raise AdminOperation("Preferred replica election data is empty") from error
    if not found:
        raise AdminOperation("Preferred replica election data is empty")
    twice = sorted({one for one in found if found.count(one) > 1})
    if twice:
        listed = ",".join(map(str, twice))
        raise AdminOperation(
            f"Preferred replica election data contains duplicate partitions: {listed}"
        )
    return found


def elect_preferred(
    client: ZnodeClient, wanted: Iterable[TopicPartition] | None = None
) -> list[str]:
    """Ask the controller for preferred leaders, of all partitions if none is named."""
    every = [
        TopicPartition(topic, number)
        for topic in sorted(client.topics())
        for number in sorted(_partitions(client, topic))
    ]
    chosen = every if wanted is None else list(wanted)
    unknown = [one for one in chosen if one not in every]
    if unknown:
        listed = ", ".join(map(str, unknown))
        raise ElectionFailed(f"Partitions {listed} do not exist")
    if not chosen:
        raise AdminOperation("Preferred replica election data is empty")
    text = encode_partition_set(chosen)
    try:
        client.request_preferred_election(chosen)
    except NodeExists:
        raise AdminOperation(
            "Preferred replica leader election currently in progress for "
            f"{', '.join(map(str, client.preferred_election() or ()))}. Aborting operation"
        ) from None
    listed = ", ".join(map(str, chosen))
    return [
        f"Created preferred leader election path with {text}",
        f"Successfully started preferred replica election for partitions Set({listed})",
    ]


def _partitions(client: ZnodeClient, topic: str) -> list[int]:
    registered = client.topic(topic)
    return [] if registered is None else list(registered.partitions)
