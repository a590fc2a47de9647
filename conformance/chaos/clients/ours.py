"""Our own clients: one batch after the other, of the given size."""

from __future__ import annotations

from conformance.chaos.history import ProducerKind
from conformance.chaos.workload import PATIENCE_S, REQUEST_MS, TOPIC, ReaderNotes, Workload
from impl.server.clients import ClientError, Producer
from impl.server.group_client import GroupConsumer


def write(work: Workload, writer: ProducerKind) -> None:
    """Sends batches, and waits for the response to each."""
    with Producer(
        work.addresses, writer.acks, request_ms=REQUEST_MS, timeout_s=PATIENCE_S,
        idempotent=writer.idempotent,
    ) as producer:  # fmt: skip
        for send in work.sends(writer, (1, 1, 2, 5)):
            values = [value.encode() for value in send.values]
            try:
                results = producer.send(TOPIC, values, partition=send.partition)
            except ClientError as error:
                work.failed(send, error.code)
            except OSError as error:
                work.failed(send, type(error).__name__)
            else:
                work.answered(send, results[0].offset)


def read(work: Workload, reader: str, group: str) -> None:
    """Reads as a member of a group, and commits."""
    member = ReaderNotes(work, reader, group)
    with GroupConsumer(work.addresses, group, TOPIC) as consumer:
        while not work.ended.is_set():
            try:
                if not consumer.joined:
                    began = work.now()
                    consumer.join()
                    member.joined(dict(consumer.restored), began)
                for one in consumer.poll_group():
                    if one.error:
                        member.set_back(one.partition, one.error, consumer.positions[one.partition])
                    elif one.records:
                        member.got(one.partition, [(got.offset, got.value) for got in one.records])
                with member.committing(dict(consumer.positions)):
                    consumer.commit()
            except (ClientError, OSError):
                work.ended.wait(0.1)
