"""The librdkafka client, by confluent-kafka: callbacks return the responses to sent records."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from typing import Any

from conformance.chaos.history import ProducerKind
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
)

MOST_RECORDS = 200
QUICK = {"log_level": 0, "reconnect.backoff.max.ms": 500, "retry.backoff.ms": 50}
BEGINNING, END, STORED = -2, -1, -1000


def write(work: Workload, writer: ProducerKind) -> None:
    """Sends records, with several batches in flight at once."""
    confluent = import_module("confluent_kafka")
    producer = confluent.Producer(QUICK | {
        "bootstrap.servers": servers_of(work.addresses), "acks": writer.acks, "linger.ms": 5,
        "enable.idempotence": writer.idempotent, "request.timeout.ms": REQUEST_MS,
        "message.timeout.ms": patience_of(writer),
    })  # fmt: skip
    for send in work.sends(writer, at_once=AT_ONCE, turn=lambda: producer.poll(0.005)):

        def delivered(error: Any, record: Any, send: Any = send) -> None:
            if error is not None:
                work.failed(send, error.name())
            else:
                offset = record.offset()
                work.answered(send, -1 if offset is None else max(-1, offset))

        try:
            producer.produce(
                TOPIC, send.values[0].encode(), partition=send.partition, on_delivery=delivered
            )
        except (BufferError, confluent.KafkaException) as error:
            work.failed(send, _name(error))
        producer.poll(0)
    producer.flush(PATIENCE_S)


def read(work: Workload, reader: str, group: str) -> None:
    """Reads as a member of a group, record by record, and commits."""
    confluent = import_module("confluent_kafka")
    member = ReaderNotes(work, reader, group)

    def placed(partition: int, offset: int) -> Any:
        return confluent.TopicPartition(TOPIC, partition, offset)

    behind: set[int] = set()  # partitions that go on at their end as soon as they are fetched

    def assigned(consumer: Any, partitions: list[Any]) -> None:
        began = work.now()
        behind.clear()
        try:
            kept = consumer.committed(partitions, PATIENCE_S) if partitions else []
            found = {one.partition: max(-1, one.offset) for one in kept if one.error is None}
        except confluent.KafkaException:
            found = {}  # it looks for itself where the group was
        mine = {one.partition: found.get(one.partition) for one in partitions}
        member.joined(mine, began)
        consumer.assign([
            placed(one, STORED if offset is None else BEGINNING if offset < 0 else offset)
            for one, offset in mine.items()
        ])  # fmt: skip

    consumer = confluent.Consumer(QUICK | {
        "bootstrap.servers": servers_of(work.addresses), "group.id": group,
        "enable.auto.commit": False, "auto.offset.reset": "error",
        "partition.assignment.strategy": "range", "session.timeout.ms": SESSION_MS,
        "heartbeat.interval.ms": SESSION_MS // 10, "fetch.wait.max.ms": 50,
        "fetch.error.backoff.ms": 50,
    })  # fmt: skip
    consumer.subscribe([TOPIC], on_assign=assigned)
    try:
        while not work.ended.is_set():
            one, some = consumer.poll(0.1), 0
            while one is not None:
                if one.error() is None:
                    member.got(one.partition(), [(one.offset(), one.value())])
                elif one.error().name() in ("_AUTO_OFFSET_RESET", "OFFSET_OUT_OF_RANGE"):
                    member.set_back(one.partition(), one.error().name(), None)
                    behind.add(one.partition())
                some += 1
                one = consumer.poll(0) if some < MOST_RECORDS else None
            for partition in sorted(behind):
                with suppress(confluent.KafkaException):  # it is not fetched yet, or any more
                    consumer.seek(placed(partition, END))
                    behind.remove(partition)
            if not some:
                continue
            try:
                with member.committing(positions := member.known()):
                    consumer.commit(
                        offsets=[placed(*where) for where in positions.items()],
                        asynchronous=False,
                    )
            except confluent.KafkaException:
                continue  # the group is being balanced anew, or its coordinator has moved
    finally:
        consumer.close()


def _name(error: Any) -> str:
    return str(error.args[0].name()) if hasattr(error.args[0], "name") else type(error).__name__
