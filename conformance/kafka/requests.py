"""Sends the lab's own requests to a broker: a connection for each, past the proxies."""

from __future__ import annotations

import datetime
from contextlib import closing
from typing import Any

from conformance.kafka.releases import KafkaRelease
from impl.core.requests import Request, kind_of
from impl.log.legacy_messages import encode_message
from impl.log.record import StoredRecord
from impl.log.record_batch import encode_batch
from impl.server.connection import Connection, Disconnected
from impl.server.control_messages import LiveBrokers, encode, version_of
from impl.wire import Fields

LOOPBACK = "127.0.0.1"
PATIENCE_S = 15.0


def ask(
    port: int, api: str, version: int, body: Any, client: str, patience_s: float = PATIENCE_S
) -> Any:
    """Sends one request; returns its answer's body. Disconnected."""
    with closing(Connection((LOOPBACK, port), patience_s, client)) as connection:
        try:
            return connection.ask(api, version, body)
        except Disconnected as error:
            raise Disconnected(f"{api}: {error}") from error


def send(port: int, request: Request, live: LiveBrokers) -> int:
    """Sends a controller's request; the error code of it as a whole, or of its partition."""
    client, version = str(request.controller), version_of(request)
    answer = ask(port, kind_of(request), version, encode(request, live), client)
    codes = [int(one.error_code) for one in getattr(answer, "partition_errors", ())]
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
