"""State of idempotent producers in a log (KIP-98): id, epoch, sequences of the last batches.

A leader refuses what does not continue a producer's sequence, and answers a batch that it has
already with the offsets that it has there. Followers take the state from what they replicate, so a
new leader knows as much as the old one. Nothing here reads a clock or a disk. Source:
ProducerStateManager, ProducerStateEntry, ProducerAppendInfo.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from struct import Struct
from typing import NamedTuple

from impl.log.crc32c import crc32c
from impl.log.errors import CorruptRecord, InvalidBatch
from impl.log.record_batch import CONTROL, TRANSACTIONAL, Batch

NO_ID = NO_EPOCH = NO_SEQUENCE = -1
LARGEST_SEQUENCE = 2**31 - 1
DAY_MS = 24 * 60 * 60 * 1000

OUT_OF_ORDER = "OUT_OF_ORDER_SEQUENCE_NUMBER"
FENCED = "INVALID_PRODUCER_EPOCH"
UNKNOWN = "UNKNOWN_PRODUCER_ID"
DUPLICATE = "DUPLICATE_SEQUENCE_NUMBER"


@dataclass(frozen=True)
class ProducerRules:
    """Rules about idempotent producers that depend on the release or on configurations.

    ``expiration_ms``: transactional.id.expiration.ms, after which a silent producer is forgotten.

    ``batches``: how many of a producer's last batches are known as duplicates (5 since 1.0, one
    before, KAFKA-5494). ``unknown``: the error for a sequence of a producer that is not known,
    none since 2.5 (KIP-360). ``unsequenced``: the error if only its epoch is known.
    ``tells_older``: a batch before all that are known is DUPLICATE_SEQUENCE_NUMBER (1.0).
    ``forgets_with_records``: a producer goes with its last record (up to 2.3, KAFKA-7190).
    ``kept_when_cut``: a snapshot is written where a log was truncated to (2.0).
    """

    batches: int = 5
    unknown: str = ""
    unsequenced: str = OUT_OF_ORDER
    tells_older: bool = False
    forgets_with_records: bool = False
    kept_when_cut: bool = True
    expiration_ms: int = 7 * DAY_MS


class BatchMetadata(NamedTuple):
    """One batch of a producer: its last sequence and offset, offsets before the last, its time."""

    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int

    @property
    def first_sequence(self) -> int:
        """The sequence of its first record; the largest sequence is followed by 0."""
        return (self.last_sequence - self.offset_delta) % (LARGEST_SEQUENCE + 1)

    @property
    def first_offset(self) -> int:
        """The offset of its first record."""
        return self.last_offset - self.offset_delta


@dataclass(frozen=True, slots=True)
class ProducerEntry:
    """The state of one producer. ``batches`` are its last ones, the oldest first."""

    producer_id: int
    epoch: int = NO_EPOCH
    batches: tuple[BatchMetadata, ...] = ()
    timestamp: int = -1
    coordinator_epoch: int = -1
    transaction_start: int = -1

    @property
    def last_sequence(self) -> int:
        """The sequence of its last record, -1 if only its epoch is known."""
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE

    @property
    def last_offset(self) -> int:
        """The offset of its last record, -1 if only its epoch is known."""
        return self.batches[-1].last_offset if self.batches else -1

    def duplicate(self, batch: Batch) -> BatchMetadata | None:
        """The stored batch with the same epoch and sequences, if there is one."""
        if batch.producer_epoch != self.epoch:
            return None
        asked = batch.base_sequence, batch.last_sequence
        for known in self.batches:
            if (known.first_sequence, known.last_sequence) == asked:
                return known
        return None


def is_in_sequence(last: int, following: int) -> bool:
    """Whether a sequence follows another; 0 follows the largest."""
    return following == (last + 1) % (LARGEST_SEQUENCE + 1)


@dataclass
class ProducerStates:
    """The producers of one log by id, as of the records below ``end`` (``mapEndOffset``)."""

    rules: ProducerRules = field(default_factory=ProducerRules)
    entries: dict[int, ProducerEntry] = field(default_factory=dict)
    end: int = 0

    def admit(self, batches: Iterable[Batch]) -> BatchMetadata | None:
        """Check a producer's batches before their append; returns the stored batch that the first
        repeats.

        InvalidBatch with Kafka's error if a sequence or an epoch is none that may come now.
        """
        pending: dict[int, ProducerEntry] = {}
        for batch in batches:
            if batch.producer_id == NO_ID:
                continue
            known = self.entries.get(batch.producer_id)
            if known is not None and (repeated := known.duplicate(batch)) is not None:
                return repeated
            entry = pending.get(batch.producer_id) or known or ProducerEntry(batch.producer_id)
            self._check(entry, batch)
            pending[batch.producer_id] = self._with(entry, batch)
        return None

    def _check(self, entry: ProducerEntry, batch: Batch) -> None:
        """``checkProducerEpoch`` and ``checkSequence``."""
        rules, first = self.rules, batch.base_sequence
        who = f"producer {entry.producer_id}"
        if batch.producer_epoch < entry.epoch:
            raise InvalidBatch(
                FENCED, f"{who}: epoch {batch.producer_epoch}, {entry.epoch} is known"
            )
        if batch.producer_epoch != entry.epoch:
            if first == 0:
                return
            if entry.epoch != NO_EPOCH:
                why = (
                    f"{who}: epoch {batch.producer_epoch} begins with sequence {first}, not with 0"
                )
                raise InvalidBatch(OUT_OF_ORDER, why)
            if rules.unknown:
                why = f"{who} is not known here, and its batch begins with sequence {first}"
                raise InvalidBatch(rules.unknown, why)
        elif not entry.batches and first != 0:
            why = f"{who}: sequence {first}, where epoch {entry.epoch} begins"
            raise InvalidBatch(rules.unsequenced, why)
        elif rules.tells_older and 0 < batch.last_sequence < entry.batches[0].first_sequence:
            raise InvalidBatch(DUPLICATE, f"{who}: sequence {first} was appended long ago")
        elif not is_in_sequence(entry.last_sequence, first):
            why = f"{who}: sequence {first} after {entry.last_sequence}"
            raise InvalidBatch(OUT_OF_ORDER, why)

    def _with(self, entry: ProducerEntry, batch: Batch) -> ProducerEntry:
        before = entry.batches if entry.epoch == batch.producer_epoch else ()
        latest = BatchMetadata(
            batch.last_sequence, batch.last_offset, batch.last_offset - batch.base_offset,
            batch.max_timestamp,
        )  # fmt: skip
        begun = entry.transaction_start
        if begun < 0 and batch.attributes & TRANSACTIONAL:
            begun = batch.base_offset
        return replace(
            entry,
            epoch=batch.producer_epoch,
            batches=(*before, latest)[-self.rules.batches :],
            timestamp=batch.max_timestamp,
            transaction_start=begun,
        )

    def appended(self, batch: Batch) -> None:
        """Record an appended batch, which the leader has checked."""
        self.end = max(self.end, batch.next_offset)
        if batch.producer_id == NO_ID:
            return
        entry = self.entries.get(batch.producer_id) or ProducerEntry(batch.producer_id)
        if batch.attributes & CONTROL:  # the marker of a transaction's end
            same = entry.epoch == batch.producer_epoch
            self.entries[batch.producer_id] = replace(
                entry,
                epoch=batch.producer_epoch,
                batches=entry.batches if same else (),
                timestamp=batch.max_timestamp,
                transaction_start=-1,
            )
        else:
            self.entries[batch.producer_id] = self._with(entry, batch)

    def expire(self, now_ms: int) -> int:
        """Forget producers that were inactive for too long, except in a transaction; returns
        their number."""
        gone = [
            one
            for one, entry in self.entries.items()
            if entry.transaction_start < 0 and self._is_expired(entry, now_ms)
        ]
        for one in gone:
            del self.entries[one]
        return len(gone)

    def _is_expired(self, entry: ProducerEntry, now_ms: int) -> bool:
        return now_ms - entry.timestamp >= self.rules.expiration_ms

    def start_raised(self, log_start: int) -> None:
        """The log start was raised: before 2.4, forget producers without records above it."""
        if self.rules.forgets_with_records:
            self.entries = {
                one: entry
                for one, entry in self.entries.items()
                if entry.last_offset >= log_start or entry.transaction_start >= 0
            }

    def forget_all(self, end: int) -> None:
        """Forget all producers; the state is that of an offset."""
        self.entries.clear()
        self.end = end

    def restore(self, content: bytes, end: int, log_start: int, now_ms: int) -> None:
        """Load a snapshot, without the producers that have expired. CorruptRecord."""
        found = decode_snapshot(content)
        self.entries = {one.producer_id: one for one in found if not self._is_expired(one, now_ms)}
        self.end = end
        self.start_raised(log_start)

    def snapshot(self) -> bytes:
        """The content of a ``.snapshot`` file, producers by id."""
        return encode_snapshot([self.entries[one] for one in sorted(self.entries)])


# The file

SNAPSHOT_VERSION = 1
_HEAD = Struct(">hI")
_COUNT = Struct(">i")
_ENTRY = Struct(">qhiqiqiq")
"""Producer id and epoch, last sequence, last offset, offset delta, timestamp, coordinator epoch,
first offset of the transaction that is under way (-1: none)."""


def encode_snapshot(entries: list[ProducerEntry]) -> bytes:
    """Version (2 bytes), CRC-32C (4) of all that follows, an array of entries of 46 bytes."""
    body = bytearray(_COUNT.pack(len(entries)))
    for one in entries:
        last = one.batches[-1] if one.batches else BatchMetadata(-1, -1, 0, one.timestamp)
        body += _ENTRY.pack(
            one.producer_id, one.epoch, last.last_sequence, last.last_offset, last.offset_delta,
            one.timestamp, one.coordinator_epoch, one.transaction_start,
        )  # fmt: skip
    return _HEAD.pack(SNAPSHOT_VERSION, crc32c(bytes(body))) + bytes(body)


def decode_snapshot(content: bytes) -> list[ProducerEntry]:
    """The entries of a snapshot, each with its last batch alone. CorruptRecord names the byte."""
    if len(content) < _HEAD.size + _COUNT.size:
        why = f"{len(content)} bytes, a snapshot has {_HEAD.size + _COUNT.size} before its entries"
        raise CorruptRecord(0, why)
    version, checksum = _HEAD.unpack_from(content)
    if version != SNAPSHOT_VERSION:
        raise CorruptRecord(0, f"version {version}; this is read: {SNAPSHOT_VERSION}")
    if checksum != (computed := crc32c(content[_HEAD.size :])):
        raise CorruptRecord(2, f"checksum {checksum:#010x}, of the bytes {computed:#010x}")
    (count,) = _COUNT.unpack_from(content, _HEAD.size)
    first = _HEAD.size + _COUNT.size
    if count * _ENTRY.size != len(content) - first:
        why = f"{count} entries are announced, {len(content) - first} bytes follow"
        raise CorruptRecord(_HEAD.size, why)
    found = []
    for fields in _ENTRY.iter_unpack(content[first:]):
        producer, epoch, sequence, offset, delta, time, coordinator, transaction = fields
        batches = () if offset < 0 else (BatchMetadata(sequence, offset, delta, time),)
        found.append(ProducerEntry(producer, epoch, batches, time, coordinator, transaction))
    return found
