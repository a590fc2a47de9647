"""The model's answers about a batch of requests to brokers (request_batch.json).

A batch of the model is what one step of `cluster` sends: LeaderAndIsr to the replicas and
UpdateMetadata to all after an election, only UpdateMetadata about changed ISRs or the live brokers,
only StopReplica to followers that shut down. The answer is what the step has queued.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.plain_rules import request_versions
from conformance.plain_rules.request_batches import BatchByTheRules, NotSent
from conformance.vectors.compare import ByRule
from conformance.vectors.model.machines import CONTROLLER, ELECTIONS
from conformance.vectors.model.stage import ModelStage, Place
from impl.releases import Release

Question = Mapping[str, Any]

STAGE, *_, SENDS = ELECTIONS["Preferred"]
"""Of the elections that of preferred replicas notifies every replica."""
CHANGED, LIVE, STOPS = (
    "controller_reads_isr_changes", "controller_sends_update_metadata_for_dead_brokers",
    "controller_stops_follower",
)  # fmt: skip
NAMES = {
    "leader_and_isr": "LeaderAndIsr", "update_metadata": "UpdateMetadata",
    "stop_replica": "StopReplica",
}  # fmt: skip
VERSION = 1


def by_rule(question: Question) -> ByRule:
    """Batches that no single step sends: several kinds of calls, deletions, new partitions."""
    asked, release = question["input"], Release.of(question["release"])
    live = [*asked["live"], *asked.get("shuttingDown", ())]
    round_ = BatchByTheRules(
        release.parts, request_versions.protocol_of(str(asked.get("ibp", release))), set(live),
        dict(asked.get("leadership") or {}), asked.get("queuedForDeletion", ()),
        asked.get("deletionStarted", ()),
    )  # fmt: skip
    try:
        for call in asked["calls"]:
            match call.get("add"):
                case "leaderAndIsr":
                    for name, state in call["partitions"].items():
                        round_.leader_and_isr(call["to"], name, state, call["isNew"])
                case "updateMetadata":
                    round_.update_metadata(call["to"], list(call["partitions"]))
                case "stopReplica":
                    for name, delete in call["partitions"].items():
                        round_.stop_replica(call["to"], name, delete)
                case _:
                    round_.begin()
    except NotSent:
        return ByRule(error="IllegalStateException")
    answer: dict[str, Any] = {"recipients": {kind: [] for kind in NAMES.values()},
                              "deletionEventPartitions": round_.events()}  # fmt: skip
    for broker, requests in sorted(round_.sent().items()):
        answer[f"broker{broker}"] = requests
        answer[f"orderToBroker{broker}"] = [one["type"] for one in requests]
        for one in requests:
            to = answer["recipients"][one["type"]]
            to += [broker] if broker not in to else []
            if one["type"] == "UpdateMetadata":
                answer |= {field: one[field] for field in ("partitions", "liveBrokers")}
    return ByRule(answer)


def is_one_batch(given: Mapping[str, Any]) -> bool:
    """Calls of one kind about partitions that have a state, were not created just now and are not
    to be deleted."""
    calls = given["calls"]
    kinds = {call.get("add") for call in calls}
    named = {name for call in calls for name in call.get("partitions") or ()}
    if len(kinds) != 1 or given.get("queuedForDeletion"):
        return False
    if kinds == {"leaderAndIsr"}:
        return len(calls) == 1 and not calls[0].get("isNew")
    if not named <= set(given.get("leadership", ())):
        return False
    if kinds == {"updateMetadata"}:
        return bool(given.get("leadership")) or not named
    ibp = str(given.get("ibp", "2.6"))
    deletes = any(each for call in calls for each in call["partitions"].values())
    return kinds == {"stopReplica"} and not deletes and Release.of(ibp).since("2.6")


def batch(question: Question) -> dict[str, Any]:
    """The requests that are sent, by broker."""
    asked = question["input"]
    if not is_one_batch(asked):
        return by_rule(question)
    calls = asked["calls"]
    kind = calls[0]["add"]
    states: Mapping[str, Any] = asked.get("leadership") or {}
    if kind == "leaderAndIsr":
        states = calls[0]["partitions"]
    partitions = list(states)
    if kind == "leaderAndIsr" and not Release.of(question["release"]).since("2.2"):
        alive = {*asked["live"], *asked.get("shuttingDown", ())}
        if not {one for one in calls[0]["to"] if one >= 0} <= alive:
            return by_rule(question)  # it has the dead as well, whom the model's leaves out
    about = {name for call in calls for name in call.get("partitions") or ()}
    to = list(dict.fromkeys(one for call in calls for one in call["to"] if one >= 0))
    named = {*asked["live"], *to, *(one for state in states.values() for one in state["isr"]),
             *(state["leader"] for state in states.values() if state["leader"] >= 0)}  # fmt: skip
    ids = {broker: number for number, broker in enumerate(sorted(named), CONTROLLER + 1)}
    names = {number: broker for broker, number in ids.items()}
    bounds = {
        "brokers": 1 + len(ids), "partitions": max(1, len(partitions)), "replicas": len(ids),
        "versions": 1, "epoch": 1, "controllers": 1, "queue": 2, "events": 1, "endpoints": 0,
    }  # fmt: skip
    step = {"leaderAndIsr": SENDS, "stopReplica": STOPS}.get(kind, CHANGED if about else LIVE)
    stage = ModelStage.of("cluster", question["release"], (step,), bounds)
    at = {SENDS: STAGE, STOPS: "stopping", CHANGED: "idle", LIVE: "notifying"}[step]
    cells: dict[Place, object] = {
        ("zk.controller", ()): CONTROLLER,
        ("zk.epoch", ()): 1,
        ("belief", (CONTROLLER,)): 1,
        ("cache.stage", (CONTROLLER,)): at,
    }
    if step == CHANGED:
        cells |= {
            ("cache.events.end", (CONTROLLER,)): 1,
            ("cache.events.at.kind", (CONTROLLER, 0)): "isr_change",
        }
    for broker, number in ids.items():
        for cell in ("live", "reached"):
            cells["cache." + cell, (CONTROLLER, number)] = broker in asked["live"]
    for number, (name, state) in enumerate(states.items()):
        cells |= {
            ("partition.version", (number,)): VERSION,
            ("partition.state.leader", (number, VERSION)): ids.get(state["leader"]),
            ("partition.context.version", (number, CONTROLLER)): VERSION,
            ("partition.context.batched", (number, CONTROLLER)): True,
            ("partition.noted", (number,)): name in about,
            ("partition.replicas", (number, CONTROLLER)): False,
        }
        for broker, one in ids.items():
            cells["partition.state.isr", (number, VERSION, one)] = broker in state["isr"]
            cells["partition.replicas", (number, one)] = broker in to
            cells["partition.context.gone", (number, CONTROLLER, one)] = any(
                step == STOPS and broker in call["to"] and name in call["partitions"]
                for call in calls
            )
    sent = stage.step(step, stage.state(cells), CONTROLLER)

    def shown(number: int) -> dict[str, Any]:
        state = states[partitions[number]]
        if step == STOPS:
            return {"delete": False, "leaderEpoch": state["leaderEpoch"]}
        leader = stage.read(sent, "partition.state.leader", number, VERSION)
        isr = [one for one in state["isr"]  # the model's is a set
               if stage.read(sent, "partition.state.isr", number, VERSION, ids[one])]  # fmt: skip
        return {"leader": names.get(leader, -1), "isr": isr, "isNew": False}

    answer: dict[str, Any] = {"recipients": {kind: [] for kind in NAMES.values()}}
    # The other steps send to all live brokers: those that were asked for are looked at.
    asked_for = ids if step == SENDS else {one: ids[one] for one in to}
    for broker, number in sorted(asked_for.items()):
        for slot in range(stage.read(sent, "cache.queue.end", CONTROLLER, number)):
            place = CONTROLLER, number, slot
            name = NAMES[stage.read(sent, "cache.queue.at.kind", *place)]
            request: dict[str, Any] = {
                "type": name,
                "partitions": {
                    each: shown(index)
                    for index, each in enumerate(partitions)
                    if stage.read(sent, "cache.queue.at.about", *place, index) == VERSION
                },
            }
            if name == "UpdateMetadata":
                request["liveBrokers"] = [
                    one for one in ids if stage.read(sent, "cache.queue.at.alive", *place, ids[one])
                ]
                answer |= {field: request[field] for field in ("partitions", "liveBrokers")}
            answer["recipients"][name].append(broker)
            answer.setdefault(f"broker{broker}", []).append(request)
            answer.setdefault(f"orderToBroker{broker}", []).append(name)
    return answer | {"deletionEventPartitions": []}
