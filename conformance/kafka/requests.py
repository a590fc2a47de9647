"""Sends the lab's own requests to a broker: a connection for each, past the proxies."""

from __future__ import annotations

import datetime
import socket
import struct
from typing import Any, NamedTuple

from conformance.kafka.releases import KafkaRelease
from impl.log.legacy_messages import encode_message
from impl.log.record import StoredRecord
from impl.log.record_batch import encode_batch
from impl.wire import Fields, Header, api_key, decode_response, encode_request

LOOPBACK = "127.0.0.1"
PATIENCE_S = 15.0


class NoAnswer(OSError):
    """The broker is not there, or did not answer in time."""


class PartitionStateNode(NamedTuple):
    """What `/brokers/topics/T/partitions/P/state` says, with its zkVersion."""

    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    controller_epoch: int
    version: int


def ask(
    port: int, api: str, version: int, body: Any, client: str, patience_s: float = PATIENCE_S
) -> Any:
    """Sends one request; returns its answer's body. NoAnswer."""
    key = api_key(api)
    frame = encode_request(Header(key, version, 1, client), body)
    try:
        with socket.create_connection((LOOPBACK, port), timeout=patience_s) as connection:
            connection.sendall(frame)
            answer = _frame(connection)
    except OSError as error:
        raise NoAnswer(f"{api}: {error or type(error).__name__}") from error
    return decode_response(answer, key, version).body


def _frame(connection: socket.socket) -> bytes:
    (size,) = struct.unpack(">i", _exactly(connection, 4))
    return _exactly(connection, size)


def _exactly(connection: socket.socket, size: int) -> bytes:
    parts, missing = [], size
    while missing:
        part = connection.recv(missing)
        if not part:
            raise OSError("the connection ended before the answer came")
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)


class RequestSender(NamedTuple):
    """The sender of a controller's request, with the partition and the brokers that it is about."""

    controller: int
    epoch: int
    topic: str
    replicas: tuple[int, ...]


def leader_and_isr(
    release: KafkaRelease, port: int, sender: RequestSender, state: PartitionStateNode,
    broker_epoch: int, leader_port: int,
) -> int:  # fmt: skip
    """Sends LeaderAndIsr; the error code of the partition, or of the request if it has one."""
    partition = Fields(
        topic_name=sender.topic, partition_index=0, controller_epoch=state.controller_epoch,
        leader=state.leader, leader_epoch=state.leader_epoch, isr=state.isr,
        partition_epoch=state.version, replicas=sender.replicas, is_new=False,
        adding_replicas=(), removing_replicas=(),
    )  # fmt: skip
    live = (Fields(broker_id=state.leader, host_name=LOOPBACK, port=leader_port),)
    body = Fields(
        controller_id=sender.controller, controller_epoch=sender.epoch, broker_epoch=broker_epoch,
        ungrouped_partition_states=(partition,),
        topic_states=(Fields(topic_name=sender.topic, partition_states=(partition,)),),
        live_leaders=live if state.leader >= 0 else (),
    )  # fmt: skip
    answer = ask(port, "LeaderAndIsr", release.leader_and_isr, body, str(sender.controller))
    codes = [int(one.error_code) for one in answer.partition_errors]
    return int(answer.error_code) or next((code for code in codes if code), 0)


def update_metadata(
    release: KafkaRelease, port: int, sender: RequestSender, state: PartitionStateNode,
    broker_epoch: int,
    live: dict[int, int],
) -> int:  # fmt: skip
    """Sends UpdateMetadata with the live brokers (id -> port); its error code."""
    partition = Fields(
        topic_name=sender.topic, partition_index=0, controller_epoch=state.controller_epoch,
        leader=state.leader, leader_epoch=state.leader_epoch, isr=state.isr,
        zk_version=state.version, replicas=sender.replicas, offline_replicas=(),
    )  # fmt: skip
    brokers = tuple(
        Fields(id_=one, rack=None, endpoints=(
            Fields(port=at, host=LOOPBACK, listener="PLAINTEXT", security_protocol=0),
        ))
        for one, at in sorted(live.items())
    )  # fmt: skip
    body = Fields(
        controller_id=sender.controller, controller_epoch=sender.epoch, broker_epoch=broker_epoch,
        ungrouped_partition_states=(partition,),
        topic_states=(Fields(topic_name=sender.topic, partition_states=(partition,)),),
        live_brokers=brokers,
    )  # fmt: skip
    answer = ask(port, "UpdateMetadata", release.update_metadata, body, str(sender.controller))
    return int(answer.error_code)


def stop_replica(
    release: KafkaRelease, port: int, sender: RequestSender, leader_epoch: int, broker_epoch: int,
    delete: bool,
) -> int:  # fmt: skip
    """Sends StopReplica; the error code of the partition, or of the request if it has one."""
    partition = Fields(
        topic_name=sender.topic, partition_index=0, leader_epoch=leader_epoch,
        delete_partition=delete,
    )  # fmt: skip
    body = Fields(
        controller_id=sender.controller, controller_epoch=sender.epoch, broker_epoch=broker_epoch,
        delete_partitions=delete, ungrouped_partitions=(partition,),
        topics=(Fields(name=sender.topic, partition_indexes=(0,)),),
        topic_states=(Fields(topic_name=sender.topic, partition_states=(partition,)),),
    )  # fmt: skip
    answer = ask(port, "StopReplica", release.stop_replica, body, str(sender.controller))
    codes = [int(one.error_code) for one in answer.partition_errors]
    return int(answer.error_code) or next((code for code in codes if code), 0)


def produce(
    release: KafkaRelease, port: int, topic: str, value: bytes, acks: int,
    timeout_ms: int = 10_000, partition: int = 0, patience_s: float = PATIENCE_S,
) -> tuple[int, int]:  # fmt: skip
    """Writes one record as a batch of its own; the error code and its offset."""
    record = StoredRecord(0, 0, None, value)
    records = encode_batch([record]) if release.produce >= 3 else encode_message(record, 1)
    data = (Fields(index=partition, records=records),)
    body = Fields(
        transactional_id=None, acks=acks, timeout=datetime.timedelta(milliseconds=timeout_ms),
        topic_data=(Fields(name=topic, partition_data=data),),
    )  # fmt: skip
    answer = ask(port, "Produce", release.produce, body, "insync-lab", patience_s)
    part = answer.responses[0].partition_responses[0]
    return int(part.error_code), int(part.base_offset)


def high_watermark(port: int, topic: str) -> tuple[int, int]:
    """The end that a leader shows consumers (ListOffsets v1, latest): error code and offset."""
    body = Fields(replica_id=-1, topics=(Fields(
        name=topic, partitions=(Fields(partition_index=0, timestamp=-1),)
    ),))  # fmt: skip
    part = ask(port, "ListOffsets", 1, body, "insync-lab").topics[0].partitions[0]
    return int(part.error_code), int(part.offset)
