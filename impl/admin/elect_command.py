"""``kafka-preferred-replica-election`` and ``kafka-leader-election`` on a cluster (fact sheet k.3).

By ZooKeeper, or (2.2, KIP-183) by asking the controller; unclean elections since 2.4 (KIP-460).
Source: PreferredReplicaLeaderElectionCommand, LeaderElectionCommand.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from typing import NamedTuple

from impl.admin.errors import TEXTS, AdminError, AdminOperation
from impl.admin.port import Admin
from impl.releases import Release
from impl.znodes import TopicPartition, encode_partition_set
from impl.znodes.client import ZnodeClient
from impl.zookeeper.errors import NodeExists
from impl.zookeeper.port import wait


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
        for topic in sorted(wait(client.topics()))
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
        wait(client.request_preferred_election(chosen))
    except NodeExists:
        raise AdminOperation(
            "Preferred replica leader election currently in progress for "
            f"{', '.join(map(str, wait(client.preferred_election()) or ()))}. Aborting operation"
        ) from None
    listed = ", ".join(map(str, chosen))
    return [
        f"Created preferred leader election path with {text}",
        f"Successfully started preferred replica election for partitions Set({listed})",
    ]


class Elections(NamedTuple):
    """What is printed, and then, if not everything went well, what the tool ends with."""

    lines: list[str]
    failure: str = ""


def elect_by_brokers(
    admin: Admin, kind: str, wanted: Collection[TopicPartition] | None, release: Release
) -> Elections:
    """Ask the controller for PREFERRED or UNCLEAN leaders, of all partitions if none is named."""
    errors = admin.elect_leaders(kind, wanted)
    done = [one for one, code in errors.items() if code == "NONE"]
    needless = [one for one, code in errors.items() if code == "ELECTION_NOT_NEEDED"]
    if not release.since("2.4"):  # the older tool took what was not needed for done
        done, needless = sorted({*done, *needless}), []
    failed = {one: code for one, code in errors.items() if one not in (*done, *needless)}
    lines = []
    if release.since("2.4"):
        what, replicas = f"leader election ({kind})", "replica(s)"
    else:
        what, replicas = "preferred leader election", "preferred replica(s)"
    if done:
        lines.append(f"Successfully completed {what} for partitions {_listed(done)}")
    if needless:
        lines.append(f"Valid replica already elected for partitions {_listed(needless)}")
    colon = ":" if release.since("2.4") else ""
    lines += [
        f"Error completing {what} for partition{colon} {one}: {TEXTS.get(code, code)}"
        for one, code in failed.items()
    ]
    failure = f"{len(failed)} {replicas} could not be elected" if failed else ""
    return Elections(lines, failure)


def _listed(partitions: Iterable[TopicPartition]) -> str:
    return ", ".join(map(str, partitions))


def _partitions(client: ZnodeClient, topic: str) -> list[int]:
    registered = wait(client.topic(topic))
    return [] if registered is None else list(registered.partitions)
