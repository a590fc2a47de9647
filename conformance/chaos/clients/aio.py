"""The aiokafka client: one event loop per thread; futures return the responses."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import Any

from conformance.chaos.history import ProduceAttempt, ProducerKind
from conformance.chaos.workload import (
    AT_ONCE,
    PATIENCE_S,
    REQUEST_MS,
    SESSION_MS,
    TOPIC,
    ReaderNotes,
    Workload,
    servers_of,
    silence_loggers,
)

PATIENCE_MS = int(PATIENCE_S * 1000)
QUICK = {"metadata_max_age_ms": 5000, "retry_backoff_ms": 50}


def write(work: Workload, writer: ProducerKind) -> None:
    """Sends records, with several batches in flight at once."""
    silence_loggers("aiokafka", "asyncio")  # tasks of its own fail, and nobody asks after them
    asyncio.run(_write(work, writer))


async def _write(work: Workload, writer: ProducerKind) -> None:
    aiokafka = import_module("aiokafka")
    errors = import_module("aiokafka.errors")
    producer = None
    while producer is None and not work.ended.is_set():
        made = aiokafka.AIOKafkaProducer(
            bootstrap_servers=servers_of(work.addresses), linger_ms=5,
            acks="all" if writer.idempotent else writer.acks, enable_idempotence=writer.idempotent,
            request_timeout_ms=2 * REQUEST_MS, **QUICK,
        )  # fmt: skip
        try:
            await made.start()
            producer = made
        except (errors.KafkaError, OSError):
            await made.stop()
            await asyncio.sleep(0.2)
    if producer is None:
        return

    def on_delivery(send: ProduceAttempt, sent: asyncio.Future[Any]) -> None:
        error = None if sent.cancelled() else sent.exception()
        if sent.cancelled() or error is not None:
            work.failed(send, type(error).__name__)
        else:
            found = sent.result()
            work.answered(send, -1 if found is None else max(-1, found.offset))

    following = partial(next, work.sends(writer, at_once=AT_ONCE), None)
    while (send := await asyncio.to_thread(following)) is not None:
        try:
            sent = await asyncio.wait_for(
                producer.send(TOPIC, send.values[0].encode(), partition=send.partition), PATIENCE_S
            )
        except (errors.KafkaError, OSError, TimeoutError) as error:
            work.failed(send, type(error).__name__)
        else:
            sent.add_done_callback(partial(on_delivery, send))
    with suppress(errors.KafkaError, OSError, TimeoutError):
        await asyncio.wait_for(producer.stop(), PATIENCE_S + 2)


def read(work: Workload, reader: str, group: str) -> None:
    """Reads as a member of a group, and commits."""
    silence_loggers("aiokafka", "asyncio")  # tasks of its own fail, and nobody asks after them
    asyncio.run(_read(work, reader, group))


async def _read(work: Workload, reader: str, group: str) -> None:
    aiokafka = import_module("aiokafka")
    errors = import_module("aiokafka.errors")
    listeners = import_module("aiokafka.abc")
    assignors = import_module("aiokafka.coordinator.assignors.range")
    member = ReaderNotes(work, reader, group)

    async def assigned(_self: Any, partitions: Any) -> None:
        began = work.now()
        found = dict[int, int | None].fromkeys((one.partition for one in partitions), None)
        try:  # what is not found, the library looks for itself
            for one in sorted(partitions):
                with suppress(errors.KafkaError, OSError, TimeoutError):
                    kept = await asyncio.wait_for(consumer.committed(one), PATIENCE_S)
                    found[one.partition] = -1 if kept is None else kept
        finally:
            member.joined(found, began)
        for one in partitions:  # and not before: records come from there on at once
            if (offset := found[one.partition]) is not None:
                consumer.seek(one, max(0, offset))

    async def revoked(_self: Any, _partitions: Any) -> None:
        return None

    listener = type(
        "Listener", (listeners.ConsumerRebalanceListener,),
        {"on_partitions_assigned": assigned, "on_partitions_revoked": revoked},
    )  # fmt: skip
    consumer = aiokafka.AIOKafkaConsumer(
        bootstrap_servers=servers_of(work.addresses), group_id=group, enable_auto_commit=False,
        auto_offset_reset="none", session_timeout_ms=SESSION_MS,
        heartbeat_interval_ms=SESSION_MS // 10, request_timeout_ms=PATIENCE_MS,
        partition_assignment_strategy=(assignors.RangePartitionAssignor,), fetch_max_wait_ms=50,
        **QUICK,
    )  # fmt: skip
    consumer.subscribe([TOPIC], listener=listener())
    while not work.ended.is_set():
        try:
            await consumer.start()
            break
        except (errors.KafkaError, OSError):
            await asyncio.sleep(0.2)
    try:
        while not work.ended.is_set():
            try:
                await _polled(consumer, aiokafka, member)
            except errors.OffsetOutOfRangeError as error:
                for one in error.args[0]:
                    member.set_back(one.partition, "OFFSET_OUT_OF_RANGE", None)
                    await consumer.seek_to_end(one)
            except errors.NoOffsetForPartitionError:
                for one in consumer.assignment():
                    if one.partition not in member.known():
                        consumer.seek(one, 0)
            except (errors.KafkaError, OSError, TimeoutError):
                await asyncio.sleep(0.1)
    finally:
        with suppress(errors.KafkaError, OSError, TimeoutError):
            await asyncio.wait_for(consumer.stop(), PATIENCE_S)


async def _polled(consumer: Any, aiokafka: Any, member: ReaderNotes) -> None:
    polled = await consumer.getmany(timeout_ms=100)
    for one, records in polled.items():
        if records:
            member.got(one.partition, [(got.offset, got.value) for got in records])
    if polled:
        with member.committing(positions := member.known()):
            kept = {aiokafka.TopicPartition(TOPIC, one): at for one, at in positions.items()}
            await asyncio.wait_for(consumer.commit(kept), PATIENCE_S)
