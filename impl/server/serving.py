"""What a broker answers to producers, consumers and followers (fact sheet g.6, g.7, h.2).

Records are handed out as regions of files, unparsed. A request that has to wait, waits in its own
thread on the replica manager's condition: delayed produce and fetch without a purgatory.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from impl.core import answers
from impl.core.truncation import OffsetOutOfRange as NotInLog
from impl.core.truncation import divergence
from impl.log import InvalidBatch, StorageError
from impl.log.errors import CorruptRecord, OffsetOutOfRange
from impl.log.log import EARLIEST, LATEST
from impl.log.region import Region
from impl.releases import Release
from impl.server.hosted import HostedPartition
from impl.server.replicas import ReplicaManager, now_ms
from impl.server.wire import Message
from impl.znodes import TopicPartition

NONE = "NONE"
CONSUMER = -1
UNKNOWN = "UNKNOWN_TOPIC_OR_PARTITION"


@dataclass
class Read:
    """What one partition of a fetch came to."""

    partition: TopicPartition
    error: str = NONE
    hw: int = -1
    log_start: int = -1
    region: Region | None = None
    diverging: tuple[int, int] | None = None

    @property
    def size(self) -> int:
        """Bytes that were found."""
        return 0 if self.region is None else self.region.length

    def fields(self) -> list[Any]:
        """As it is sent, the records aside."""
        size, end = self.size, None if self.diverging is None else list(self.diverging)
        return [*self.partition, self.error, self.hw, self.log_start, size, end]


class Serving:
    """Produce, Fetch, OffsetForLeaderEpoch, ListOffsets, Metadata.

    ``min_isr`` gives min.insync.replicas of a topic.
    """

    def __init__(self, manager: ReplicaManager, min_isr: Callable[[str], int]) -> None:
        self.manager = manager
        self.release: Release = manager.release
        self.min_isr = min_isr

    def _not_leader(self) -> str:
        return "NOT_LEADER_OR_FOLLOWER" if self.release.since("2.6") else "NOT_LEADER_FOR_PARTITION"

    # Producers

    def produce(self, head: Mapping[str, Any], body: bytes) -> Message:
        """Append, and wait for the ISR if the producer wants that."""
        partition = TopicPartition(head["topic"], head["partition"])
        acks = int(head["acks"])
        deadline = time.monotonic() + int(head["timeout_ms"]) / 1000
        with self.manager.lock:
            hosted = self.manager.partitions.get(partition)
            if hosted is None:
                offline = partition in self.manager.logs.offline
                return _error("KAFKA_STORAGE_ERROR" if offline else UNKNOWN)
            if not hosted.leads:
                return _error(self._not_leader())
            min_isr = self.min_isr(partition.topic)
            error = answers.produce_error_before(acks, len(hosted.isr), min_isr)
            if error != NONE:
                return _error(error)
            try:
                with self.manager.logs.using(partition) as log:
                    appended = log.append_as_leader(body, hosted.leader_epoch)
            except InvalidBatch as error_:
                return _error(error_.code, str(error_))
            except CorruptRecord as error_:
                return _error("CORRUPT_MESSAGE", str(error_))
            except (StorageError, KeyError) as error_:
                return _error("KAFKA_STORAGE_ERROR", str(error_))
            hosted.advance(now_ms())
            self.manager.changed.notify_all()
            error = NONE
            if acks == -1:
                error = self._wait(hosted, appended.last_offset + 1, min_isr, deadline)
            return Message({"error": error, "base_offset": appended.first_offset,
                            "leader_epoch": hosted.leader_epoch})  # fmt: skip

    def _wait(self, hosted: HostedPartition, end: int, min_isr: int, deadline: float) -> str:
        """Until the high watermark reaches an offset, while this broker leads without a break."""
        reign = hosted.reigns
        while True:
            here = self.manager.partitions.get(hosted.partition) is hosted
            if not here or not hosted.leads or hosted.reigns != reign:
                return self._not_leader()
            reached, left = hosted.hw >= end, deadline - time.monotonic()
            if reached or left <= 0:
                return answers.produce_error_after(-1, reached, len(hosted.isr), min_isr)
            self.manager.changed.wait(left)

    # Fetches

    def fetch(self, head: Mapping[str, Any], _body: bytes) -> Message:
        """Read; a follower's progress is noted, and who finds nothing waits for a while."""
        replica, minimum = int(head["replica"]), int(head["min_bytes"])
        deadline = time.monotonic() + int(head["max_wait_ms"]) / 1000
        with self.manager.lock:
            reads = self._read_all(head, replica)
            if replica != CONSUMER:
                self._progress(head, replica, reads)
            shown = [read.hw for read in reads]
            while self._too_little(reads, minimum):
                left = deadline - time.monotonic()
                if left <= 0 or not self.manager.changed.wait(left):
                    break
                reads = self._read_all(head, replica)
                news = shown != [read.hw for read in reads]
                if replica != CONSUMER and self.release.since("2.4") and news:
                    break  # KIP-392: a follower hears of a high watermark at once
            if replica != CONSUMER:
                quota = self.manager.quotas.leader
                quota.record(sum(one.size for one in reads if quota.is_throttled(one.partition)))
            return Message(
                {"error": NONE, "partitions": [read.fields() for read in reads]},
                regions=tuple(one.region.held() for one in reads if one.region and one.size),
            )

    @staticmethod
    def _too_little(reads: list[Read], minimum: int) -> bool:
        troubled = any(read.error != NONE or read.diverging is not None for read in reads)
        return not troubled and sum(read.size for read in reads) < minimum

    def _read_all(self, head: Mapping[str, Any], replica: int) -> list[Read]:
        reads: list[Read] = []
        left = int(head["max_bytes"])
        for topic, number, epoch, offset, last_epoch in head["partitions"]:
            read = self._read(TopicPartition(topic, number), replica, epoch, offset, last_epoch,
                              left, first=not any(one.size for one in reads))  # fmt: skip
            left = max(0, left - read.size)
            reads.append(read)
        return reads

    def _read(
        self, partition: TopicPartition, replica: int, epoch: int | None, offset: int,
        last_epoch: int | None, max_bytes: int, first: bool,
    ) -> Read:  # fmt: skip
        hosted, error = self._leader(partition, epoch)
        if hosted is None:
            return Read(partition, error)
        if replica != CONSUMER and replica not in hosted.replicas:
            return Read(partition, NONE, hosted.hw, hosted.log_start)
        found = Read(partition, NONE, hosted.hw, hosted.log_start)
        if replica != CONSUMER and self._held_back(hosted, replica):
            return found
        try:
            with self.manager.logs.using(partition) as log:
                if last_epoch is not None:
                    end = divergence(last_epoch, offset, log.log_start, log.end_offset_for)
                    if end is not None:
                        found.diverging = (end.epoch, end.end)
                        return found
                up_to = hosted.hw if replica == CONSUMER else None
                found.region = log.read(offset, max_bytes, up_to, first).region
        except (OffsetOutOfRange, NotInLog):
            return Read(partition, "OFFSET_OUT_OF_RANGE", hosted.hw, hosted.log_start)
        except (StorageError, KeyError):
            return Read(partition, "KAFKA_STORAGE_ERROR")
        return found

    def _held_back(self, hosted: HostedPartition, replica: int) -> bool:
        """``shouldLeaderThrottle``: a throttled follower that is not in sync, above the rate."""
        quota = self.manager.quotas.leader
        return quota.is_throttled(hosted.partition) and replica not in hosted.isr and quota.exceeded

    def _leader(
        self, partition: TopicPartition, epoch: int | None
    ) -> tuple[HostedPartition | None, str]:
        hosted = self.manager.partitions.get(partition)
        if hosted is None:
            offline = partition in self.manager.logs.offline
            return None, "KAFKA_STORAGE_ERROR" if offline else UNKNOWN
        asked = epoch if self.release.since("2.1") else None
        error = answers.current_leader_epoch_error(
            hosted.leader_epoch, asked, hosted.leads, True, self.release
        )
        return (hosted if error == NONE else None), error

    def _progress(self, head: Mapping[str, Any], replica: int, reads: list[Read]) -> None:
        for (_, _, _, offset, _), read in zip(head["partitions"], reads, strict=True):
            hosted = self.manager.partitions.get(read.partition)
            if read.error != NONE or read.diverging is not None or hosted is None:
                continue
            if replica in hosted.remotes:
                hosted.follower_fetched(replica, offset, now_ms())
        self.manager.changed.notify_all()

    # Questions about offsets

    def epoch_ends(self, head: Mapping[str, Any], _body: bytes) -> Message:
        """OffsetForLeaderEpoch."""
        found: list[list[Any]] = []
        with self.manager.lock:
            for topic, number, current, epoch in head["partitions"]:
                hosted, error = self._leader(TopicPartition(topic, number), current)
                ends = (-1, -1) if hosted is None else hosted.stored.end_offset_for(epoch)
                found.append([topic, number, error, *ends])
        return Message({"error": NONE, "partitions": found})

    def list_offsets(self, head: Mapping[str, Any], _body: bytes) -> Message:
        """The earliest, the latest, or the first offset of a time (ms)."""
        partition = TopicPartition(head["topic"], head["partition"])
        timestamp, consumer = int(head["timestamp"]), int(head["replica"]) == CONSUMER
        with self.manager.lock:
            hosted, error = self._leader(partition, None)
            if hosted is None:
                return _error(error)
            if timestamp in (EARLIEST, LATEST):
                offset = hosted.list_offset(timestamp == EARLIEST, consumer)
                if isinstance(offset, str):
                    return _error(offset)
                return Message({"error": NONE, "offset": offset, "timestamp": -1})
            try:
                with self.manager.logs.using(partition) as log:
                    found = log.offset_for_time(timestamp)
            except (StorageError, KeyError):
                return _error("KAFKA_STORAGE_ERROR")
            if found is None or found.offset >= hosted.hw:
                late = hosted.hw < hosted.epoch_start and self.release.since("2.2")
                if late and found is not None:
                    return _error("OFFSET_NOT_AVAILABLE")
                return Message({"error": NONE, "offset": -1, "timestamp": -1})
            return Message({"error": NONE, "offset": found.offset, "timestamp": found.timestamp})

    def metadata(self, head: Mapping[str, Any], _body: bytes) -> Message:
        """Brokers, controller, and the leaders of some topics (of all, if none is named)."""
        with self.manager.lock:
            cache = self.manager.metadata
            wanted = head.get("topics")
            topics: dict[str, list[list[Any]]] = {}
            for partition, told in sorted(cache.partitions.items()):
                if wanted is None or partition.topic in wanted:
                    state = told.state
                    topics.setdefault(partition.topic, []).append(
                        [partition.partition, state.leader, state.leader_epoch,
                         list(told.replicas), list(state.isr)]
                    )  # fmt: skip
            return Message(
                {
                    "error": NONE,
                    "brokers": [[one, *where] for one, where in sorted(cache.brokers.items())],
                    "controller": cache.controller,
                    "topics": topics,
                }
            )


def _error(code: str, text: str = "") -> Message:
    return Message({"error": code, "message": text})
