"""The model's answers about LeaderAndIsr at a broker (replica_manager.json).

Exactly one of the transitions of `cluster` by which a broker takes a request is possible: its name
gives the answer. Epochs are ranks, because they are only compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.vectors.model.stage import ModelStage, Place, Ranks

Question = Mapping[str, Any]

SENDER, BROKER = 1, 2
MINE, SENT = 0, 1  # the versions of the state that the broker obeys, and that it is sent
BOUNDS = {
    "brokers": 2, "partitions": 1, "replicas": 2, "versions": 1, "epoch": 3, "controllers": 3,
    "queue": 1, "events": 1, "endpoints": 0,
}  # fmt: skip
OUTCOMES = {
    "older_controller_is_refused": ("STALE_CONTROLLER_EPOCH", None),
    "older_epoch_is_refused": ("NONE", "STALE_CONTROLLER_EPOCH"),
    "broker_becomes_leader": ("NONE", "NONE"),
    "broker_becomes_follower": ("NONE", "NONE"),
    "broker_finds_leader_not_in_metadata_cache": ("NONE", "NONE"),
}
"""By transition, the error of the whole request, and of the partition."""


def leader_and_isr(question: Question) -> dict[str, Any]:
    """A broker's answer to a request to lead or to follow."""
    asked = question["input"]
    known, sent = asked.get("knownControllerEpoch", 0), asked.get("requestControllerEpoch", 0)
    current, wanted = asked["currentLeaderEpoch"], asked["requestLeaderEpoch"]
    controllers = Ranks([known, sent], first=1)
    leaders = Ranks([wanted, *([current] if current >= 0 else [])], first=1)
    leads = asked.get("leader", -1) == asked.get("self", 0)  # as the implementation's is called
    alive = "leader" not in asked or asked["leader"] in asked["aliveBrokers"]
    stage = ModelStage.of("cluster", question["release"], OUTCOMES, BOUNDS)
    cells: dict[Place, object] = {
        ("up", (BROKER,)): True,
        ("belief", (SENDER,)): controllers.of(sent),
        ("seen", (BROKER,)): controllers.of(known),
        ("alive", (BROKER, SENDER)): alive,
        ("partition.version", (0,)): SENT,
        ("partition.replicas", (0, BROKER)): True,
        ("partition.state.epoch", (0, MINE)): leaders.of(current) if current >= 0 else 0,
        ("partition.state.epoch", (0, SENT)): leaders.of(wanted),
        ("partition.state.leader", (0, SENT)): BROKER if leads else SENDER,
        ("partition.replica.version", (0, BROKER)): MINE if current >= 0 else None,
        ("partition.replica.fetching", (0, BROKER)): False,
        ("cache.queue.end", (SENDER, BROKER)): 1,
        ("cache.queue.at.kind", (SENDER, BROKER, 0)): "leader_and_isr",
        ("cache.queue.at.about", (SENDER, BROKER, 0, 0)): SENT,
    }
    state = stage.state(cells)
    taken = {
        name: after
        for name in OUTCOMES
        if (after := stage.step(name, state, BROKER, SENDER)) is not None
    }
    assert len(taken) == 1, f"a broker takes a request in one way, not {sorted(taken)}"
    ((name, after),) = taken.items()
    top, partition = OUTCOMES[name]
    obeys = stage.read(after, "partition.replica.version", 0, BROKER) == SENT
    return {
        "topError": top,
        "partitionError": partition,
        "knownControllerEpochAfter": controllers.value(stage.read(after, "seen", BROKER)),
        "fetcherAdded": bool(stage.read(after, "partition.replica.fetching", 0, BROKER)),
        "leaderEpochAfter": wanted if obeys else current,
    }
