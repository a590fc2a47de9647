"""The model's answers about deleting topics (topic_deletion.json)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from conformance.plain_rules.deletions import LED, OFFLINE, ONLINE, Deletions, Replica, resumption
from impl.releases import Release

Question = Mapping[str, Any]


def resume_decision(question: Question) -> dict[str, Any]:
    """What to do for a queued topic."""
    asked = question["input"]
    return {"action": resumption(asked["replicaStates"], bool(asked["ineligible"]))}


def scenario(question: Question) -> dict[str, Any]:
    """A deletion step by step."""
    asked, release = question["input"], Release.of(question["release"])
    brokers = asked["brokers"]
    going = Deletions(set(brokers), release.since("2.3"), release.since("2.1"))
    for topic, shape in asked["topics"].items():
        for number in range(shape["partitions"]):
            going.partitions[topic, number] = LED
            for broker in brokers[: shape["rf"]]:
                going.replicas[topic, number, broker] = ONLINE
    seen = []
    for step in asked["steps"]:
        going.notified.clear()
        _do(going, step, asked["deleteTopicEnable"])
        seen.append(_observe(going))
    return {"afterStep": seen, "stateMachineCalls": going.rounds}


def _do(going: Deletions, step: Mapping[str, Any], enabled: bool) -> None:
    topics, broker = step["topics"], int(step.get("broker", -1))
    chosen = _on(going, topics, step["brokers"])
    match step["do"]:
        case "init":
            going.init(topics, step["ineligible"])
        case "enqueue":
            if enabled:
                going.enqueue(topics)
        case "completeReplicaDeletion":
            going.ended(chosen)
        case "failReplicaDeletion":
            going.failed(chosen)
        case "brokerDown":
            going.live.discard(broker)
            for one in _on(going, {name for name, _, _ in going.replicas}, [broker]):
                going.replicas[one] = OFFLINE
        case "brokerDownAndFailReplicaDeletion":
            going.live.discard(broker)
            going.failed(_on(going, {name for name, _, _ in going.replicas}, [broker]))
        case "brokerUpAndResume":
            going.live.add(broker)
            going.resume_for({name for name, _, _ in going.replicas})
        case "markIneligible":
            going.halt(topics)
        case "resume":
            going.resume_for(topics)
        case other:
            raise ValueError(f"no step of a deletion is called {other!r}")


def _on(going: Deletions, topics: Collection[str], brokers: Collection[int]) -> list[Replica]:
    return [one for one in going.replicas if one[0] in topics and one[2] in brokers]


def _observe(going: Deletions) -> dict[str, Any]:
    """The states of the first topic's replicas, as [partition, broker], and the queues."""
    first = min((topic for topic, _, _ in going.replicas), default=None)
    states: dict[str, list[list[int]]] = {}
    for (topic, number, broker), state in sorted(going.replicas.items()):
        if topic == first:
            states.setdefault(state, []).append([number, broker])
    return {
        "replicas": states,
        "partitionState": next(iter(sorted({*going.partitions.values()})), None),
        "partitions": [f"{topic}-{number}" for topic, number in sorted(going.partitions)],
        "toBeDeleted": sorted(going.queued),
        "started": sorted(going.started),
        "ineligible": sorted(going.ineligible),
        "metadataUpdateFor": [f"{topic}-{number}" for topic, number in sorted(going.notified)],
    }
