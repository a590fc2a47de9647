"""Answers about a round of requests to brokers (request_batch.json)."""

from __future__ import annotations

from typing import Any

from conformance.vectors.implementation.stage import shown_state, state_of
from conformance.vectors.questions import Answer, Question, given, release
from impl.core.cluster_context import ClusterContext
from impl.core.request_batch import BatchNotSent, RequestBatch, Round
from impl.core.requests import (
    LAST_INTERNAL,
    LeaderAndIsr,
    Request,
    StopReplica,
    UpdateMetadata,
    kind_of,
    request_version,
)
from impl.releases import Release
from impl.znodes import TopicPartition
from impl.zookeeper.port import wait

ROUND = ("LeaderAndIsr", "UpdateMetadata", "StopReplica")
_KINDS = (*ROUND, "ControlledShutdown")


def versions(question: Question) -> dict[str, Any]:
    """The versions of requests under an inter.broker.protocol.version."""
    line, _, internal = given(question)["ibp"].partition("-IV")
    last = int(internal) if internal else LAST_INTERNAL
    return {kind: request_version(kind, Release.of(line), last) for kind in _KINDS}


def batch(question: Question) -> dict[str, Any]:
    """The requests that a round of calls sends, by broker."""
    asked, sent = given(question), list[tuple[int, Request]]()
    context = _context(asked)

    async def send(requests: Round) -> None:
        sent.extend(requests)

    protocol = Release.of(asked["ibp"]) if "ibp" in asked else None
    round_ = RequestBatch(
        asked["controllerId"],
        context,
        release(question),
        send,
        protocol,
    )
    try:
        round_.begin()
        for call in asked["calls"]:
            _call(round_, context, call)
        wait(round_.send_requests(asked["controllerEpoch"]))
    except BatchNotSent:
        return {"error": "IllegalStateException"}
    return _shown(sent)


def _context(asked: dict[str, Any]) -> ClusterContext:
    context = ClusterContext()
    context.shutting_down = set(asked.get("shuttingDown", ()))
    context.broker_epochs = dict.fromkeys({*asked["live"], *context.shutting_down}, 1)
    context.queued_for_deletion = set(asked.get("queuedForDeletion", ()))
    context.deletion_started = set(asked.get("deletionStarted", ()))
    for name, state in asked.get("leadership", {}).items():
        partition = TopicPartition.of(name)
        context.leadership[partition] = state_of(state, asked["controllerEpoch"])
        context.assign(partition, asked["assignment"].get(name, state["isr"]))
    return context


def _call(round_: RequestBatch, context: ClusterContext, call: dict[str, Any]) -> None:
    match call.get("add"):
        case "leaderAndIsr":
            for name, fields in call["partitions"].items():
                partition, state = TopicPartition.of(name), state_of(fields, 1)
                context.leadership[partition] = state
                replicas = context.replicas(partition) or state.isr
                round_.add_leader_and_isr(call["to"], partition, state, replicas, call["isNew"])
        case "updateMetadata":
            round_.add_update_metadata(call["to"], map(TopicPartition.of, call["partitions"]))
        case "stopReplica":
            for name, delete in call["partitions"].items():
                round_.add_stop_replica(call["to"], TopicPartition.of(name), delete)
        case _:
            round_.begin()


def _shown(sent: list[tuple[int, Request]]) -> dict[str, Any]:
    answer: dict[str, Any] = {"recipients": {kind: [] for kind in ROUND}}
    for broker, request in sent:
        to = answer["recipients"][kind_of(request)]
        to += [broker] if broker not in to else []
        answer.setdefault(f"broker{broker}", []).append(_request(request))
        answer.setdefault(f"orderToBroker{broker}", []).append(kind_of(request))
        if isinstance(request, UpdateMetadata):
            answer["partitions"] = _request(request)["partitions"]
            answer["liveBrokers"] = list(request.live_brokers)
    answer["deletionEventPartitions"] = sorted(
        {
            str(one)
            for _, request in sent
            if isinstance(request, StopReplica)
            for one in request.raises_event
        }
    )
    return answer


def _request(request: Request) -> dict[str, Any]:
    shown: dict[str, Any] = {"type": kind_of(request), "version": request.version}
    match request:
        case LeaderAndIsr():
            orders = request.partitions.items()
            shown["partitions"] = {
                str(one): {
                    **shown_state(order.state),
                    "isNew": order.is_new,
                    "replicas": list(order.replicas),
                }
                for one, order in orders
            }  # fmt: skip
            shown["controllerEpoch"] = request.controller_epoch
            shown["liveLeaders"] = list(request.live_leaders)
        case UpdateMetadata():
            entries = request.partitions.items()
            shown["partitions"] = {
                str(one): {
                    **shown_state(entry.state),
                    "offlineReplicas": list(entry.offline_replicas),
                }
                for one, entry in entries
            }
            shown["liveBrokers"] = list(request.live_brokers)
        case StopReplica():
            stops = request.partitions.items()
            shown["partitions"] = {
                str(one): {"delete": stop.delete, "leaderEpoch": stop.leader_epoch}
                for one, stop in stops
            }
            shown["deletePartitions"] = any(stop.delete for _, stop in stops)
    return shown


ANSWERS: dict[tuple[str, str], Answer] = {
    ("request_batch", "versions"): versions,
    ("request_batch", "batch"): batch,
}
