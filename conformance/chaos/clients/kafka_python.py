"""The kafka-python client: its own thread sends records, and callbacks return the responses."""

from __future__ import annotations

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
    patience_of,
    servers_of,
    silence_loggers,
)

PATIENCE_MS = int(PATIENCE_S * 1000)
QUICK = {"reconnect_backoff_max_ms": 500, "metadata_max_age_ms": 5000}


def write(work: Workload, writer: ProducerKind) -> None:
    """Sends records, with several batches in flight at once."""
    silence_loggers("kafka")
    kafka = import_module("kafka")

    def made() -> Any:
        return kafka.KafkaProducer(
            bootstrap_servers=servers_of(work.addresses).split(","), acks=writer.acks, linger_ms=5,
            enable_idempotence=writer.idempotent, request_timeout_ms=REQUEST_MS,
            delivery_timeout_ms=patience_of(writer), max_block_ms=PATIENCE_MS, **QUICK,
        )  # fmt: skip

    producer = work.until_made(made, kafka.errors.KafkaError)
    if producer is None:
        return

    def on_delivery(send: ProduceAttempt, sent: Any) -> None:
        work.answered(send, -1 if sent.offset is None else max(-1, sent.offset))

    def failed(send: ProduceAttempt, error: BaseException) -> None:
        work.failed(send, type(error).__name__)

    for send in work.sends(writer, at_once=AT_ONCE):
        try:
            sent = producer.send(TOPIC, send.values[0].encode(), partition=send.partition)
        except kafka.errors.KafkaError as error:
            failed(send, error)
        else:
            sent.add_callback(partial(on_delivery, send))
            sent.add_errback(partial(failed, send))
    _close(producer, kafka.errors.KafkaError)


def _close(producer: Any, wrong: type[Exception]) -> None:
    """Waits for records in flight, as long as allowed. The rest is given up with its thread: a
    producer that could not be flushed refuses to be closed, and again when it is freed."""
    try:
        producer.close(timeout=PATIENCE_S + 2)
    except wrong:
        producer._sender.force_close()
        producer._sender.join(2)
        with suppress(wrong):
            producer.close(timeout=1)


def read(work: Workload, reader: str, group: str) -> None:
    """Reads as a member of a group, and commits."""
    silence_loggers("kafka")
    kafka = import_module("kafka")
    coordinator = import_module("kafka.coordinator.assignors.range")
    listeners = import_module("kafka.consumer.subscription_state")
    structs = import_module("kafka.structs")
    member = ReaderNotes(work, reader, group)

    def made() -> Any:
        return kafka.KafkaConsumer(
            bootstrap_servers=servers_of(work.addresses).split(","), group_id=group,
            enable_auto_commit=False, auto_offset_reset="none",
            partition_assignment_strategy=(coordinator.RangePartitionAssignor,),
            session_timeout_ms=SESSION_MS, heartbeat_interval_ms=SESSION_MS // 10,
            request_timeout_ms=PATIENCE_MS, fetch_max_wait_ms=50, **QUICK,
        )  # fmt: skip

    consumer = work.until_made(made, kafka.errors.KafkaError)
    if consumer is None:
        return

    def assigned(_self: Any, partitions: Any) -> None:
        began = work.now()
        found = dict[int, int | None].fromkeys((one.partition for one in partitions), None)
        try:  # what is not found, the library looks for itself
            for one in sorted(partitions):
                with suppress(kafka.errors.KafkaError):
                    kept = consumer.committed(one, timeout_ms=PATIENCE_MS)
                    found[one.partition] = -1 if kept is None else kept
        finally:  # whatever it raises, the library swallows it
            member.joined(found, began)
        for one in partitions:
            if (offset := found[one.partition]) is not None:
                consumer.seek(one, max(0, offset))

    listener = type(
        "Listener", (listeners.ConsumerRebalanceListener,),
        {"on_partitions_assigned": assigned, "on_partitions_revoked": lambda _self, _revoked: None},
    )  # fmt: skip
    consumer.subscribe([TOPIC], listener=listener())
    try:
        while not work.ended.is_set():
            try:
                polled = consumer.poll(100)
                for one, records in polled.items():
                    member.got(one.partition, [(got.offset, got.value) for got in records])
                if not polled:
                    continue
                with member.committing(positions := member.known()):
                    kept = {
                        kafka.TopicPartition(TOPIC, partition): structs.OffsetAndMetadata(
                            offset, "", -1
                        )
                        for partition, offset in positions.items()
                    }
                    consumer.commit(kept, timeout_ms=PATIENCE_MS)
            except kafka.errors.OffsetOutOfRangeError as error:
                for one in error.args[0]:
                    member.set_back(one.partition, "OFFSET_OUT_OF_RANGE", None)
                    consumer.seek_to_end(one)
            except kafka.errors.NoOffsetForPartitionError:
                for one in consumer.assignment():
                    if one.partition not in member.known():
                        consumer.seek(one, 0)
            except (kafka.errors.KafkaError, AssertionError):
                work.ended.wait(0.1)
    finally:
        with suppress(kafka.errors.KafkaError):
            consumer.close(autocommit=False, timeout_ms=PATIENCE_MS)
