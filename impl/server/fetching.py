"""Followers at work: fetcher threads, each for some partitions of one leader (fact sheet f.5, g.8).

``FetcherThread`` has the rules; here it gets a leader behind a socket. A thread holds the replicas'
lock but while it waits for its leader.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from impl.core import answers
from impl.core.events import (
    AppendFailed,
    EpochAsked,
    LogTruncating,
    RecordsAsked,
    RecordsReplicated,
)
from impl.core.fetcher_thread import (
    Answer,
    EpochQuestion,
    EpochReply,
    FetcherThread,
    FetchQuestion,
    FetchReply,
    OffsetQuestion,
    OffsetUnknown,
)
from impl.core.replica_manager import Replica
from impl.core.truncation import EpochEnd
from impl.log.errors import CorruptRecord, OffsetOutOfRange
from impl.log.stored_log import StoredLog
from impl.server.properties import BrokerProperties
from impl.server.replicas import HostedReplicas
from impl.server.wire import Connection, Disconnected
from impl.znodes import TopicPartition
from impl.zookeeper.port import wait

LARGEST = 2**63 - 1
Places = tuple[int, int]


class RemoteLeader:
    """A leader behind a socket. Every call lets go of the lock while it waits."""

    def __init__(
        self, manager: HostedReplicas, connection: Connection, who: Places, config: BrokerProperties
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

    async def epoch_ends(
        self, questions: Mapping[TopicPartition, EpochQuestion]
    ) -> Mapping[TopicPartition, EpochReply]:
        """OffsetForLeaderEpoch."""
        due = [one for one in questions if self._due(one)]
        asked = [[*one, questions[one].leader_epoch, questions[one].epoch]
                 for one in due]  # fmt: skip
        number = self.manager.next_correlation()
        for one in due:
            self.manager.asked(EpochAsked(one, self.leader, questions[one]), number)
        head = {"api": "OffsetForLeaderEpoch", "correlation": number, "partitions": asked}
        answer = self._ask(head, due)
        replies = {}
        for topic, number, error, epoch, end in answer[0].get("partitions", ()):
            one = TopicPartition(topic, number)
            replies[one] = EpochReply(self._error(one, error), EpochEnd(epoch, end))
        return replies

    async def fetch(
        self, questions: Mapping[TopicPartition, FetchQuestion]
    ) -> Mapping[TopicPartition, FetchReply]:
        """Fetch, as follower."""
        due = [one for one in questions if self._due(one) and not self._held_back(one, questions)]
        asked = [
            [*one, questions[one].leader_epoch, questions[one].offset,
             questions[one].last_fetched_epoch]
            for one in due
        ]  # fmt: skip
        number = self.manager.next_correlation()
        for one in due:
            self.manager.asked(RecordsAsked(one, self.leader, questions[one]), number)
        head = {
            "api": "Fetch",
            "correlation": number,
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
            replies[one] = FetchReply(
                self._error(one, error, questions[one].offset), data or None, hw, start, end
            )
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

    async def offset(self, key: TopicPartition, question: OffsetQuestion) -> int:
        """ListOffsets."""
        head = {"api": "ListOffsets", "replica": self.manager.broker, "topic": key.topic,
                "partition": key.partition, "timestamp": question.timestamp,
                "leader_epoch": question.leader_epoch}  # fmt: skip
        answer = self._ask(head, [key])[0]
        if answer.get("error") != "NONE":
            self._delay(key)
            raise OffsetUnknown(key, Answer(answer.get("error")))
        return int(answer["offset"])

    def _due(self, partition: TopicPartition) -> bool:
        return self.not_before.get(partition, 0.0) <= time.monotonic()

    def _delay(self, partition: TopicPartition) -> None:
        self.not_before[partition] = time.monotonic() + self.backoff_s

    def _error(self, partition: TopicPartition, error: str, offset: int = 0) -> Answer:
        answer = Answer(error)
        if answer not in (Answer.NONE, Answer.FENCED_LEADER_EPOCH, Answer.OFFSET_OUT_OF_RANGE):
            self._delay(partition)
            self._tell_of_error(partition, error, offset)
        return answer

    def _tell_of_error(self, partition: TopicPartition, error: str, offset: int) -> None:
        """In Kafka's words; since 2.1 a leader that moved is a line of DEBUG, and not written."""
        release = self.manager.release
        if not release.since("1.1"):
            self.tell(f"Error for partition {partition} to broker {self.leader}:{error}")
        elif not error.startswith("NOT_LEADER"):
            self.tell(f"Error for partition {partition} at offset {offset}")
        elif not release.since("2.1"):
            self.tell(
                f"Remote broker is not the leader for partition {partition}, which could indicate "
                "that the partition is being moved"
            )

    def _ask(self, head: dict[str, Any], due: list[TopicPartition]) -> tuple[dict[str, Any], bytes]:
        if not due:
            return {}, b""
        self.busy = True
        try:
            with self.manager.lock.released():
                answer = self.connection.ask(head, timeout_s=self._patience_s)
        except Disconnected as error:
            for one in due:
                self._delay(one)
            words = "response for fetch request" if self.manager.release.since("1.1") else "fetch"
            self.tell(f"Error in {words} (to broker {self.leader}: {error})")
            return {}, b""
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


class ReplicaFetcher(threading.Thread):
    """``ReplicaFetcherThread``: one thread for some partitions of one leader."""

    def __init__(
        self, manager: HostedReplicas, who: Places, address: tuple[str, int],
        config: BrokerProperties,
    ) -> None:  # fmt: skip
        leader, number = who
        super().__init__(name=f"ReplicaFetcherThread-{number}-{leader}", daemon=True)
        self.manager = manager
        self.who = who
        self.connection = Connection(address, client_id=f"broker-{manager.broker}-fetcher-{number}")
        self.remote = RemoteLeader(manager, self.connection, who, config)
        self.logs: dict[TopicPartition, StoredLog] = {}
        on_fetch = config.protocol.since("2.7")
        self.rounds: FetcherThread[TopicPartition] = FetcherThread(
            self.remote, self.logs, manager.release, on_fetch, self
        )
        self.stopped = False

    def run(self) -> None:
        """Round after round, until it is told to stop."""
        with self.manager.lock:
            while not self.stopped:
                self.remote.busy = False
                try:
                    wait(self.rounds.do_work())
                except (OffsetOutOfRange, CorruptRecord) as error:
                    self.remote.tell(f"Error in a round: {error}")
                if not self.remote.busy and not self.stopped:
                    self.manager.changed.wait(0.1)

    # What the rounds tell

    def truncating(
        self, key: TopicPartition, offset: int, log_end: int, high_watermark: int
    ) -> None:
        """A log is about to be cut."""
        event = LogTruncating(key, offset, log_end, high_watermark)
        self.manager.traced(event)
        self.manager.lines.truncating(event, self.logs[key].directory, *self.who)

    def append_failed(self, key: TopicPartition, error: str) -> None:
        """A log cannot be appended to."""
        self.manager.traced(AppendFailed(key, error))
        leader, fetcher = self.who
        text = f"Error for partition {key}: {error}"
        self.manager.files.fetcher(leader, fetcher, text, "ERROR")

    def replicated(
        self, key: TopicPartition, offset: int, log_end: int, high_watermark: int
    ) -> None:
        """An answer was taken."""
        self.manager.traced(RecordsReplicated(key, offset, log_end, high_watermark))

    def stop(self) -> None:
        """End after the round that is under way."""
        self.stopped = True
        self.connection.close()


class FetcherManager:
    """``ReplicaFetcherManager``: which thread follows what; whoever calls holds the lock."""

    def __init__(self, manager: HostedReplicas, config: BrokerProperties) -> None:
        self.manager = manager
        self.config = config
        self.threads: dict[Places, ReplicaFetcher] = {}

    def add(self, partitions: Mapping[TopicPartition, Replica]) -> None:
        """Follow each one's leader, from its high watermark on."""
        followed: dict[Places, list[TopicPartition]] = {}
        for partition, hosted in partitions.items():
            assert hosted.leader is not None, "a follower has a leader"
            number = answers.fetcher_id(*partition, self.config.whole("num.replica.fetchers"))
            thread = self._thread((hosted.leader, number))
            assert isinstance(hosted.log, StoredLog), "brokers have their logs on disks"
            thread.logs[partition] = hosted.log
            thread.rounds.follow({partition: hosted.leader_epoch})
            followed.setdefault((hosted.leader, number), []).append(partition)
        self._tell_of_added(followed)
        self._close_idle()

    def _tell_of_added(self, followed: Mapping[Places, Sequence[TopicPartition]]) -> None:
        """In Kafka's words: up to 2.0 all in one line, later a line for each fetcher."""
        release, files = self.manager.release, self.manager.files
        told: list[str] = []
        for who, partitions in sorted(followed.items()):
            host, port = self.manager.metadata.brokers[who[0]]
            states = self.threads[who].rounds.states
            if not release.since("2.1"):
                told += [
                    f"[{self._name(one)}, initOffset {states[one].offset} to broker "
                    f"BrokerEndPoint({who[0]},{host},{port})] "
                    for one in partitions
                ]
                continue
            ends = ", ".join(
                f"{one} -> (offset={states[one].offset}, leaderEpoch={states[one].leader_epoch})"
                for one in partitions
            )
            leader = f"BrokerEndPoint(id={who[0]}, host={host}:{port})"
            broker = who[0] if release.since("2.6") else leader
            files.manager(f"Added fetcher to broker {broker} for partitions Map({ends})")
        if not release.since("2.1"):
            files.manager(f"Added fetcher for partitions List({', '.join(told)})")

    def _name(self, partition: TopicPartition) -> str:
        return (
            str(partition)
            if self.manager.release.since("0.10.1")
            else f"[{partition.topic},{partition.partition}]"
        )

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
        names = [self._name(one) for one in partitions]
        if not self.manager.release.since("2.1"):
            self.manager.files.manager(f"Removed fetcher for partitions {','.join(names)}")
        elif names or not self.manager.release.since("2.3"):
            self.manager.files.manager(f"Removed fetcher for partitions Set({', '.join(names)})")

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
