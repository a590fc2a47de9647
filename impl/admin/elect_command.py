"""``kafka-preferred-replica-election`` and ``kafka-leader-election`` on a cluster (fact sheet k.3).

Through ZooKeeper, or (2.2, KIP-183) by requests to the controller; unclean since 2.4 (KIP-460).
Source: PreferredReplicaLeaderElectionCommand, LeaderElectionCommand.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from impl.admin.errors import TEXTS, AdminCommandFailed, AdminOperation, after
from impl.admin.port import Admin
from impl.releases import Release
from impl.znodes import TopicPartition
from impl.znodes.client import ZnodeClient
from impl.zookeeper.errors import NodeExists
from impl.zookeeper.port import wait


def parse_partitions(text: str, any_leader: bool = False) -> list[TopicPartition]:
    """Read ``--path-to-json-file``; AdminOperation says what is wrong with it.

    ``any_leader``: with the messages of kafka-leader-election (2.4).
    """
    what = "Replica election data" if any_leader else "Preferred replica election data"
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise AdminOperation(f"{what} is empty") from error
    entries = fields.get("partitions") if isinstance(fields, dict) else None
    if entries is None:
        missing = 'is missing "partitions" field' if any_leader else "is empty"
        raise AdminOperation(f"{what} {missing}")
    try:
        found = [TopicPartition(str(one["topic"]), int(one["partition"])) for one in entries]
    except (ValueError, KeyError, TypeError) as error:
        raise AdminOperation(
            f'{what} has an entry that is not such as {{"topic":"orders","partition":0}}'
        ) from error
    twice = sorted({one for one in found if found.count(one) > 1})
    if twice:
        raise AdminOperation(f"{what} contains duplicate partitions: {','.join(map(str, twice))}")
    return found


class ElectionOutput(NamedTuple):
    """The printed lines, the lines logged as errors, and the tool's failure, if any."""

    lines: list[str]
    failure: str = ""
    logged: Sequence[str] = ()


def elect_preferred(
    client: ZnodeClient, wanted: Iterable[TopicPartition] | None = None
) -> ElectionOutput:
    """Request preferred elections through ZooKeeper, for all partitions if none is named.

    Partitions that do not exist are skipped, and listed. AdminCommandFailed, caused by an
    AdminOperation, if another election has been requested already.
    """
    release = client.release
    every = [
        TopicPartition(topic, number)
        for topic in sorted(wait(client.topics()))
        for number in sorted(_partitions(client, topic))
    ]
    asked = every if wanted is None else list(wanted)
    chosen = [one for one in asked if one in every]
    unknown = [one for one in asked if one not in every]
    lines = [*_DEPRECATED] if release.since("2.2") else []
    if release.since("2.4"):
        lines.insert(0, _REPLACED)
    with after(lines):
        _request(client, chosen)
    if release.since("1.1"):
        lines.append(f"Created preferred replica election path with {','.join(map(str, chosen))}")
        lines.append(f"{_STARTED} Set({_listed(chosen)})")
        lines += [f"{_SKIPPING} {one} since it doesn't exist." for one in unknown]
        return ElectionOutput(lines)
    named = [str(one) if release.since("0.11") else f"[{one.topic},{one.partition}]"
             for one in asked]  # fmt: skip
    skipped = [
        f"{_SKIPPING} [{one.topic},{one.partition}] since topic {one.topic} doesn't exist"
        if one.topic not in {each.topic for each in every}
        else f"{_SKIPPING} [{one.topic},{one.partition}] since it doesn't exist"
        for one in unknown
    ]
    return ElectionOutput([*lines, f"{_STARTED} Set({', '.join(named)})"], logged=skipped)


_SKIPPING = "Skipping preferred replica leader election for partition"
_STARTED = "Successfully started preferred replica election for partitions"
_REPLACED = (
    "This tool is deprecated. Please use kafka-leader-election tool. Tracking issue: KAFKA-8405"
)
_DEPRECATED = (
    "Warning: --zookeeper is deprecated and will be removed in a future version of Kafka.",
    "Use --bootstrap-server instead to specify a broker to connect to.",
)


def _request(client: ZnodeClient, chosen: Collection[TopicPartition]) -> None:
    try:
        wait(client.request_preferred_election(list(chosen)))
    except NodeExists:
        running = wait(client.preferred_election()) or ()
        listed = ",".join(map(str, running))
        if not client.release.since("1.1"):
            listed = f"Set({', '.join(map(str, running))})"
        raise AdminCommandFailed("Admin command failed") from AdminOperation(
            "Preferred replica leader election currently in progress for "
            f"{listed}. Aborting operation"
        )


def elect_by_brokers(
    admin: Admin, kind: str, wanted: Collection[TopicPartition] | None, release: Release
) -> ElectionOutput:
    """Request PREFERRED or UNCLEAN elections, of all partitions if none is named."""
    errors = admin.elect_leaders(kind, wanted)
    done = [one for one, code in errors.items() if code == "NONE"]
    needless = [one for one, code in errors.items() if code == "ELECTION_NOT_NEEDED"]
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
    return ElectionOutput(lines, failure)


def _listed(partitions: Iterable[TopicPartition]) -> str:
    return ", ".join(map(str, partitions))


def _partitions(client: ZnodeClient, topic: str) -> list[int]:
    registered = wait(client.topic(topic))
    return [] if registered is None else list(registered.partitions)
