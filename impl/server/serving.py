"""What a broker answers to producers, consumers and followers (fact sheet g.6, g.7, h.2).

The rules are the core's. Records are handed out as regions of files, unparsed. A request that has
to wait, waits in its own thread on the replicas' condition: delayed produce and fetch without a
purgatory.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from impl.core.answers import NONE
from impl.core.events import FetchServed, ProducerAnswered
from impl.core.fetcher_thread import EARLIEST, Answer, EpochQuestion, FetchQuestion, FetchReply
from impl.core.replica_manager import CONSUMER, AcksAwaited, Produced, Replica
from impl.server.replicas import HostedReplicas, now_ms
from impl.server.wire import Message
from impl.znodes import TopicPartition
from impl.zookeeper.port import wait

Replies = dict[TopicPartition, FetchReply]


class Serving:
    """Produce, Fetch, OffsetForLeaderEpoch, ListOffsets, Metadata.

    ``min_isr`` gives min.insync.replicas of a topic.
    """

    def __init__(self, replicas: HostedReplicas, min_isr: Callable[[str], int]) -> None:
        self.replicas = replicas
        self.core = replicas.core
        self.min_isr = min_isr

    # Producers

    def produce(self, head: Mapping[str, Any], body: bytes) -> Message:
        """Append, and wait for the ISR if the producer wants that."""
        partition = TopicPartition(head["topic"], head["partition"])
        acks, wait_ms = int(head["acks"]), int(head["timeout_ms"])
        done, error = self.append({partition: body}, acks, wait_ms)[partition]
        if done.error != NONE:
            return _error(done.error, done.message)
        return Message({"error": error, "base_offset": done.first_offset,
                        "leader_epoch": done.leader_epoch})  # fmt: skip

    def append(
        self, records: Mapping[TopicPartition, bytes], acks: int, wait_ms: int
    ) -> dict[TopicPartition, tuple[Produced, str]]:
        """Append to some partitions, and wait for their ISRs if the producer wants that.

        What came of each, and its error: that of the append, or of the wait.
        """
        deadline = time.monotonic() + wait_ms / 1000
        found: dict[TopicPartition, tuple[Produced, str]] = {}
        with self.replicas.lock:
            done = {}
            for partition, batch in records.items():
                least = self.min_isr(partition.topic)
                done[partition] = wait(self.core.append(partition, batch, acks, least, now_ms()))
            self.replicas.changed.notify_all()
            for partition, one in done.items():
                error = one.error
                if error == NONE:
                    error = NONE if one.awaited is None else self._wait(one.awaited, deadline)
                    self._answers(partition, acks, one, error)
                found[partition] = one, error
        return found

    def _answers(self, partition: TopicPartition, acks: int, done: Produced, error: str) -> None:
        if acks:  # with acks=0 nobody hears of it
            event = ProducerAnswered(
                partition, done.leader_epoch, acks, done.first_offset, done.end_offset, error
            )
            self.replicas.traced(event)

    def _wait(self, awaited: AcksAwaited, deadline: float) -> str:
        """Until there is an answer, or the time is up."""
        while True:
            left = deadline - time.monotonic()
            outcome = awaited.outcome(self.core, expired=left <= 0)
            if outcome is not None:
                return outcome
            self.replicas.changed.wait(left)

    # Fetches

    def fetch(self, head: Mapping[str, Any], _body: bytes) -> Message:
        """Read; a follower's progress is noted, and who finds nothing waits for a while."""
        asked = {
            TopicPartition(topic, number): FetchQuestion(epoch, offset, last_epoch)
            for topic, number, epoch, offset, last_epoch in head["partitions"]
        }
        with self.replicas.lock:
            replies = self.read(
                int(head["replica"]), asked, int(head["max_wait_ms"]), int(head["min_bytes"]),
                int(head["max_bytes"]),
            )  # fmt: skip
            return Message(
                {"error": NONE, "partitions": [_fields(*entry) for entry in replies.items()]},
                regions=tuple(one.batch.held() for one in replies.values() if _size(one)),
            )

    def read(
        self,
        replica: int,
        asked: Mapping[TopicPartition, FetchQuestion],
        wait_ms: int,
        minimum: int,
        most: int,
        limits: Mapping[TopicPartition, int] | None = None,
    ) -> Replies:
        """What there is for a consumer or a follower; whoever asks holds the replicas' lock, as
        long as it makes use of the regions.
        """
        deadline = time.monotonic() + wait_ms / 1000
        follows, quota = replica != CONSUMER, self.replicas.quotas.leader
        replies = wait(self.core.fetch(replica, asked, most, now_ms(), self._held_back, limits))
        if follows:
            self.replicas.changed.notify_all()
        shown, first = _watermarks(replies), replies
        while _too_little(replies, minimum):
            left = deadline - time.monotonic()
            if left <= 0 or not self.replicas.changed.wait(left):
                break
            replies = wait(self.core.read(replica, asked, most, self._held_back, limits))
            if follows and self.core.release.since("2.4") and shown != _watermarks(replies):
                break  # KIP-392: a follower hears of a high watermark at once
        if replies is not first:
            for one, reply in replies.items():
                event = FetchServed(one, replica, asked[one], reply, waited=True)
                self.replicas.traced(event)
        if follows:
            throttled = [one for one in replies if quota.is_throttled(one)]
            quota.record(sum(_size(replies[one]) for one in throttled))
        return replies

    def _held_back(self, replica: Replica, follower: int) -> bool:
        """``shouldLeaderThrottle``: a throttled follower that is not in sync, above the rate."""
        quota = self.replicas.quotas.leader
        in_sync = follower in replica.isr
        return quota.is_throttled(replica.partition) and not in_sync and quota.exceeded

    # Questions about offsets

    def epoch_ends(self, head: Mapping[str, Any], _body: bytes) -> Message:
        """OffsetForLeaderEpoch."""
        asked = {
            TopicPartition(topic, number): EpochQuestion(current, epoch)
            for topic, number, current, epoch in head["partitions"]
        }
        with self.replicas.lock:
            found = wait(self.core.epoch_ends(asked))
        rows = [[*one, reply.error.value, *reply.end] for one, reply in found.items()]
        return Message({"error": NONE, "partitions": rows})

    def list_offsets(self, head: Mapping[str, Any], _body: bytes) -> Message:
        """The earliest, the latest, or the first offset of a time (ms).

        Version 0 (before 0.10.1) answers with at most ``max_offsets`` beginnings of segments.
        """
        partition = TopicPartition(head["topic"], head["partition"])
        consumer = int(head["replica"]) == CONSUMER
        if int(head.get("version", 1)) == 0:
            return self._offsets_before(head, partition, consumer)
        with self.replicas.lock:
            timestamp, epoch = int(head["timestamp"]), head.get("leader_epoch")
            found = wait(self.core.list_offset(partition, timestamp, consumer, epoch))
        if found.error != NONE:
            return _error(found.error)
        return Message({"error": NONE, "offset": found.offset, "timestamp": found.timestamp})

    def _offsets_before(
        self, head: Mapping[str, Any], partition: TopicPartition, consumer: bool
    ) -> Message:
        with self.replicas.lock:
            leads = wait(self.core.list_offset(partition, EARLIEST, consumer))
            if leads.error != NONE:
                return _error(leads.error)
            replica, log = self.core.partitions[partition], self.replicas.logs.log(partition)
            assert log is not None, "who leads has a log"
            most = int(head["max_offsets"])
            found = log.offsets_before(int(head["timestamp"]), most)
            if consumer and any(one > replica.hw for one in found):
                found = [replica.hw, *(one for one in found if one <= replica.hw)]
        return Message({"error": NONE, "offsets": found})

    def metadata(self, head: Mapping[str, Any], _body: bytes) -> Message:
        """Brokers, controller, and the leaders of some topics (of all, if none is named)."""
        with self.replicas.lock:
            cache = self.replicas.metadata
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


def _size(reply: FetchReply) -> int:
    """Bytes that were found."""
    return 0 if reply.batch is None else int(reply.batch.length)


def _watermarks(replies: Replies) -> list[int]:
    return [one.high_watermark for one in replies.values()]


def _too_little(replies: Replies, minimum: int) -> bool:
    found = replies.values()
    troubled = any(one.error is not Answer.NONE or one.diverging is not None for one in found)
    return not troubled and sum(map(_size, found)) < minimum


def _fields(partition: TopicPartition, reply: FetchReply) -> list[Any]:
    """As it is sent, the records aside."""
    end = None if reply.diverging is None else list(reply.diverging)
    return [*partition, reply.error.value, reply.high_watermark, reply.log_start, _size(reply),
            end]  # fmt: skip
