"""Appends to and reads from a broker's logs, for clients and followers (fact sheet g.6, g.7, h.2).

The core has the rules. Records are returned as regions of files, unparsed. A request that has to
wait does so in its own thread on the replicas' condition; there is no purgatory.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping

from impl.core.fetcher_thread import EARLIEST, FetchErrorCode, FetchQuestion, FetchReply
from impl.core.replica_events import FetchServed, ProducerAnswered
from impl.core.replica_manager import CONSUMER, DelayedProduce, ProduceOutcome, Replica
from impl.error_codes import NONE
from impl.server.replicas import HostedReplicas, now_ms
from impl.znodes import TopicPartition
from impl.zookeeper.port import wait

Replies = dict[TopicPartition, FetchReply]


class Serving:
    """Appends and reads. ``min_isr`` returns min.insync.replicas of a topic."""

    def __init__(self, replicas: HostedReplicas, min_isr: Callable[[str], int]) -> None:
        self.replicas = replicas
        self.core = replicas.core
        self.min_isr = min_isr

    # Producers

    def append(
        self, records: Mapping[TopicPartition, bytes], acks: int, wait_ms: int
    ) -> dict[TopicPartition, tuple[ProduceOutcome, str]]:
        """Append to some partitions, and wait for their ISRs with acks=all.

        Returns each partition's outcome and error, from the append or from the wait.
        """
        deadline = time.monotonic() + wait_ms / 1000
        found: dict[TopicPartition, tuple[ProduceOutcome, str]] = {}
        with self.replicas.lock:
            done = {}
            before = self._watermarks(records)
            for partition, batch in records.items():
                least = self.min_isr(partition.topic)
                done[partition] = wait(self.core.append(partition, batch, acks, least, now_ms()))
            if self._watermarks(records) == before:
                self.replicas.readable.notify_all()  # who waits for acknowledgements need not look
            else:
                self.replicas.notify_waiters()
            for partition, one in done.items():
                error = one.error
                if error == NONE:
                    error = NONE if one.awaited is None else self._wait(one.awaited, deadline)
                    self._answers(partition, acks, one, error)
                found[partition] = one, error
        return found

    def _answers(
        self, partition: TopicPartition, acks: int, done: ProduceOutcome, error: str
    ) -> None:
        if acks:  # acks=0 has no response
            event = ProducerAnswered(
                partition, done.leader_epoch, acks, done.first_offset, done.end_offset, error
            )
            self.replicas.traced(event)

    def _wait(self, awaited: DelayedProduce, deadline: float) -> str:
        """Until there is an answer, or the time is up."""
        while True:
            left = deadline - time.monotonic()
            outcome = awaited.outcome(self.core, expired=left <= 0)
            if outcome is not None:
                return outcome
            self.replicas.changed.wait(left)

    # Fetches

    def read(
        self,
        replica: int,
        asked: Mapping[TopicPartition, FetchQuestion],
        wait_ms: int,
        minimum: int,
        most: int,
        limits: Mapping[TopicPartition, int] | None = None,
    ) -> Replies:
        """Read records for a consumer or a follower. The caller holds the replicas' lock as long as
        it uses the regions.
        """
        deadline = time.monotonic() + wait_ms / 1000
        follows, quota = replica != CONSUMER, self.replicas.quotas.leader
        before, readable = self._watermarks(asked), self._readable(replica, asked)
        replies = wait(self.core.fetch(replica, asked, most, now_ms(), self._held_back, limits))
        if follows and (self.replicas.deletes_waiting or self._watermarks(asked) != before):
            self.replicas.notify_waiters()
        shown, first = _watermarks(replies), replies
        while _too_little(replies, minimum):
            left = deadline - time.monotonic()
            if left <= 0:
                break
            in_time = self.replicas.readable.wait(left)
            seen, readable = readable, self._readable(replica, asked)
            if readable != seen:  # else it was another partition
                replies = wait(self.core.read(replica, asked, most, self._held_back, limits))
                if follows and self.core.release.since("2.4") and shown != _watermarks(replies):
                    break  # KIP-392: a follower is sent a new high watermark at once
            if not in_time:  # who led when it was read may have become a follower meanwhile
                break
        if replies is not first:
            for one, reply in replies.items():
                event = FetchServed(one, replica, asked[one], reply, waited=True)
                self.replicas.traced(event)
        if follows:
            throttled = [one for one in replies if quota.is_throttled(one)]
            quota.record(sum(_size(replies[one]) for one in throttled))
        return replies

    def _watermarks(self, partitions: Iterable[TopicPartition]) -> list[int | None]:
        """High watermarks; None where there is no replica."""
        found = [self.core.partitions.get(one) for one in partitions]
        return [None if one is None else one.hw for one in found]

    def _readable(
        self, reader: int, partitions: Iterable[TopicPartition]
    ) -> list[tuple[int, ...] | None]:
        """All that an answer to a reader follows from; the same again, and it would be the same.

        Consumers see what is below the high watermark, followers all that is there, and since 2.4
        the high watermark itself (KIP-392).
        """
        follows = reader != CONSUMER
        sees_hw = not follows or self.core.release.since("2.4")
        found: list[tuple[int, ...] | None] = []
        for partition in partitions:
            one = self.core.partitions.get(partition)
            if one is None:
                found.append(None)
                continue
            end, hw = one.log_end if follows else -1, one.hw if sees_hw else -1
            found.append((id(one), one.generation, one.leads, one.leader_epoch, end, hw))
        return found

    def _held_back(self, replica: Replica, follower: int) -> bool:
        """``shouldLeaderThrottle``: a throttled follower that is not in sync, above the rate."""
        quota = self.replicas.quotas.leader
        in_sync = follower in replica.isr
        return quota.is_throttled(replica.partition) and not in_sync and quota.exceeded

    # ProxiedRequests about offsets

    def offsets_before(
        self, partition: TopicPartition, timestamp: int, most: int, consumer: bool
    ) -> tuple[str, list[int]]:
        """ListOffsets version 0: base offsets of segments up to a timestamp, the latest first."""
        with self.replicas.lock:
            leads = wait(self.core.list_offset(partition, EARLIEST, consumer))
            if leads.error != NONE:
                return leads.error, []
            replica, log = self.core.partitions[partition], self.replicas.logs.log(partition)
            assert log is not None, "who leads has a log"
            found = log.offsets_before(timestamp, most)
            if consumer and any(one > replica.hw for one in found):
                found = [replica.hw, *(one for one in found if one <= replica.hw)]
        return NONE, found


def _size(reply: FetchReply) -> int:
    """Bytes that were found."""
    return 0 if reply.batch is None else int(reply.batch.length)


def _watermarks(replies: Replies) -> list[int]:
    return [one.high_watermark for one in replies.values()]


def _too_little(replies: Replies, minimum: int) -> bool:
    found = replies.values()
    troubled = any(
        one.error is not FetchErrorCode.NONE or one.diverging is not None for one in found
    )
    return not troubled and sum(map(_size, found)) < minimum
