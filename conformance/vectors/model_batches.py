"""The model's answers about a batch of requests to brokers (request_batch.json).

States that are elected wait for the batch, which a step of `cluster` sends: LeaderAndIsr to the
replicas, and UpdateMetadata to all. What it has queued by then is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.vectors.model_controller import CONTROLLER, ELECTIONS
from conformance.vectors.model_stage import ModelStage, Place

Question = Mapping[str, Any]

STAGE, *_, SENDS = ELECTIONS["Preferred"]
"""Of the elections that of preferred replicas notifies every replica."""
NAMES = {"leader_and_isr": "LeaderAndIsr", "update_metadata": "UpdateMetadata"}
VERSION = 1


def is_one_call(given: Mapping[str, Any]) -> bool:
    """One call, of partitions whose states are known and were not created just now."""
    calls = given["calls"]
    return len(calls) == 1 and calls[0].get("add") == "leaderAndIsr" and not calls[0].get("isNew")


def batch(question: Question) -> dict[str, Any]:
    """What is sent, and to whom."""
    asked = question["input"]
    (call,) = asked["calls"]
    partitions, to = list(call["partitions"]), [one for one in call["to"] if one >= 0]
    states = call["partitions"].values()
    named = {*asked["live"], *to, *(one for state in states for one in state["isr"])}
    ids = {broker: number for number, broker in enumerate(sorted(named), CONTROLLER + 1)}
    names = {number: broker for broker, number in ids.items()}
    bounds = {
        "brokers": 1 + len(ids), "partitions": len(partitions), "replicas": len(ids),
        "versions": 1, "epoch": 1, "controllers": 1, "queue": 2, "events": 1, "endpoints": 0,
    }  # fmt: skip
    stage = ModelStage.of("cluster", question["release"], (SENDS,), bounds)
    cells: dict[Place, object] = {
        ("belief", (CONTROLLER,)): 1,
        ("cache.stage", (CONTROLLER,)): STAGE,
    }
    for broker, number in ids.items():
        for cell in ("live", "reached"):
            cells["cache." + cell, (CONTROLLER, number)] = broker in asked["live"]
    for at, state in enumerate(states):
        cells |= {
            ("partition.version", (at,)): VERSION,
            ("partition.state.leader", (at, VERSION)): ids.get(state["leader"]),
            ("partition.context.version", (at, CONTROLLER)): VERSION,
            ("partition.context.batched", (at, CONTROLLER)): True,
            ("partition.replicas", (at, CONTROLLER)): False,
        }
        for broker, number in ids.items():
            cells["partition.state.isr", (at, VERSION, number)] = broker in state["isr"]
            cells["partition.replicas", (at, number)] = broker in to
    sent = stage.step(SENDS, stage.state(cells), CONTROLLER)

    def shown(at: int) -> dict[str, Any]:
        leader = stage.read(sent, "partition.state.leader", at, VERSION)
        isr = [one for one in call["partitions"][partitions[at]]["isr"]  # the model's is a set
               if stage.read(sent, "partition.state.isr", at, VERSION, ids[one])]  # fmt: skip
        return {"leader": names.get(leader, -1), "isr": isr, "isNew": False}

    answer: dict[str, Any] = {"recipients": {}}
    for broker, number in ids.items():
        for slot in range(stage.read(sent, "cache.queue.end", CONTROLLER, number)):
            place = CONTROLLER, number, slot
            kind = NAMES[stage.read(sent, "cache.queue.at.kind", *place)]
            about = {
                name: shown(at)
                for at, name in enumerate(partitions)
                if stage.read(sent, "cache.queue.at.about", *place, at) == VERSION
            }
            answer["recipients"].setdefault(kind, []).append(broker)
            answer.setdefault(f"broker{broker}", []).append({"type": kind, "partitions": about})
            answer.setdefault(f"orderToBroker{broker}", []).append(kind)
    return answer
