"""Fetcher threads of a broker, each for some partitions of one leader (fact sheet f.5, g.8).

The core's ``FetcherThread`` has the rules; this module connects it to a leader's socket. A thread
holds the replicas' lock except while it waits for its leader.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from impl.core import answers
from impl.core.fetcher_thread import (
    EpochQuestion,
    EpochReply,
    FetcherListener,
    FetchErrorCode,
    FetcherThread,
    FetchQuestion,
    FetchReply,
    OffsetQuestion,
    OffsetUnknown,
    truncates_on_fetch,
)
from impl.core.replica_events import (
    AppendFailed,
    EpochAsked,
    LogTruncating,
    RecordsAsked,
    RecordsReplicated,
)
from impl.core.replica_manager import Replica
from impl.core.truncation import EpochEnd
from impl.log.errors import CorruptRecord, OffsetOutOfRange, StorageError
from impl.log.stored_log import StoredLog
from impl.releases import Release
from impl.server.connection import Connection, Disconnected
from impl.server.control_messages import by_topic
from impl.server.fetch_sessions import NO_SESSION, FetchedPart, FetchSessionHandler
from impl.server.properties import BrokerProperties
from impl.server.replicas import HostedReplicas
from impl.server.state_texts import epoch_question_texts, fetch_request_text
from impl.wire import Fields, error_name
from impl.znodes import TopicPartition
from impl.zookeeper.port import wait

LARGEST = 2**63 - 1
NO_EPOCH = NO_OFFSET = -1
Places = tuple[int, int]
_SESSION_HANDLER = "org.apache.kafka.clients.FetchSessionHandler"


class FetcherVersions(NamedTuple):
    """The versions of a follower's requests, by inter.broker.protocol.version."""

    fetch: int
    epochs: int
    offsets: int

    @classmethod
    def of(cls, protocol: Release) -> FetcherVersions:
        """The versions that ``ReplicaFetcherThread`` uses."""
        return cls(*(
            next(version for version, since in history if protocol.since(since))
            for history in (_FETCH, _EPOCHS, _OFFSETS)
        ))  # fmt: skip


_FETCH = ((12, "2.7"), (11, "2.3"), (10, "2.1"), (8, "2.0"), (7, "1.1"), (5, "0.11"),
          (3, "0.10.1"), (2, "0.10.0"), (1, "0.9"), (0, "0"))  # fmt: skip
_EPOCHS = ((4, "2.8"), (3, "2.3"), (2, "2.1"), (1, "2.0"), (0, "0"))
_OFFSETS = ((6, "2.8"), (5, "2.2"), (4, "2.1"), (3, "2.0"), (2, "0.11"), (1, "0.10.1"), (0, "0"))


class RemoteLeader:
    """A leader behind a socket. Every call releases the lock while it waits."""

    def __init__(
        self,
        manager: HostedReplicas,
        connection: Connection,
        who: Places,
        config: BrokerProperties,
        logs: Mapping[TopicPartition, StoredLog],
    ) -> None:
        self.logs = logs
        self.versions = FetcherVersions.of(config.protocol)
        self.manager = manager
        self.connection = connection
        self.leader, self.fetcher = who
        self.config = config
        self.backoff_s = config.whole_number("replica.fetch.backoff.ms") / 1000
        self.not_before: dict[TopicPartition, float] = {}
        self.session: FetchSessionHandler[TopicPartition] = FetchSessionHandler()
        self.leader_hw: dict[TopicPartition, int] = {}  # as of the last fetch
        self.busy = False
        self.trouble = ""

    async def epoch_ends(
        self, questions: Mapping[TopicPartition, EpochQuestion]
    ) -> Mapping[TopicPartition, EpochReply]:
        """OffsetForLeaderEpoch."""
        due = [one for one in questions if self._is_past_backoff(one)]
        if not due:
            return {}
        number = self.manager.next_correlation()
        for one in due:
            self.manager.trace_fetcher_request(EpochAsked(one, self.leader, questions[one]), number)
        rows = [(one.topic, _epoch_question(one, questions[one])) for one in due]
        topics = [Fields(topic=topic, partitions=parts) for topic, parts in by_topic(rows).items()]
        body = Fields(replica_id=self.manager.broker, topics=topics)
        answer = self._ask("OffsetForLeaderEpoch", self.versions.epochs, body, due, number)
        replies = {}
        for topic in () if answer is None else answer.topics:
            for row in topic.partitions:
                one = TopicPartition(topic.topic, row.partition)
                end = EpochEnd(getattr(row, "leader_epoch", NO_EPOCH), row.end_offset)
                replies[one] = EpochReply(self._error(one, row.error_code), end)
        return replies

    async def fetch(
        self, questions: Mapping[TopicPartition, FetchQuestion]
    ) -> Mapping[TopicPartition, FetchReply]:
        """Fetch, as follower; an incremental fetch names only what changed (KIP-227)."""
        due = [
            one
            for one in questions
            if self._is_past_backoff(one) and not self._held_back(one, questions)
        ]
        most = self.config.whole_number("replica.fetch.max.bytes")
        named, forgotten = self.session.next(
            {one: FetchedPart(questions[one], most) for one in due}
        )
        if not due and not forgotten:
            return {}
        number = self.manager.next_correlation()
        for one in due:
            self.manager.trace_fetcher_request(
                RecordsAsked(one, self.leader, questions[one]), number
            )
        answer = self._ask(
            "Fetch", self.versions.fetch, self._fetch_request(named, forgotten), due, number
        )
        if answer is None:
            self.session.failed()
            return {}
        rows = {
            TopicPartition(topic.topic, row.partition_index): row
            for topic in answer.responses
            for row in topic.partitions
        }
        error = error_name(getattr(answer, "error_code", 0))
        trouble = self.session.answered(error, getattr(answer, "session_id", NO_SESSION), rows)
        if trouble:
            text = f"Node {self.leader} {trouble}"
            self.manager.files.fetcher(self.leader, self.fetcher, text, logger=_SESSION_HANDLER)
            return {}
        return {one: self._reply(one, row, questions[one].offset) for one, row in rows.items()}

    def _reply(self, partition: TopicPartition, row: Any, offset: int) -> FetchReply:
        """What an answer says of a partition."""
        self._note(partition, len(row.records or b""), row.high_watermark)
        return FetchReply(
            self._error(partition, row.error_code, offset), row.records or None,
            row.high_watermark, getattr(row, "log_start_offset", NO_OFFSET), _diverging(row),
        )  # fmt: skip

    def _fetch_request(
        self, named: Mapping[TopicPartition, FetchedPart], forgotten: list[TopicPartition]
    ) -> Fields:
        topics = by_topic((one.topic, _fetch_part(one, part)) for one, part in named.items())
        gone = by_topic((one.topic, one.partition) for one in forgotten)
        return Fields(
            replica_id=self.manager.broker,
            max_wait=timedelta(milliseconds=self.config.whole_number("replica.fetch.wait.max.ms")),
            min_bytes=self.config.whole_number("replica.fetch.min.bytes"),
            max_bytes=self.config.whole_number("replica.fetch.response.max.bytes"),
            isolation_level=0, session_id=self.session.number, session_epoch=self.session.epoch,
            topics=[Fields(topic=topic, partitions=topics[topic]) for topic in topics],
            forgotten_topics_data=[
                Fields(topic=topic, partitions=gone[topic]) for topic in gone
            ],
            rack_id="", cluster_id=None,
        )  # fmt: skip

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
        one = Fields(
            partition_index=key.partition, timestamp=question.timestamp, max_num_offsets=1,
            current_leader_epoch=_or_none(question.leader_epoch),
        )  # fmt: skip
        body = Fields(
            replica_id=self.manager.broker, isolation_level=0,
            topics=(Fields(name=key.topic, partitions=(one,)),),
        )  # fmt: skip
        answer = self._ask("ListOffsets", self.versions.offsets, body, [key])
        if answer is None:
            raise OffsetUnknown(key, FetchErrorCode.UNKNOWN_SERVER_ERROR)
        [row] = answer.topics[0].partitions
        if row.error_code:
            self._delay(key)
            raise OffsetUnknown(key, FetchErrorCode(self._name(row.error_code)))
        return int(row.offset if hasattr(row, "offset") else row.old_style_offsets[0])

    def _is_past_backoff(self, partition: TopicPartition) -> bool:
        return self.not_before.get(partition, 0.0) <= time.monotonic()

    def _delay(self, partition: TopicPartition) -> None:
        self.not_before[partition] = time.monotonic() + self.backoff_s

    def _name(self, code: int) -> str:
        """An error in the release's words."""
        name = error_name(code)
        older = name == "NOT_LEADER_OR_FOLLOWER" and not self.manager.release.since("2.6")
        return "NOT_LEADER_FOR_PARTITION" if older else name

    def _error(self, partition: TopicPartition, code: int, offset: int = 0) -> FetchErrorCode:
        error = self._name(code)
        answer = FetchErrorCode(error)
        if answer not in (
            FetchErrorCode.NONE,
            FetchErrorCode.FENCED_LEADER_EPOCH,
            FetchErrorCode.OFFSET_OUT_OF_RANGE,
        ):
            self._delay(partition)
            self._tell_of_error(partition, error, offset)
        return answer

    def _tell_of_error(self, partition: TopicPartition, error: str, offset: int) -> None:
        """Log an error in Kafka's words; since 2.1 a leader that moved is logged at DEBUG: not
        here.
        """
        release = self.manager.release
        if not release.since("1.1"):
            name = self.manager.files.name(partition)
            self.log_line(f"Error for partition {name} to broker {self.leader}:{error}", "ERROR")
        elif not error.startswith("NOT_LEADER"):
            self.log_line(f"Error for partition {partition} at offset {offset}", "ERROR")
        elif not release.since("2.1"):
            self.log_line(
                f"Remote broker is not the leader for partition {partition}, which could indicate "
                "that the partition is being moved", "INFO",
            )  # fmt: skip

    def _ask(
        self, api: str, version: int, body: Fields, due: list[TopicPartition],
        correlation: int | None = None,
    ) -> Any:  # fmt: skip
        """The answer; None if there is none."""
        self.busy = True
        try:
            with self.manager.lock.released():
                answer = self.connection.ask(api, version, body, self._patience_s, correlation)
        except Disconnected:
            for one in due:
                self._delay(one)
            self._tell_of_no_answer(api, body, due)
            return None
        self.trouble = ""
        return answer

    @property
    def _patience_s(self) -> float:
        return self.config.whole_number("replica.socket.timeout.ms") / 1000

    def _tell_of_no_answer(self, api: str, body: Fields, due: list[TopicPartition]) -> None:
        """The leader cannot be asked, or did not answer."""
        release, level = self.manager.release, "WARN"
        match api:
            case "Fetch":
                shown = fetch_request_text(body, release)
                text = f"Error in response for fetch request {shown}"
                if not release.since("1.1"):
                    whom = f" to broker {self.leader}, request" if release.since("0.11") else ""
                    text = f"Error in fetch{whom} {shown}"
            case "ListOffsets":
                text, level = "Error getting offset for partition ", "ERROR"
                text += self.manager.files.name(due[0])
                if not release.since("1.1"):
                    text += f" to broker {self.leader}"
            case _:
                asked = ", ".join(epoch_question_texts(body, release))
                text = f"Error when sending leader epoch request for Map({asked})"
        lost = f"Connection to {self.leader} was disconnected before the response was read"
        self.log_line(text, level, f"java.io.IOException: {lost}", once=api)

    def log_line(self, text: str, level: str, thrown: str = "", once: str = "") -> None:
        """Log a line of the fetcher, unless it repeats the last one, or the last about `once`."""
        if (once or text) != self.trouble:  # once, not every second that it lasts
            self.trouble = once or text
            self.manager.files.fetcher(self.leader, self.fetcher, text, level, thrown=thrown)


def _epoch_question(partition: TopicPartition, question: EpochQuestion) -> Fields:
    return Fields(
        partition=partition.partition, current_leader_epoch=_or_none(question.leader_epoch),
        leader_epoch=question.epoch,
    )  # fmt: skip


def _fetch_part(partition: TopicPartition, part: FetchedPart) -> Fields:
    question = part.question
    return Fields(
        partition=partition.partition, current_leader_epoch=_or_none(question.leader_epoch),
        fetch_offset=question.offset, log_start_offset=question.log_start,
        partition_max_bytes=part.max_bytes,
        last_fetched_epoch=_or_none(question.last_fetched_epoch),
    )  # fmt: skip


def _or_none(epoch: int | None) -> int:
    """An epoch in a request: -1 is none."""
    return NO_EPOCH if epoch is None else epoch


def _diverging(row: Any) -> EpochEnd | None:
    """The epoch and end offset where the logs diverge: in fetch responses since version 12
    (2.7).
    """
    found = getattr(row, "diverging_epoch", None)
    if found is None or found.epoch < 0:
        return None
    return EpochEnd(found.epoch, found.end_offset)


class ReplicaFetcher(threading.Thread, FetcherListener):
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
        self.logs: dict[TopicPartition, StoredLog] = {}
        self.remote = RemoteLeader(manager, self.connection, who, config, self.logs)
        on_fetch = truncates_on_fetch(manager.release, config.protocol)
        self.rounds: FetcherThread[TopicPartition] = FetcherThread(
            self.remote, self.logs, manager.release, on_fetch, self
        )
        self.stopped = False

    def run(self) -> None:
        """Run rounds until the thread is stopped."""
        with self.manager.lock:
            while not self.stopped:
                self.remote.busy = False
                try:
                    wait(self.rounds.do_work())
                except (OffsetOutOfRange, CorruptRecord) as error:
                    self.manager.files.insync_line(f"A fetcher of broker {self.who[0]}: {error}")
                if not self.remote.busy and not self.stopped:
                    self.manager.changed.wait(0.1)

    # What the rounds tell

    def truncating(
        self, key: TopicPartition, offset: int, log_end: int, high_watermark: int
    ) -> None:
        """Report that a log is about to be truncated."""
        event = LogTruncating(key, offset, log_end, high_watermark)
        self.manager.traced(event)
        self.manager.lines.truncating(event, self.logs[key].directory, *self.who)

    def append_failed(self, key: TopicPartition, error: Exception, offset: int) -> None:
        """Report that an append to a log failed."""
        self.manager.traced(AppendFailed(key, str(error)))
        release, name = self.manager.release, self.manager.files.name(key)
        if not isinstance(error, StorageError):
            text = f"Found invalid messages during fetch for partition {name} offset {offset}"
            thrown = f"org.apache.kafka.common.errors.CorruptRecordException: {error}"
            if not release.since("1.1"):
                text, thrown = f"{text} error {error}", ""
        else:
            text = f"Error while processing data for partition {name}"
            text += f" at offset {offset}" if release.since("2.3") else ""
            thrown = f"org.apache.kafka.common.errors.KafkaStorageException: {error}"
            if not release.since("1.0"):
                text = "Error due to "
                thrown = "kafka.common.KafkaException: error processing data for partition "
                thrown += f"{name} offset {offset}"
        self.manager.files.fetcher(*self.who, text, "ERROR", thrown=thrown)

    def replicated(
        self, key: TopicPartition, offset: int, log_end: int, high_watermark: int
    ) -> None:
        """Report that a fetch response was applied to the log."""
        self.manager.traced(RecordsReplicated(key, offset, log_end, high_watermark))

    def stop(self) -> None:
        """End after the current round."""
        self.stopped = True
        self.connection.close()


class FetcherManager:
    """``ReplicaFetcherManager``: assigns partitions to threads; the caller holds the lock."""

    def __init__(self, manager: HostedReplicas, config: BrokerProperties) -> None:
        self.manager = manager
        self.config = config
        self.threads: dict[Places, ReplicaFetcher] = {}

    def add(self, partitions: Mapping[TopicPartition, Replica]) -> None:
        """Follow the leader of each partition, from its high watermark on."""
        followed: dict[Places, list[TopicPartition]] = {}
        for partition, hosted in partitions.items():
            assert hosted.leader is not None, "a follower has a leader"
            number = answers.fetcher_id(
                *partition, self.config.whole_number("num.replica.fetchers")
            )
            thread = self._thread((hosted.leader, number))
            assert isinstance(hosted.log, StoredLog), "brokers have their logs on disks"
            thread.logs[partition] = hosted.log
            thread.rounds.follow({partition: hosted.leader_epoch})
            followed.setdefault((hosted.leader, number), []).append(partition)
        self._tell_of_added(followed)
        self._close_idle()

    def _tell_of_added(self, followed: Mapping[Places, Sequence[TopicPartition]]) -> None:
        """Log added partitions in Kafka's words: up to 2.0 in one line, later one line per
        fetcher.
        """
        release, files = self.manager.release, self.manager.files
        added: list[str] = []
        for who, partitions in sorted(followed.items()):
            host, port = self.manager.metadata.brokers[who[0]]
            states = self.threads[who].rounds.states
            if not release.since("2.1"):
                added += [
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
            files.manager(f"Added fetcher for partitions List({', '.join(added)})")

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
        """Stop following these partitions."""
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
