"""The model's answers about a round of requests to brokers (request_batch.json)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from conformance.plain_rules.batches import (
    BatchRequest,
    ControllerSwitches,
    Known,
    Leads,
    NotSent,
    PlainBatch,
)
from conformance.plain_rules.request_versions import version_of
from impl.releases import Release

Question = Mapping[str, Any]


def batch(question: Question) -> dict[str, Any]:
    """What a round of calls sends, and to whom."""
    asked = question["input"]
    known = Known(asked["live"], going=asked.get("queuedForDeletion", ()))
    for name, state in asked.get("leadership", {}).items():
        known.leadership[name] = _leads(state)
    round_ = PlainBatch(known, _switches(question))
    try:
        for call in asked["calls"]:
            _call(round_, call)
    except NotSent:
        return {"error": "IllegalStateException"}
    return _shown(question, list(round_.sent()))


def _switches(question: Question) -> ControllerSwitches:
    release = Release.of(question["release"])
    protocol = Release.of(question["input"].get("ibp", question["release"]))
    return ControllerSwitches(
        empty_means_all=not release.since("2.2"),
        one_stop=release.since("2.6") and protocol.since("2.6"),
        two_stops=release.since("2.3"),
        stops_together=not release.since("1.1"),
    )


def _leads(state: Mapping[str, Any], new: bool = False) -> Leads:
    epoch, version = state.get("leaderEpoch", 0), state.get("zkVersion", 0)
    return Leads(state["leader"], tuple(state["isr"]), epoch, version, new)


def _call(round_: PlainBatch, call: Mapping[str, Any]) -> None:
    match call.get("add"):
        case "leaderAndIsr":
            for name, state in call["partitions"].items():
                round_.add_leads(call["to"], name, _leads(state, call["isNew"]))
        case "updateMetadata":
            round_.add_metadata(call["to"], call["partitions"])
        case "stopReplica":
            for name, deletes in call["partitions"].items():
                round_.add_stop(call["to"], name, deletes)
        case _:
            round_.begin()


def _shown(question: Question, sent: Iterable[BatchRequest]) -> dict[str, Any]:
    asked = question["input"]
    protocol = Release.of(asked.get("ibp", question["release"])).parts
    started = asked.get("deletionStarted", ())
    answer: dict[str, Any] = {"recipients": {}, "deletionEventPartitions": []}
    for request in sent:
        to = answer["recipients"].setdefault(request.kind, [])
        to += [request.broker] if request.broker not in to else []
        shown = _request(request, version_of(request.kind, protocol), asked)
        answer.setdefault(f"broker{request.broker}", []).append(shown)
        answer.setdefault(f"orderToBroker{request.broker}", []).append(request.kind)
        if request.kind == "UpdateMetadata":
            answer |= {name: shown[name] for name in ("partitions", "liveBrokers")}
        answer["deletionEventPartitions"] += [
            name
            for name, stop in sorted(request.stops.items())
            if stop.deletes and name.rpartition("-")[0] in started
        ]
    return answer


def _request(request: BatchRequest, version: int, asked: Mapping[str, Any]) -> dict[str, Any]:
    shown: dict[str, Any] = {"type": request.kind, "version": version}
    if request.kind == "StopReplica":
        shown["partitions"] = {
            one: {"delete": stop.deletes, "leaderEpoch": stop.epoch}
            for one, stop in request.stops.items()
        }
        shown["deletePartitions"] = any(stop.deletes for stop in request.stops.values())
        return shown
    shown["partitions"] = {
        one: {
            "leader": leads.leader,
            "isr": list(leads.isr),
            "leaderEpoch": leads.epoch,
            "zkVersion": leads.version,
            "isNew": leads.new,
        }
        for one, leads in request.leads.items()
    }
    if request.kind == "UpdateMetadata":
        shown["liveBrokers"] = list(asked["live"])
    return shown
