"""A producer and a consumer: they find leaders by asking any broker, and ask again when these move.

At least once: what was not acknowledged in time is sent again, and may then be there twice. An
idempotent producer (KIP-98) numbers its records, so that a leader knows those that it has.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, NamedTuple, Self

from impl.log import StoredRecord, encode_batch
from impl.log.record_batch import batches_in, records_of
from impl.server.wire import Address, Connection, Disconnected

RETRIABLE = frozenset(
    (
        "NOT_LEADER_FOR_PARTITION",
        "NOT_LEADER_OR_FOLLOWER",
        "LEADER_NOT_AVAILABLE",
        "UNKNOWN_TOPIC_OR_PARTITION",
        "NOT_ENOUGH_REPLICAS",
        "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
        "REQUEST_TIMED_OUT",
        "KAFKA_STORAGE_ERROR",
        "OFFSET_NOT_AVAILABLE",
        "RETRY",
    )
)
"""Answers after which a client asks for the leader anew, and tries again."""

PAUSE_S = 0.1
NO_PRODUCER = (-1, -1, -1)
_MASK = 0xFFFFFFFF


class ClientError(Exception):
    """A request that was not met; ``code`` is Kafka's error."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.sent: list[RecordMetadata] = []  # what was acknowledged before


class RecordMetadata(NamedTuple):
    """Where a record went."""

    partition: int
    offset: int


class Client:
    """Connections to brokers, and what they said of topics."""

    client_id = "console"

    def __init__(self, bootstrap: Sequence[Address], timeout_s: float = 30.0) -> None:
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
        """End all connections."""
        for connection in self._open.values():
            connection.close()
        self._open.clear()

    def connection(self, address: Address) -> Connection:
        """The connection to a broker."""
        return self._open.setdefault(address, Connection(address, self.timeout_s, self.client_id))

    def refresh(self, patience_s: float = 3.0) -> dict[str, Any]:
        """Ask a broker for metadata, the known ones first; ClientError if none answers."""
        known = [*self.addresses.values(), *self.bootstrap]
        for address in dict.fromkeys(known):
            try:
                answer = self.connection(address).ask({"api": "Metadata"}, timeout_s=patience_s)
            except Disconnected:
                continue
            fields = answer.head
            if not fields.get("brokers"):
                continue  # it was not told of the cluster yet
            self.addresses = {one: (host, port) for one, host, port in fields["brokers"]}
            self.topics = {
                topic: {number: leader for number, leader, *_ in partitions}
                for topic, partitions in fields["topics"].items()
            }
            return fields
        listed = ",".join(f"{host}:{port}" for host, port in self.bootstrap)
        raise ClientError("BROKER_NOT_AVAILABLE", f"no broker answers at {listed}")

    def partitions(self, topic: str, deadline: float) -> list[int]:
        """The partitions of a topic, waiting for them until a time of ``time.monotonic``."""
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
        head: dict[str, Any],
        body: bytes,
        deadline: float,
        patience_s: float | None = None,
    ) -> tuple[dict[str, Any], bytes]:
        """Ask whoever leads a partition, until it answers; ClientError when the time is up."""
        code = "LEADER_NOT_AVAILABLE"
        while True:
            leader = self.topics.get(topic, {}).get(partition, -1)
            if leader in self.addresses:
                try:
                    answer = self.connection(self.addresses[leader]).ask(head, body, patience_s)
                    code = str(answer.head["error"])
                    if code not in RETRIABLE:
                        return answer.head, answer.body
                except Disconnected:
                    code = "NETWORK_EXCEPTION"
            if time.monotonic() > deadline:
                raise ClientError(code, f"{topic}-{partition}: {code}, and the time is up")
            time.sleep(PAUSE_S)
            try:
                self.refresh()
            except ClientError:
                continue


class ProducerId(NamedTuple):
    """What InitProducerId gave: no other producer has the id."""

    number: int
    epoch: int


Keyed = tuple[bytes | None, bytes | None]
"""Key and value of a record."""

BATCH_BYTES = 16384
"""``batch.size``: a batch is sent before it would be larger, but for a single record."""


class Producer(Client):
    """``acks``: -1 (all), 0 or 1; ``request_ms`` is how long a broker may wait for the ISR.

    ``idempotent`` needs acks=all; ValueError otherwise. After a batch that was given up the
    producer gets another id: nobody knows whether the batch is there.
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
                try:
                    answer = self.connection(address).ask({"api": "InitProducerId"}).head
                except Disconnected:
                    continue
                code = str(answer["error"])
                if code == "NONE":
                    return ProducerId(answer["producer_id"], answer["producer_epoch"])
                if code == "UNSUPPORTED_VERSION":
                    raise ClientError(code, f"{code}: {answer.get('message', '')}")
            if time.monotonic() > deadline:
                raise ClientError(code, f"no producer id: {code}")
            time.sleep(PAUSE_S)

    def send(
        self, topic: str, values: Sequence[bytes], key: bytes | None = None,
        partition: int | None = None,
    ) -> list[RecordMetadata]:  # fmt: skip
        """Send some values as one batch; where they went. ClientError if that is not known."""
        deadline = time.monotonic() + self.timeout_s
        if partition is None:
            partition = self._partition_of(topic, key, deadline)
        return self._send(topic, partition, [(key, value) for value in values], deadline)

    def send_records(
        self, topic: str, records: Sequence[Keyed], partition: int | None = None
    ) -> list[RecordMetadata]:
        """Send records, those of one partition together; where they went, in their order.

        ClientError if that is not known of all: then those of later batches were not sent.
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
                    told = self._send(topic, number, pairs, deadline)
                except ClientError as error:
                    error.sent = [found[place] for place in sorted(found)]
                    raise
                found.update(zip(batch, told, strict=True))
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
        batch = encode_batch(records, producer=number)
        try:
            offset = self._ask_for(topic, partition, batch, deadline)
        except ClientError:
            self.producer = None
            raise
        self._sequences[topic, partition] = (number[2] + len(records)) & 0x7FFFFFFF
        return [RecordMetadata(partition, offset + at) for at in range(len(records))]

    def _ask_for(self, topic: str, partition: int, batch: bytes, deadline: float) -> int:
        """Have a batch appended; the offset of its first record."""
        head = {"api": "Produce", "topic": topic, "partition": partition, "acks": self.acks,
                "timeout_ms": self.request_ms}  # fmt: skip
        patience_s = self.request_ms / 1000 + 2
        answer, _ = self.ask_leader(topic, partition, head, batch, deadline, patience_s)
        if answer["error"] != "NONE":
            raise ClientError(
                answer["error"], f"{topic}-{partition}: {answer['error']} {answer['message']}"
            )
        return int(answer["base_offset"])

    def _choose(self, key: bytes | None) -> int:
        if key is not None:
            return murmur2(key) & 0x7FFFFFFF
        self._next += 1
        return self._next - 1


class Consumer(Client):
    """Reads what is committed, partition by partition; no groups."""

    client_id = "console-consumer"

    def offset(self, topic: str, partition: int, timestamp: int) -> int:
        """The first offset of a time: -2 the earliest, -1 the latest, else ms.

        -1 if all records are older.
        """
        return int(self._list_offsets(topic, partition, timestamp)["offset"])

    def offsets_before(self, topic: str, partition: int, timestamp: int, most: int) -> list[int]:
        """As clients before 0.10.1 asked: beginnings of segments up to a time, latest first."""
        asked = {"version": 0, "max_offsets": most}
        return [
            int(one) for one in self._list_offsets(topic, partition, timestamp, asked)["offsets"]
        ]

    def _list_offsets(
        self, topic: str, partition: int, timestamp: int, asked: dict[str, int] | None = None
    ) -> dict[str, Any]:
        head = {"api": "ListOffsets", "replica": -1, "topic": topic, "partition": partition,
                "timestamp": timestamp, **(asked or {})}  # fmt: skip
        deadline = time.monotonic() + self.timeout_s
        answer, _ = self.ask_leader(topic, partition, head, b"", deadline)
        if answer["error"] != "NONE":
            raise ClientError(answer["error"], f"{topic}-{partition}: {answer['error']}")
        return answer

    def read(
        self, topic: str, partition: int, offset: int, wait_ms: int = 500
    ) -> list[StoredRecord]:
        """Records from an offset on; none if nothing came in time."""
        return self.poll(topic, partition, offset, wait_ms)[0]

    def poll(
        self, topic: str, partition: int, offset: int, wait_ms: int = 500
    ) -> tuple[list[StoredRecord], int]:
        """Records from an offset on, and where to go on.

        In a log that is compacted there may be none in a batch, and yet others behind it.
        """
        asked = [topic, partition, None, offset, None]
        head = {"api": "Fetch", "replica": -1, "max_wait_ms": wait_ms, "min_bytes": 1,
                "max_bytes": 1 << 20, "partitions": [asked]}  # fmt: skip
        deadline = time.monotonic() + self.timeout_s
        while True:
            answer, body = self.ask_leader(topic, partition, head, b"", deadline)
            error = answer["partitions"][0][2]
            if error == "NONE":
                break
            if error not in RETRIABLE or time.monotonic() > deadline:
                raise ClientError(error, f"{topic}-{partition}: {error} at offset {offset}")
            time.sleep(PAUSE_S)
            self.refresh()
        found: list[StoredRecord] = []
        following = offset
        for at, batch in batches_in(body):
            found += [record for record in records_of(body, at) if record.offset >= offset]
            following = max(following, batch.next_offset)
        return found, following

    def read_all(self, topic: str, partition: int) -> Iterator[StoredRecord]:
        """Everything from the log's start to what is committed now."""
        offset, end = (self.offset(topic, partition, which) for which in (-2, -1))
        while offset < end:
            found, offset = self.poll(topic, partition, offset)
            yield from found


def murmur2(data: bytes) -> int:
    """``Utils.murmur2``: what Kafka's producer chooses a key's partition by; 32 bits, unsigned."""
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
