"""Followers at work: fetcher threads, each for some partitions of one leader (fact sheet f.5, g.8).

``FetcherThread`` has the rules; here it gets a leader behind a socket, and logs on the disk. It
holds the replica manager's lock but while it waits for its leader, and looks anew after that.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any

from impl.core import answers
from impl.core.fetcher_thread import (
    Answer,
    CannotAppend,
    CannotTruncate,
    EpochQuestion,
    EpochReply,
    FetcherThread,
    FetchQuestion,
    FetchReply,
)
from impl.core.truncation import EpochEnd
from impl.log import InvalidBatch, Log, StorageError
from impl.log.errors import CorruptRecord, OffsetOutOfRange
from impl.log.followed import FollowedLog
from impl.log.record_batch import batches_in
from impl.server.hosted import HostedPartition
from impl.server.properties import BrokerProperties
from impl.server.replicas import ReplicaManager
from impl.server.wire import Connection, Disconnected
from impl.znodes import TopicPartition

NO_EPOCH = -1
LARGEST = 2**63 - 1
Places = tuple[int, int]


class FollowerLog(FollowedLog):
    """A follower's log on the disk, as a fetcher uses it."""

    def __init__(self, manager: ReplicaManager, hosted: HostedPartition, who: Places) -> None:
        super().__init__(manager.release)
        self.manager = manager
        self.hosted = hosted
        self.leader, self.fetcher = who

    @property
    def log(self) -> Log:
        """The log, wherever it is now."""
        return self.hosted.stored

    def append(self, batch: bytes) -> None:
        """Append whole batches. CannotAppend."""
        try:
            with self.manager.logs.using(self.hosted.partition) as log:
                log.append_as_follower(batch)
        except (StorageError, InvalidBatch, CorruptRecord, KeyError) as error:
            self._said(f"Error for partition {self.hosted.partition}: {error}", "ERROR")
            raise CannotAppend(str(error)) from error

    def truncate_to(self, offset: int) -> None:
        """Cut from an offset on. CannotTruncate."""
        partition, release = self.hosted.partition, self.manager.release
        if offset < self.high_watermark and release.since("2.1"):
            self._said(
                f"Truncating {partition} to offset {offset} below high watermark "
                f"{self.high_watermark}",
                "WARN",
            )
        newer = release.since("1.1")
        if offset >= self.end:
            largest = self.end - 1
            text = (
                f"Truncating to {offset} has no effect as the largest offset in the log is "
                f"{largest}"
                if newer
                else f"Truncating {partition} to {offset} has no effect as the largest offset in "
                f"the log is {largest}."
            )
        else:
            text = (
                f"Truncating to offset {offset}"
                if newer
                else f"Truncating log {partition} to offset {offset}."
            )
        folder = self.log.directory.rpartition("/")[0]
        self.manager.files.log(partition, folder, text)
        try:
            with self.manager.logs.using(partition) as log:
                log.truncate_to(offset)
                self.manager.logs.truncate_future(partition, offset)
        except (StorageError, KeyError) as error:
            raise CannotTruncate(str(error)) from error

    def truncate_fully_and_start_at(self, offset: int) -> None:
        """Forget every record; the log begins anew at an offset."""
        self.log.truncate_fully_and_start_at(offset)
        self.manager.logs.truncate_future(self.hosted.partition, offset)

    def _said(self, text: str, level: str) -> None:
        self.manager.files.fetcher(self.leader, self.fetcher, text, level)


class RemoteLeader:
    """A leader behind a socket. Every call lets go of the lock while it waits."""

    def __init__(
        self, manager: ReplicaManager, connection: Connection, who: Places, config: BrokerProperties
    ) -> None:
        self.manager = manager
        self.connection = connection
        self.leader, self.fetcher = who
        self.config = config
        self.backoff_s = config.whole("replica.fetch.backoff.ms") / 1000
        self.not_before: dict[TopicPartition, float] = {}
        self.leader_hw: dict[TopicPartition, int] = {}  # as of the last fetch
        self.busy = False
        self.trouble = ""

    def epoch_ends(
        self, questions: Mapping[TopicPartition, EpochQuestion]
    ) -> Mapping[TopicPartition, EpochReply]:
        """OffsetForLeaderEpoch."""
        due = [one for one in questions if self._due(one)]
        asked = [[*one, self._epoch(questions[one].leader_epoch), questions[one].epoch]
                 for one in due]  # fmt: skip
        answer = self._ask({"api": "OffsetForLeaderEpoch", "partitions": asked}, due)
        replies = {}
        for topic, number, error, epoch, end in answer[0].get("partitions", ()):
            one = TopicPartition(topic, number)
            known = epoch if self.manager.release.since("2.0") else NO_EPOCH
            replies[one] = EpochReply(self._error(one, error), EpochEnd(known, end))
        return replies

    def fetch(
        self, questions: Mapping[TopicPartition, FetchQuestion]
    ) -> Mapping[TopicPartition, FetchReply]:
        """Fetch, as follower."""
        due = [one for one in questions if self._due(one) and not self._held_back(one, questions)]
        asked = [
            [*one, self._epoch(questions[one].leader_epoch), questions[one].offset,
             questions[one].last_fetched_epoch]
            for one in due
        ]  # fmt: skip
        head = {
            "api": "Fetch",
            "replica": self.manager.broker,
            "max_wait_ms": self.config.whole("replica.fetch.wait.max.ms"),
            "min_bytes": self.config.whole("replica.fetch.min.bytes"),
            "max_bytes": self.config.whole("replica.fetch.max.bytes"),
            "partitions": asked,
        }
        fields, body = self._ask(head, due)
        replies, at = {}, 0
        for topic, number, error, hw, start, size, diverging in fields.get("partitions", ()):
            one, data = TopicPartition(topic, number), body[at : at + size]
            at += size
            self._note(one, size, hw)
            end = None if diverging is None else EpochEnd(*diverging)
            replies[one] = FetchReply(self._error(one, error), whole(data), hw, start, end)
        return replies

    def _held_back(
        self, partition: TopicPartition, questions: Mapping[TopicPartition, FetchQuestion]
    ) -> bool:
        """``shouldFollowerThrottle``: a throttled partition that lags, above the rate."""
        quota = self.manager.quotas.follower
        in_sync = questions[partition].offset >= self.leader_hw.get(partition, LARGEST)
        return quota.is_throttled(partition) and not in_sync and quota.exceeded

    def _note(self, partition: TopicPartition, size: int, hw: int) -> None:
        self.leader_hw[partition] = hw
        quota = self.manager.quotas.follower
        if quota.is_throttled(partition):
            quota.record(size)

    def earliest(self, key: TopicPartition) -> int:
        """ListOffsets, the log's start."""
        return self._offset(key, -2)

    def latest(self, key: TopicPartition) -> int:
        """ListOffsets, the log's end."""
        return self._offset(key, -1)

    def _offset(self, key: TopicPartition, timestamp: int) -> int:
        head = {"api": "ListOffsets", "replica": self.manager.broker, "topic": key.topic,
                "partition": key.partition, "timestamp": timestamp}  # fmt: skip
        answer = self._ask(head, [key])[0]
        if answer.get("error") != "NONE":
            self._delay(key)
            raise OffsetUnknown(f"the leader does not tell where {key} begins or ends")
        return int(answer["offset"])

    def _epoch(self, epoch: int) -> int | None:
        return epoch if self.manager.release.since("2.1") else None

    def _due(self, partition: TopicPartition) -> bool:
        return self.not_before.get(partition, 0.0) <= time.monotonic()

    def _delay(self, partition: TopicPartition) -> None:
        self.not_before[partition] = time.monotonic() + self.backoff_s

    def _error(self, partition: TopicPartition, error: str) -> Answer:
        try:
            answer = Answer(error)
        except ValueError:
            answer = Answer.NOT_LEADER_FOR_PARTITION
        if answer not in (Answer.NONE, Answer.FENCED_LEADER_EPOCH, Answer.OFFSET_OUT_OF_RANGE):
            self._delay(partition)
            self.tell(f"Error for partition {partition}: the leader answers {error}")
        return answer

    def _ask(self, head: dict[str, Any], due: list[TopicPartition]) -> tuple[dict[str, Any], bytes]:
        if not due:
            return {}, b""
        self.busy = True
        lock = self.manager.lock
        lock.release()
        try:
            answer = self.connection.ask(head, timeout_s=self._patience_s)
        except Disconnected as error:
            for one in due:
                self._delay(one)
            self.tell(f"Error sending fetch request to node {self.leader}: {error}")
            return {}, b""
        finally:
            lock.acquire()
        self.trouble = "" if answer.head.get("error", "NONE") == "NONE" else self.trouble
        return answer.head, answer.body

    @property
    def _patience_s(self) -> float:
        return self.config.whole("replica.socket.timeout.ms") / 1000

    def tell(self, text: str) -> None:
        """A line of the fetcher, unless it was the last one."""
        if text != self.trouble:  # once, not every second that it lasts
            self.trouble = text
            self.manager.files.fetcher(self.leader, self.fetcher, text, "WARN")


class OffsetUnknown(Exception):
    """The leader could not be asked where its log begins or ends."""


def whole(data: bytes) -> bytes | None:
    """The whole batches at the beginning of what a fetch brought; None if there is none."""
    end = 0
    for at, batch in batches_in(data):
        end = at + batch.size
    return data[:end] or None


class ReplicaFetcher(threading.Thread):
    """``ReplicaFetcherThread``: one thread for some partitions of one leader."""

    def __init__(
        self, manager: ReplicaManager, who: Places, address: tuple[str, int],
        config: BrokerProperties,
    ) -> None:  # fmt: skip
        leader, number = who
        super().__init__(name=f"ReplicaFetcherThread-{number}-{leader}", daemon=True)
        self.manager = manager
        self.who = who
        self.connection = Connection(address, client_id=f"broker-{manager.broker}-fetcher-{number}")
        self.remote = RemoteLeader(manager, self.connection, who, config)
        self.logs: dict[TopicPartition, FollowerLog] = {}
        on_fetch = config.protocol.since("2.7")
        self.rounds: FetcherThread[TopicPartition] = FetcherThread(
            self.remote, self.logs, manager.release, on_fetch
        )
        self.stopped = False

    def run(self) -> None:
        """Round after round, until it is told to stop."""
        with self.manager.lock:
            while not self.stopped:
                self.remote.busy = False
                try:
                    self.rounds.do_work()
                except (OffsetUnknown, OffsetOutOfRange, CorruptRecord, CannotTruncate) as error:
                    self.remote.tell(f"Error in a round: {error}")
                if not self.remote.busy and not self.stopped:
                    self.manager.changed.wait(0.1)

    def stop(self) -> None:
        """End after the round that is under way."""
        self.stopped = True
        self.connection.close()


class FetcherManager:
    """``ReplicaFetcherManager``: which thread follows what; whoever calls holds the lock."""

    def __init__(self, manager: ReplicaManager, config: BrokerProperties) -> None:
        self.manager = manager
        self.config = config
        self.threads: dict[Places, ReplicaFetcher] = {}

    def add(self, partitions: Mapping[TopicPartition, HostedPartition]) -> None:
        """Follow each one's leader, from its high watermark on."""
        for partition, hosted in partitions.items():
            assert hosted.leader is not None, "a follower has a leader"
            number = answers.fetcher_id(*partition, self.config.whole("num.replica.fetchers"))
            thread = self._thread((hosted.leader, number))
            log = FollowerLog(self.manager, hosted, thread.who)
            thread.logs[partition] = log
            from_end = self.config.protocol.since("2.7") and log.latest_epoch() is not None
            offset = log.end if from_end else log.high_watermark
            thread.rounds.add({partition: (offset, hosted.leader_epoch)})
        if partitions:
            names = ", ".join(self.manager.files.name(one) for one in partitions)
            self.manager.files.manager(f"Added fetcher for partitions Set({names})")
        self._close_idle()

    def _thread(self, who: Places) -> ReplicaFetcher:
        address = self.manager.metadata.brokers[who[0]]
        thread = self.threads.get(who)
        if thread is not None and thread.connection.address != address:
            thread.stop()
            thread = None
        if thread is None:
            thread = self.threads[who] = ReplicaFetcher(self.manager, who, address, self.config)
            thread.start()
        return thread

    def remove(self, partitions: list[TopicPartition]) -> None:
        """Follow these no more."""
        for thread in self.threads.values():
            thread.rounds.remove(partitions)
            for one in partitions:
                thread.remote.not_before.pop(one, None)
                thread.remote.leader_hw.pop(one, None)
        if partitions:
            names = ", ".join(self.manager.files.name(one) for one in partitions)
            self.manager.files.manager(f"Removed fetcher for partitions Set({names})")

    def _close_idle(self) -> None:
        for who, thread in [*self.threads.items()]:
            if not thread.rounds.states:
                thread.stop()
                del self.threads[who]

    def close(self) -> None:
        """End all threads."""
        for thread in self.threads.values():
            thread.stop()
        self.threads.clear()
