"""Control requests as plain data: what a controller sends to brokers, there and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from impl.core.metadata_cache import Endpoints
from impl.core.requests import (
    LeaderAndIsr,
    PartitionMetadata,
    PartitionOrder,
    PartitionStop,
    Request,
    StopReplica,
    UpdateMetadata,
)
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition


def encode_request(request: Request, endpoints: Endpoints) -> dict[str, Any]:
    """A request's header; ``endpoints``: where the brokers listen that it speaks of."""
    head: dict[str, Any] = {
        "api": type(request).__name__,
        "version": request.version,
        "controller": request.controller,
        "controller_epoch": request.controller_epoch,
        "broker_epoch": request.broker_epoch,
    }
    match request:
        case LeaderAndIsr():
            head["partitions"] = [
                [*one, *_state(order.state), list(order.replicas), order.is_new]
                for one, order in request.partitions.items()
            ]
            head["live_leaders"] = list(request.live_leaders)
        case UpdateMetadata():
            head["partitions"] = [
                [*one, *_state(told.state), list(told.replicas), list(told.offline_replicas)]
                for one, told in request.partitions.items()
            ]
            head["live_brokers"] = [
                [broker, *endpoints[broker]] for broker in request.live_brokers
                if broker in endpoints
            ]  # fmt: skip
        case StopReplica():
            head["partitions"] = [
                [*one, stop.delete, stop.leader_epoch] for one, stop in request.partitions.items()
            ]
    return head


def decode_request(head: Mapping[str, Any]) -> tuple[Request, Endpoints]:
    """A request and the endpoints that came with it. ValueError for what is no such request."""
    common = (
        head["version"], head["controller"], head["controller_epoch"], head["broker_epoch"]
    )  # fmt: skip
    entries = head["partitions"]
    match head["api"]:
        case "LeaderAndIsr":
            orders = {
                TopicPartition(topic, number): PartitionOrder(_read(state), tuple(replicas), new)
                for topic, number, *state, replicas, new in entries
            }
            return LeaderAndIsr(*common, orders, tuple(head["live_leaders"])), {}
        case "UpdateMetadata":
            told = {
                TopicPartition(topic, number): PartitionMetadata(
                    _read(state), tuple(replicas), tuple(offline)
                )
                for topic, number, *state, replicas, offline in entries
            }
            found = {broker: (host, port) for broker, host, port in head["live_brokers"]}
            return UpdateMetadata(*common, told, tuple(found)), found
        case "StopReplica":
            stops = {
                TopicPartition(topic, number): PartitionStop(delete, epoch)
                for topic, number, delete, epoch in entries
            }
            return StopReplica(*common, stops), {}
        case other:
            raise ValueError(f"{other} is no request of a controller")


def _state(state: LeaderIsrAndControllerEpoch) -> list[Any]:
    isr = list(state.isr)
    return [state.leader, state.leader_epoch, isr, state.controller_epoch, state.zk_version]


def _read(fields: list[Any]) -> LeaderIsrAndControllerEpoch:
    leader, epoch, isr, controller_epoch, version = fields
    return LeaderIsrAndControllerEpoch(leader, epoch, tuple(isr), controller_epoch, version)
