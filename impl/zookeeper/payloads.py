"""Kafka's znodes: where they are and what is written in them (2.3: KafkaZkClient, ZkData)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache

CONTROLLER = "/controller"
CONTROLLER_EPOCH = "/controller_epoch"
BROKER_IDS = "/brokers/ids"

TOPIC = "t"
PARTITION = 0
TOPIC_PARTITION = f"{TOPIC}-{PARTITION}"

NO_LEADER = -1
"""``LeaderAndIsr.NoLeader``: nobody leads the partition."""


def broker_path(broker: int) -> str:
    """``/brokers/ids/N``."""
    return f"{BROKER_IDS}/{broker}"


def topic_path(topic: str = TOPIC) -> str:
    """``/brokers/topics/T``."""
    return f"/brokers/topics/{topic}"


def state_path(topic: str = TOPIC, partition: int = PARTITION) -> str:
    """``/brokers/topics/T/partitions/P/state``."""
    return f"{topic_path(topic)}/partitions/{partition}/state"


@dataclass(frozen=True, order=True, slots=True)
class PartitionState:
    """What the state znode of a partition says; the isr keeps its order."""

    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    controller_epoch: int


@lru_cache(maxsize=65536)
def encode_state(state: PartitionState) -> str:
    """The text of a state znode, version 1."""
    return _compact(
        {
            "version": 1,
            "leader": state.leader,
            "leader_epoch": state.leader_epoch,
            "controller_epoch": state.controller_epoch,
            "isr": list(state.isr),
        }
    )


@lru_cache(maxsize=65536)
def decode_state(text: str) -> PartitionState:
    """The state that a state znode's text means; ValueError names what is wrong with it."""
    try:
        fields = json.loads(text)
        return PartitionState(
            leader=int(fields["leader"]),
            leader_epoch=int(fields["leader_epoch"]),
            isr=tuple(int(member) for member in fields["isr"]),
            controller_epoch=int(fields["controller_epoch"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"not a partition state: {text!r} ({error!r})") from error


def encode_controller(broker: int, timestamp_ms: int) -> str:
    """The text of ``/controller``."""
    return _compact({"version": 1, "brokerid": broker, "timestamp": str(timestamp_ms)})


@lru_cache(maxsize=65536)
def decode_controller(text: str) -> int:
    """The broker id in the text of ``/controller``."""
    return int(json.loads(text)["brokerid"])


def encode_broker(broker: int, timestamp_ms: int) -> str:
    """The text of ``/brokers/ids/N``, version 4 (0.10.2 to 2.6), one PLAINTEXT listener."""
    host = f"broker-{broker}"
    return _compact(
        {
            "listener_security_protocol_map": {"PLAINTEXT": "PLAINTEXT"},
            "endpoints": [f"PLAINTEXT://{host}:9092"],
            "jmx_port": -1,
            "host": host,
            "timestamp": str(timestamp_ms),
            "port": 9092,
            "version": 4,
        }
    )


def encode_topic(assignment: tuple[int, ...]) -> str:
    """The text of ``/brokers/topics/T``, version 1 (up to 2.3), for a topic of one partition."""
    return _compact({"version": 1, "partitions": {str(PARTITION): list(assignment)}})


def _compact(fields: object) -> str:
    return json.dumps(fields, separators=(",", ":"))
