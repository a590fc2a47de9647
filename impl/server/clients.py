"""A producer and a consumer that find leaders by Metadata, and retry when leaders move.

At least once: a batch that is not acknowledged in time is sent again and may be appended twice. An
idempotent producer (KIP-98) numbers its records, so that leaders detect duplicates.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar

from impl.log import StoredRecord, encode_batch
from impl.log.legacy_messages import encode_message
from impl.log.record_batch import batches_in, records_of
from impl.server.connection import Address, Connection, Disconnected, UnsupportedVersion
from impl.wire import Fields, error_name

RETRIABLE = frozenset(
    (
        "NOT_LEADER_OR_FOLLOWER",
        "LEADER_NOT_AVAILABLE",
        "UNKNOWN_TOPIC_OR_PARTITION",
        "NOT_ENOUGH_REPLICAS",
        "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
        "REQUEST_TIMED_OUT",
        "KAFKA_STORAGE_ERROR",
        "OFFSET_NOT_AVAILABLE",
    )
)
"""Answers after which a client asks for the leader anew, and tries again."""

PAUSE_S = 0.1
CONSUMER = -1
FETCH_BYTES = 1 << 20
Row = TypeVar("Row")
NO_PRODUCER = (-1, -1, -1)
_MASK = 0xFFFFFFFF


class ClientError(Exception):
    """A request that failed; ``code`` is Kafka's error."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.sent: list[RecordMetadata] = []  # what was acknowledged before


class RecordMetadata(NamedTuple):
    """The partition and offset of a record that was produced."""

    partition: int
    offset: int


class Client:
    """Connections to brokers, and the topic metadata from them."""

    client_id = "console"

    def __init__(
        self, bootstrap: Sequence[Address], timeout_s: float = 30.0, client_id: str = ""
    ) -> None:
        self.client_id = client_id or self.client_id
        self.bootstrap = list(bootstrap)
        self.timeout_s = timeout_s
        self.addresses: dict[int, Address] = {}
        self.topics: dict[str, dict[int, int]] = {}
        self._open: dict[Address, Connection] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.close()

    def close(self) -> None:
        """Close all connections."""
        for connection in self._open.values():
            connection.close()
        self._open.clear()

    def connection(self, address: Address) -> Connection:
        """The connection to a broker."""
        return self._open.setdefault(address, Connection(address, self.timeout_s, self.client_id))

    def refresh(self) -> Any:
        """Ask a broker for metadata, known brokers first; ClientError if none answers.

        The response has Metadata version 1 or later.
        """
        known = [*self.addresses.values(), *self.bootstrap]
        for address in dict.fromkeys(known):
            try:
                found = self.metadata(address)
            except (Disconnected, UnsupportedVersion):
                continue
            if not found.brokers:
                continue  # it has no metadata yet
            self.addresses = {one.node_id: (one.host, one.port) for one in found.brokers}
            self.topics = {
                topic.name: {one.partition_index: one.leader_id for one in topic.partitions}
                for topic in found.topics
            }
            return found
        listed = ",".join(f"{host}:{port}" for host, port in self.bootstrap)
        raise ClientError("BROKER_NOT_AVAILABLE", f"no broker answers at {listed}")

    def metadata(self, address: Address, patience_s: float = 3.0) -> Any:
        """A broker's metadata; the request creates no topic."""
        connection = self.connection(address)
        body = Fields(
            topics=None, allow_auto_topic_creation=False,
            include_cluster_authorized_operations=False,
            include_topic_authorized_operations=False,
        )  # fmt: skip
        return connection.ask("Metadata", connection.newest("Metadata", 8), body, patience_s)

    def partitions(self, topic: str, deadline: float) -> list[int]:
        """The partitions of a topic; waits until ``deadline``, a time of ``time.monotonic``."""
        while True:
            try:
                self.refresh()
            except ClientError:
                if time.monotonic() > deadline:
                    raise
            if self.topics.get(topic):
                return sorted(self.topics[topic])
            if time.monotonic() > deadline:
                raise ClientError(
                    "UNKNOWN_TOPIC_OR_PARTITION", f"Topic {topic} not present in metadata"
                )
            time.sleep(PAUSE_S)

    def ask_leader(
        self,
        topic: str,
        partition: int,
        ask: Callable[[Connection], tuple[str, Row]],
        deadline: float,
    ) -> tuple[str, Row]:
        """Ask the partition's leader until it answers; ClientError when the time is up.

        ``ask`` returns the error and the rest of the response.
        """
        code = "LEADER_NOT_AVAILABLE"
        while True:
            leader = self.topics.get(topic, {}).get(partition, -1)
            if leader in self.addresses:
                try:
                    code, row = ask(self.connection(self.addresses[leader]))
                    if code not in RETRIABLE:
                        return code, row
                except Disconnected:
                    code = "NETWORK_EXCEPTION"
                except UnsupportedVersion as error:
                    raise ClientError("UNSUPPORTED_VERSION", str(error)) from error
            if time.monotonic() > deadline:
                raise ClientError(code, f"{topic}-{partition}: {code}, and the time is up")
            time.sleep(PAUSE_S)
            try:
                self.refresh()
            except ClientError:
                continue


def error_in(row: Any) -> str:
    """Kafka's name of the error in a part of a response."""
    return error_name(row.error_code)


class ProducerId(NamedTuple):
    """The result of InitProducerId; no other producer has the same id."""

    number: int
    epoch: int


Keyed = tuple[bytes | None, bytes | None]
"""Key and value of a record."""

BATCH_BYTES = 16384
"""``batch.size``: a batch is sent before it would be larger, but for a single record."""


class ProducerBatch:
    """Records that are sent together, with the producer's id, epoch and first sequence number."""

    def __init__(
        self, records: Sequence[StoredRecord], producer: tuple[int, int, int] = NO_PRODUCER
    ) -> None:
        self.records = records
        self.producer = producer
        self._bytes: dict[int, bytes] = {}

    def encoded(self, version: int) -> bytes:
        """The batch in the message format of a Produce version: the same bytes each time."""
        magic = 2 if version >= 3 else 1 if version == 2 else 0
        if magic not in self._bytes:
            self._bytes[magic] = (
                encode_batch(self.records, producer=self.producer)
                if magic == 2
                else b"".join(encode_message(one, magic) for one in self.records)
            )
        return self._bytes[magic]


class Producer(Client):
    """``acks``: -1 (all), 0 or 1; ``request_ms`` is how long a broker may wait for the ISR.

    ``idempotent`` needs acks=all; ValueError otherwise. After giving up a batch, which may have
    been appended or not, the producer gets a new id.
    """

    client_id = "console-producer"

    def __init__(
        self, bootstrap: Sequence[Address], acks: int = -1, request_ms: int = 3000,
        timeout_s: float = 30.0, idempotent: bool = False, batch_bytes: int = BATCH_BYTES,
    ) -> None:  # fmt: skip
        super().__init__(bootstrap, timeout_s)
        if idempotent and acks != -1:
            raise ValueError("Must set acks to all in order to use the idempotent producer.")
        self.acks = acks
        self.request_ms = request_ms
        self.idempotent = idempotent
        self.batch_bytes = batch_bytes
        self.producer: ProducerId | None = None
        self._sequences: dict[tuple[str, int], int] = {}
        self._next = 0

    def _init_producer_id(self, deadline: float) -> ProducerId:
        """Ask any broker for an id, until one gives it."""
        while True:
            code = "BROKER_NOT_AVAILABLE"
            for address in list(dict.fromkeys([*self.addresses.values(), *self.bootstrap])):
                connection = self.connection(address)
                body = Fields(transactional_id=None, transaction_timeout=timedelta(seconds=60))
                try:
                    version = connection.newest("InitProducerId", 1)
                    answer = connection.ask("InitProducerId", version, body)
                except Disconnected:
                    continue
                except UnsupportedVersion as error:
                    text = f"UNSUPPORTED_VERSION: {error}"
                    raise ClientError("UNSUPPORTED_VERSION", text) from error
                code = error_in(answer)
                if code == "NONE":
                    return ProducerId(answer.producer_id, answer.producer_epoch)
            if time.monotonic() > deadline:
                raise ClientError(code, f"no producer id: {code}")
            time.sleep(PAUSE_S)

    def send(
        self, topic: str, values: Sequence[bytes], key: bytes | None = None,
        partition: int | None = None,
    ) -> list[RecordMetadata]:  # fmt: skip
        """Send values as one batch; returns where they are. ClientError if that is unknown."""
        deadline = time.monotonic() + self.timeout_s
        if partition is None:
            partition = self._partition_of(topic, key, deadline)
        return self._send(topic, partition, [(key, value) for value in values], deadline)

    def send_records(
        self, topic: str, records: Sequence[Keyed], partition: int | None = None
    ) -> list[RecordMetadata]:
        """Send records, one batch a partition; returns where each was appended, in order.

        ClientError if that is unknown for one of them: then later batches were not sent.
        """
        deadline = time.monotonic() + self.timeout_s
        places: dict[int, list[int]] = {}
        for place, (key, _) in enumerate(records):
            chosen = self._partition_of(topic, key, deadline) if partition is None else partition
            places.setdefault(chosen, []).append(place)
        found: dict[int, RecordMetadata] = {}
        for number, members in sorted(places.items()):
            for batch in self._batches(members, records):
                pairs = [records[place] for place in batch]
                try:
                    answers = self._send(topic, number, pairs, deadline)
                except ClientError as error:
                    error.sent = [found[place] for place in sorted(found)]
                    raise
                found.update(zip(batch, answers, strict=True))
        return [found[place] for place in range(len(records))]

    def _batches(self, members: list[int], records: Sequence[Keyed]) -> Iterator[list[int]]:
        batch: list[int] = []
        size = 0
        for place in members:
            more = sum(len(part or b"") for part in records[place])
            if batch and size + more > self.batch_bytes:
                yield batch
                batch, size = [], 0
            batch.append(place)
            size += more
        yield batch

    def _partition_of(self, topic: str, key: bytes | None, deadline: float) -> int:
        known = sorted(self.topics.get(topic, ())) or self.partitions(topic, deadline)
        return known[self._choose(key) % len(known)]

    def _send(
        self, topic: str, partition: int, pairs: Sequence[Keyed], deadline: float
    ) -> list[RecordMetadata]:
        """One batch; the same bytes are sent again until somebody answers."""
        if not self.topics.get(topic):
            self.partitions(topic, deadline)
        if self.idempotent and self.producer is None:
            self.producer = self._init_producer_id(deadline)
            self._sequences.clear()
        stamp = int(time.time() * 1000)
        records = [StoredRecord(at, stamp, *pair) for at, pair in enumerate(pairs)]
        number = NO_PRODUCER
        if self.producer is not None:
            number = (*self.producer, self._sequences.get((topic, partition), 0))
        try:
            offset = self.send_batch(topic, partition, ProducerBatch(records, number), deadline)
        except ClientError:
            self.producer = None
            raise
        self._sequences[topic, partition] = (number[2] + len(records)) & 0x7FFFFFFF
        return [RecordMetadata(partition, offset + at if offset >= 0 else -1)
                for at in range(len(records))]  # fmt: skip

    def send_batch(self, topic: str, partition: int, batch: ProducerBatch, deadline: float) -> int:
        """Append a batch; returns the offset of its first record, -1 if unknown (acks=0)."""
        error, row = self.ask_leader(
            topic, partition, lambda leader: self._send_batch(leader, topic, partition, batch),
            deadline,
        )  # fmt: skip
        if error != "NONE":
            text = getattr(row, "error_message", None) or ""
            raise ClientError(error, f"{topic}-{partition}: {error} {text}".rstrip())
        return -1 if row is None else int(row.base_offset)

    def _send_batch(
        self, leader: Connection, topic: str, partition: int, batch: ProducerBatch
    ) -> tuple[str, Any]:
        version = leader.newest("Produce", 8)
        part = Fields(index=partition, records=batch.encoded(version))
        body = Fields(
            transactional_id=None, acks=self.acks, timeout=timedelta(milliseconds=self.request_ms),
            topic_data=(Fields(name=topic, partition_data=(part,)),),
        )  # fmt: skip
        if self.acks == 0:
            leader.request_without_response("Produce", version, body)
            return "NONE", None
        answer = leader.ask("Produce", version, body, self.request_ms / 1000 + 2)
        row = answer.responses[0].partition_responses[0]
        return error_in(row), row

    def _choose(self, key: bytes | None) -> int:
        if key is not None:
            return murmur2(key) & 0x7FFFFFFF
        self._next += 1
        return self._next - 1


class Consumer(Client):
    """Reads committed records, partition by partition; it belongs to no group."""

    client_id = "console-consumer"

    def offset(self, topic: str, partition: int, timestamp: int) -> int:
        """The first offset of a timestamp: -2 the earliest, -1 the latest, else ms.

        -1 if all records are older.
        """
        row = self._list_offsets(topic, partition, timestamp)
        if hasattr(row, "offset"):
            return int(row.offset)
        return next(iter(row.old_style_offsets), -1)

    def offsets_before(self, topic: str, partition: int, timestamp: int, most: int) -> list[int]:
        """ListOffsets version 0: base offsets of segments up to a timestamp, the latest first."""
        row = self._list_offsets(topic, partition, timestamp, most)
        return [int(one) for one in row.old_style_offsets]

    def delete_records(self, topic: str, partition: int, offset: int) -> int:
        """Raise the log start offset, -1 for the high watermark; returns the low watermark."""
        one = Fields(partition_index=partition, offset=offset)
        wait_ms = timedelta(seconds=self.timeout_s)
        body = Fields(topics=(Fields(name=topic, partitions=(one,)),), timeout=wait_ms)

        def ask(leader: Connection) -> tuple[str, Any]:
            version = leader.newest("DeleteRecords", 2)
            row = leader.ask("DeleteRecords", version, body, self.timeout_s + 2)
            return error_in(row.topics[0].partitions[0]), row.topics[0].partitions[0]

        error, row = self.ask_leader(topic, partition, ask, time.monotonic() + self.timeout_s)
        if error != "NONE":
            raise ClientError(error, f"{topic}-{partition}: {error}")
        return int(row.low_watermark)

    def _list_offsets(
        self, topic: str, partition: int, timestamp: int, most: int | None = None
    ) -> Any:
        one = Fields(partition_index=partition, timestamp=timestamp, current_leader_epoch=-1,
                     max_num_offsets=1 if most is None else most)  # fmt: skip
        topics = (Fields(name=topic, partitions=(one,)),)
        body = Fields(replica_id=CONSUMER, isolation_level=0, topics=topics)

        def ask(leader: Connection) -> tuple[str, Any]:
            version = leader.newest("ListOffsets", 5) if most is None else 0
            row = leader.ask("ListOffsets", version, body).topics[0].partitions[0]
            return error_in(row), row

        error, row = self.ask_leader(topic, partition, ask, time.monotonic() + self.timeout_s)
        if error != "NONE":
            raise ClientError(error, f"{topic}-{partition}: {error}")
        return row

    def read(
        self, topic: str, partition: int, offset: int, wait_ms: int = 500
    ) -> list[StoredRecord]:
        """Records from an offset on; empty if none arrives in time."""
        return self.poll(topic, partition, offset, wait_ms)[0]

    def poll(
        self, topic: str, partition: int, offset: int, wait_ms: int = 500
    ) -> tuple[list[StoredRecord], int]:
        """Records from an offset on, and the next offset to fetch.

        In a compacted log a batch may be empty although records follow it.
        """
        one = Fields(
            partition=partition, current_leader_epoch=-1, fetch_offset=offset, log_start_offset=-1,
            partition_max_bytes=FETCH_BYTES,
        )  # fmt: skip
        body = Fields(
            replica_id=CONSUMER, max_wait=timedelta(milliseconds=wait_ms), min_bytes=1,
            max_bytes=FETCH_BYTES, isolation_level=0, session_id=0, session_epoch=-1,
            topics=(Fields(topic=topic, partitions=(one,)),), forgotten_topics_data=(), rack_id="",
        )  # fmt: skip

        def ask(leader: Connection) -> tuple[str, Any]:
            answer = leader.ask("Fetch", leader.newest("Fetch", 11), body)
            row = answer.responses[0].partitions[0]
            return error_in(row), row

        error, row = self.ask_leader(topic, partition, ask, time.monotonic() + self.timeout_s)
        if error != "NONE":
            raise ClientError(error, f"{topic}-{partition}: {error} at offset {offset}")
        found: list[StoredRecord] = []
        following, data = offset, row.records or b""
        for at, batch in batches_in(data):
            found += [each for each in records_of(data, at) if each.offset >= offset]
            following = max(following, batch.next_offset)
        return found, following

    def read_all(self, topic: str, partition: int) -> Iterator[StoredRecord]:
        """All records from the log start offset up to the current high watermark."""
        offset, end = (self.offset(topic, partition, which) for which in (-2, -1))
        while offset < end:
            found, offset = self.poll(topic, partition, offset)
            yield from found


def murmur2(data: bytes) -> int:
    """``Utils.murmur2``: Kafka's producer hashes keys to partitions by it; 32 bits, unsigned."""
    m, h = 0x5BD1E995, (0x9747B28C ^ len(data)) & _MASK
    whole = len(data) // 4 * 4
    for at in range(0, whole, 4):
        k = int.from_bytes(data[at : at + 4], "little") * m & _MASK
        k = (k ^ k >> 24) * m & _MASK
        h = (h * m & _MASK) ^ k
    if len(data) > whole:
        h ^= int.from_bytes(data[whole:], "little")
        h = h * m & _MASK
    h = (h ^ h >> 13) * m & _MASK
    return h ^ h >> 15
