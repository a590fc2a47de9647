"""The replicas of one broker (``ReplicaManager``; fact sheet f, g, h).

What controllers, followers, producers and consumers ask of it, and what is due by the clock.
``now_ms`` comes with each call. Whoever drives it handles one request of a controller at a time
(``replicaStateChangeLock``); reads and appends of other partitions may go on while one of them
waits for ZooKeeper or for a disk.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from impl.core import answers
from impl.core.answers import NONE
from impl.core.fetcher_thread import (
    EARLIEST,
    LATEST,
    EpochQuestion,
    EpochReply,
    FetchErrorCode,
    FetchQuestion,
    FetchReply,
)
from impl.core.metadata_cache import Endpoints, MetadataCache
from impl.core.partition import IsrRequestQueue, LeaderLog, Partition
from impl.core.replica_events import (
    BecomeLeaderOrFollowerBegun,
    BecomeLeaderOrFollowerCompleted,
    BecomeLeaderOrFollowerSkipped,
    EpochServed,
    FetchServed,
    IsrUpdated,
    LeaderAndIsrIgnored,
    LeaderAndIsrReceived,
    LeaderUnavailable,
    LogCreated,
    LogDeleted,
    LogFailed,
    LogLoaded,
    Observer,
    RecordsAppended,
    ReplicaEvent,
    ReplicaStopped,
    ReplicaStopping,
    RequestReceived,
    RequestRefused,
    Sender,
    silent,
)
from impl.core.requests import (
    LeaderAndIsr,
    LeaderAndIsrPartitionState,
    Request,
    StopReplica,
    UpdateMetadata,
    kind_of,
)
from impl.core.truncation import EpochEnd, FetchOutOfRange, divergence
from impl.log.errors import CorruptRecord, InvalidBatch, OffsetOutOfRange, StorageError
from impl.releases import Release
from impl.znodes import TopicPartition
from impl.znodes.client import ZnodeClient
from impl.zookeeper.errors import ZooKeeperError

CONSUMER = -1
STORAGE_ERROR = "KAFKA_STORAGE_ERROR"
INCONSISTENT_TOPIC_ID = "INCONSISTENT_TOPIC_ID"
Errors = dict[TopicPartition, str]
Answered = tuple[str, Errors]
"""The error of a whole request, and of each of its partitions."""


class HostedLog(LeaderLog, Protocol):
    """The log of a replica. Each read or write may raise StorageError."""

    @property
    def directory(self) -> str:
        """The path of the log's directory."""

    def end_offset_for(self, epoch: int) -> tuple[int, int]:
        """Epoch and exclusive end, see ``LeaderEpochFileCache``."""

    async def truncate_to(self, offset: int) -> None:
        """Truncate to an offset; a log that ends there or before is not changed."""

    async def append_as_leader(self, records: Any, leader_epoch: int) -> Any:
        """Append a producer's records; has ``first_offset``, ``last_offset``. InvalidBatch."""

    async def read(self, offset: int, max_bytes: int, up_to: int | None, at_least_one: bool) -> Any:
        """Records from an offset on, below ``up_to``; has ``length`` in bytes. OffsetOutOfRange."""

    async def offset_for_time(self, timestamp: int) -> Any:
        """The first record at that time or later, with ``offset`` and ``timestamp``; or None."""

    def check_or_set_topic_id(self, topic_id: str) -> bool:
        """Whether the log is of the topic with this id; a log without an id gets it (2.8)."""


class Logs(Protocol):
    """The logs of a broker, over its log directories."""

    def has(self, partition: TopicPartition) -> bool:
        """Whether the partition has a usable log."""

    def is_offline(self, partition: TopicPartition) -> bool:
        """Whether the partition's log is in a failed directory."""

    @property
    def some_offline(self) -> bool:
        """Whether some log directory is offline, so that its replicas may be unknown."""

    async def create(self, partition: TopicPartition) -> Any:
        """A partition's ``HostedLog``, made if there is none. StorageError."""

    async def delete(self, partition: TopicPartition) -> str | None:
        """Rename a log, to be removed later: the new name, None without a log. StorageError."""


class Fetchers(Protocol):
    """The fetchers of a broker (``ReplicaFetcherManager``)."""

    def remove(self, partitions: list[TopicPartition]) -> None:
        """Follow these no more."""

    def add(self, partitions: Mapping[TopicPartition, Replica]) -> None:
        """Follow each one's leader, in its leader epoch."""


Replica = Partition[HostedLog]
Idle = Callable[[Replica], Awaitable[None]]
"""Returns once no write of the partition's ISR is under way."""


class DelayedProduce(NamedTuple):
    """A producer with acks=all waits until the high watermark reaches ``end`` (``DelayedProduce``).

    ``generation`` is the leadership that took the records; when it ends the producer gets an error.
    """

    replica: Replica
    end: int
    generation: int
    min_isr: int

    def outcome(self, manager: ReplicaManager, expired: bool) -> str | None:
        """The error, or None while the producer waits. ``expired``: its time is over."""
        replica = self.replica
        here = manager.partitions.get(replica.partition) is replica
        if not here or not replica.leads or replica.generation != self.generation:
            return manager.not_leader
        reached = replica.hw >= self.end
        if not reached and not expired:
            return None
        return answers.produce_error_after(reached, len(replica.isr), self.min_isr)


@dataclass(frozen=True, slots=True)
class ProduceOutcome:
    """The result of an append; with ``awaited`` the response waits for its outcome."""

    error: str
    message: str = ""
    first_offset: int = -1
    leader_epoch: int = -1
    end_offset: int = -1
    awaited: DelayedProduce | None = None


@dataclass(frozen=True, slots=True)
class OffsetFound:
    """The response to ListOffsets: an offset and its record's time (ms), -1 if there is none."""

    error: str
    offset: int = -1
    timestamp: int = -1


def nobody_held_back(replica: Replica, follower: int) -> bool:
    """No follower is throttled."""
    return False


async def never_busy(replica: Replica) -> None:
    """ISR writes are answered at once, so none is ever in flight."""
    assert not replica.writes_isr, f"the ISR of {replica.partition} is being written"


class ReplicaManager:
    """The replicas of a broker. ``client`` returns the ZooKeeper client of its current session.

    With ``isr_requests`` leaders ask the controller for another ISR (2.7); else they write it.
    """

    def __init__(
        self,
        broker: int,
        release: Release,
        logs: Logs,
        lag_ms: int,
        client: Callable[[], ZnodeClient],
        observer: Observer = silent,
        idle: Idle = never_busy,
        new_partition: Callable[..., Replica] = Partition,
    ) -> None:
        self.broker = broker
        self.release = release
        self.logs = logs
        self.lag_ms = lag_ms
        self.client = client
        self.observer = observer
        self.idle = idle
        self.new_partition = new_partition
        self.isr_requests: IsrRequestQueue | None = None
        self.fetchers: Fetchers | None = None
        self.controller_epoch = 0
        self.partitions: dict[TopicPartition, Replica] = {}
        self.metadata = MetadataCache(observer)
        self.isr_changes: set[TopicPartition] = set()
        self.last_isr_change_ms = 0
        self.last_propagation_ms = 0

    def _observe(self, event: ReplicaEvent) -> None:
        if isinstance(event, IsrUpdated) and not event.by_request:
            self.isr_changes.add(event.partition)
            self.last_isr_change_ms = event.now_ms
        self.observer(event)

    @property
    def not_leader(self) -> str:
        """The error of a request that only a leader serves."""
        return "NOT_LEADER_OR_FOLLOWER" if self.release.since("2.6") else "NOT_LEADER_FOR_PARTITION"

    def leading(self) -> list[Replica]:
        """The replicas that lead."""
        return [one for one in self.partitions.values() if one.leads]

    # Requests of controllers

    async def handle(
        self,
        request: Request,
        broker_epoch: int,
        now_ms: int,
        correlation: int = 0,
        endpoints: Endpoints | None = None,
    ) -> Answered:
        """Handle a controller's request. ``broker_epoch`` is that of this broker's registration
        (KIP-380).

        ``endpoints``: of the live brokers that an UpdateMetadata names. EpochFromTheFuture if the
        request is meant for a registration of which nothing is known here yet (up to 2.5.0).
        """
        error = answers.broker_epoch_error(request.broker_epoch, broker_epoch, self.release)
        if error != NONE:
            return error, {}
        sender = Sender(request.controller, request.controller_epoch, correlation)
        self.observer(RequestReceived(kind_of(request), sender, request.broker_epoch))
        if isinstance(request, LeaderAndIsr):
            for partition, entry in request.partitions.items():
                self.observer(LeaderAndIsrReceived(partition, entry, sender))
        error = answers.controller_epoch_error(request.controller_epoch, self.controller_epoch)
        if error != NONE:
            self.observer(RequestRefused(kind_of(request), sender, self.controller_epoch))
            return error, {}
        self.controller_epoch = request.controller_epoch
        match request:
            case LeaderAndIsr():
                return NONE, await self._leader_and_isr(request, sender, now_ms)
            case StopReplica():
                return NONE, await self._stop_replicas(request)
            case UpdateMetadata():
                self.metadata.update(request, endpoints or {}, sender)
                return NONE, {}

    async def _leader_and_isr(self, request: LeaderAndIsr, sender: Sender, now_ms: int) -> Errors:
        """``becomeLeaderOrFollower``: the error of each partition."""
        errors = {
            one: self.leader_and_isr_error(one, entry, sender)
            for one, entry in request.partitions.items()
        }
        accepted = {one: o for one, o in request.partitions.items() if errors[one] == NONE}
        leads = {one: o for one, o in accepted.items() if o.state.leader == self.broker}
        follows = {one: o for one, o in accepted.items() if one not in leads}
        await self._make_leaders(leads, sender, errors, now_ms)
        await self._make_followers(follows, sender, errors)
        return errors

    def leader_and_isr_error(
        self, partition: TopicPartition, entry: LeaderAndIsrPartitionState, sender: Sender
    ) -> str:
        """The error for one partition of a LeaderAndIsr; NONE if it is applied."""
        hosted = self.partitions.get(partition)
        current = -1 if hosted is None else hosted.leader_epoch
        error = answers.leader_and_isr_error(
            current,
            entry.state.leader_epoch,
            self.broker in entry.replicas,
            self.logs.is_offline(partition),
            self.release,
        )
        # Looked at before the epoch; a log that this request makes gets its id from the next one.
        if (
            error != STORAGE_ERROR
            and hosted is not None
            and entry.topic_id is not None
            and not hosted.log.check_or_set_topic_id(entry.topic_id)
        ):
            error = INCONSISTENT_TOPIC_ID
        if error != NONE:
            self.observer(LeaderAndIsrIgnored(partition, entry, sender, current, error))
        return error

    async def host(self, partition: TopicPartition, may_be_made: bool = True) -> Replica:
        """The replica; created with its log if it is missing. StorageError, ZooKeeperError.

        One that is not new is not made while a log directory is offline: it may be in there, as
        after a restart (``LogManager.getOrCreateLog``, KIP-112).
        """
        hosted = self.partitions.get(partition)
        if hosted is not None:
            return hosted
        is_new = not self.logs.has(partition)
        if is_new and not may_be_made and self.logs.some_offline:
            raise StorageError(str(partition), "", "it may be in a log directory that is offline")
        log: HostedLog = await self.logs.create(partition)
        if is_new:
            self.observer(LogCreated(partition, log.directory))
        else:
            self.observer(LogLoaded(partition, log.log_end, log.high_watermark))
        made = self.new_partition(
            self.broker, partition, log, self.lag_ms, self.release, self.client,
            self.isr_requests, self._observe,
        )  # fmt: skip
        self.partitions[partition] = made
        return made

    def _may_be_made(self, entry: LeaderAndIsrPartitionState) -> bool:
        """Requests say since 1.0 whether a replica is new."""
        return entry.is_new or not self.release.since("1.0")

    async def _make_leaders(
        self,
        entries: Mapping[TopicPartition, LeaderAndIsrPartitionState],
        sender: Sender,
        errors: Errors,
        now_ms: int,
    ) -> None:
        for partition in entries:
            self.observer(BecomeLeaderOrFollowerBegun(partition, sender, None))
        self._stop_fetching(list(entries))
        for partition, entry in entries.items():
            before = self.partitions.get(partition)
            known = None if before is None else before.leader
            try:
                hosted = await self.host(partition, self._may_be_made(entry))
                await self.idle(hosted)
                hosted.become_leader(entry, now_ms)
            except (StorageError, ZooKeeperError) as error:
                errors[partition] = self._not_taken(partition, entry, sender, before, error)
                continue
            if known == self.broker:
                self.observer(BecomeLeaderOrFollowerSkipped(partition, entry, sender, True, known))
        for partition in entries:
            self.observer(BecomeLeaderOrFollowerCompleted(partition, sender, None))

    async def _make_followers(
        self,
        entries: Mapping[TopicPartition, LeaderAndIsrPartitionState],
        sender: Sender,
        errors: Errors,
    ) -> None:
        changed: dict[TopicPartition, Replica] = {}
        for partition, entry in entries.items():
            self.observer(BecomeLeaderOrFollowerBegun(partition, sender, entry.state.leader))
        for partition, entry in entries.items():
            before = self.partitions.get(partition)
            try:
                hosted = await self.host(partition, self._may_be_made(entry))
            except (StorageError, ZooKeeperError) as error:
                errors[partition] = self._not_taken(partition, entry, sender, before, error)
                continue
            if not answers.leader_is_known(entry.state.leader, self.metadata.alive):
                self.observer(LeaderUnavailable(partition, entry, sender))
                continue
            await self.idle(hosted)
            known = hosted.leader
            if hosted.become_follower(entry):
                changed[partition] = hosted
            else:
                self.observer(BecomeLeaderOrFollowerSkipped(partition, entry, sender, False, known))
        self._stop_fetching(list(changed))
        if not self.release.since("0.11"):  # later its fetcher cuts, when it has asked (KIP-101)
            for hosted in changed.values():
                await hosted.log.truncate_to(hosted.hw)
        # A log directory that failed in the course of it took those in it along.
        here = {one: held for one, held in changed.items() if self.partitions.get(one) is held}
        if self.fetchers is not None and here:
            self.fetchers.add(here)
        for partition, entry in entries.items():
            self.observer(BecomeLeaderOrFollowerCompleted(partition, sender, entry.state.leader))

    def _not_taken(
        self,
        partition: TopicPartition,
        entry: LeaderAndIsrPartitionState,
        sender: Sender,
        before: Replica | None,
        error: Exception,
    ) -> str:
        known, directory = (None, "") if before is None else (before.leader, before.log.directory)
        leads = entry.state.leader == self.broker
        self.observer(
            BecomeLeaderOrFollowerSkipped(
                partition, entry, sender, leads, known, str(error), directory
            )
        )
        return self._storage_failed(partition, error)

    def _stop_fetching(self, partitions: list[TopicPartition]) -> None:
        if self.fetchers is not None and partitions:
            self.fetchers.remove(partitions)

    def _storage_failed(
        self, partition: TopicPartition, error: Exception, not_renamed: str = ""
    ) -> str:
        self.observer(LogFailed(partition, str(error), not_renamed))
        self.partitions.pop(partition, None)
        return STORAGE_ERROR if self.release.since("1.0") else "UNKNOWN_SERVER_ERROR"

    async def _stop_replicas(self, request: StopReplica) -> Errors:
        """Stop replicas, and delete those that are to go."""
        errors: Errors = {}
        for partition, stop in request.partitions.items():
            hosted = self.partitions.get(partition)
            errors[partition] = answers.stop_replica_error(
                None if hosted is None else hosted.leader_epoch,
                stop.leader_epoch,
                self.logs.is_offline(partition),
                self.release,
            )
        fenced = self.release.since("2.6")  # before that the fetchers of all were stopped first
        self._stop_fetching([one for one in errors if errors[one] == NONE or not fenced])
        for partition, stop in request.partitions.items():
            if errors[partition] == NONE:
                self.observer(ReplicaStopping(partition, stop.delete))
                errors[partition] = await self._stop(partition, stop.delete)
                self.observer(ReplicaStopped(partition, stop.delete, errors[partition]))
        return errors

    async def _stop(self, partition: TopicPartition, delete: bool) -> str:
        hosted = self.partitions.get(partition)
        if hosted is not None:
            await self.idle(hosted)
            hosted.stop()
        if not delete:
            return NONE
        self.partitions.pop(partition, None)
        try:
            renamed = await self.logs.delete(partition)
        except StorageError as error:
            return self._storage_failed(partition, error, not_renamed=error.path)
        if renamed is not None:
            self.observer(LogDeleted(partition, renamed))
        return NONE

    def log_dir_failed(self) -> None:
        """Remove the replicas whose log directory failed (``handleLogDirFailure``)."""
        gone = [one for one in self.partitions if self.logs.is_offline(one)]
        self._stop_fetching(gone)
        for partition in gone:
            self.partitions.pop(partition).stop()

    # Producers

    async def append(
        self, partition: TopicPartition, records: Any, acks: int, min_isr: int, now_ms: int
    ) -> ProduceOutcome:
        """Append a producer's records; with acks=all the response waits for the ISR (g.6)."""
        replica, error = await self._leader(partition, None)
        if replica is None:
            return ProduceOutcome(error)
        error = answers.produce_error_before(acks, len(replica.isr), min_isr)
        if error != NONE:
            return ProduceOutcome(error)
        before = replica.log_end
        try:
            appended = await replica.log.append_as_leader(records, replica.leader_epoch)
        except InvalidBatch as refused:
            return ProduceOutcome(refused.code, str(refused))
        except CorruptRecord as corrupt:
            return ProduceOutcome("CORRUPT_MESSAGE", str(corrupt))
        except StorageError as failed:
            return ProduceOutcome(STORAGE_ERROR, str(failed))
        first, end = appended.first_offset, appended.last_offset + 1
        if first >= before:  # else an idempotent producer sent again what is there already
            self.observer(RecordsAppended(partition, replica.leader_epoch, first, end))
        replica.advance(now_ms)
        awaited = DelayedProduce(replica, appended.last_offset + 1, replica.generation, min_isr)
        return ProduceOutcome(
            NONE, "", first, replica.leader_epoch, end, awaited if acks == -1 else None
        )

    # Fetches, of followers and consumers

    async def fetch(
        self,
        follower: int,
        questions: Mapping[TopicPartition, FetchQuestion],
        max_bytes: int,
        now_ms: int,
        held_back: Callable[[Replica, int], bool] = nobody_held_back,
        limits: Mapping[TopicPartition, int] | None = None,
    ) -> dict[TopicPartition, FetchReply]:
        """Read for a follower, and record its fetch offsets: the ISR may expand.

        The high watermark of an answer is that of before: a follower learns of a new one a round
        later (g.1).
        """
        ends = {one: hosted.log_end for one, hosted in self.partitions.items() if one in questions}

        def served(partition: TopicPartition, reply: FetchReply) -> None:
            self.observer(FetchServed(partition, follower, questions[partition], reply))

        replies = await self.read(follower, questions, max_bytes, held_back, limits, served)
        if follower == CONSUMER:
            return replies
        for partition, reply in replies.items():
            replica = self.partitions.get(partition)
            if (
                reply.error is FetchErrorCode.NONE
                and reply.diverging is None
                and replica is not None
            ):
                await self.idle(replica)
                if replica.leads and follower in replica.remotes and follower in replica.replicas:
                    asked = questions[partition]
                    await replica.follower_fetched(
                        follower, asked.offset, now_ms, ends[partition], asked.log_start
                    )
        return replies

    async def read(
        self,
        reader: int,
        questions: Mapping[TopicPartition, FetchQuestion],
        max_bytes: int,
        held_back: Callable[[Replica, int], bool] = nobody_held_back,
        limits: Mapping[TopicPartition, int] | None = None,
        served: Callable[[TopicPartition, FetchReply], None] = lambda partition, reply: None,
    ) -> dict[TopicPartition, FetchReply]:
        """Read records from some offsets; at most so many bytes in all, but at least one batch.

        ``limits``: of a partition, if a client sets one. ``served`` hears of each reply at once:
        who waits for the ISR of the next partition may lead the one before no more.
        """
        replies: dict[TopicPartition, FetchReply] = {}
        left, found = max_bytes, False
        for partition, asked in questions.items():
            most = left if limits is None else min(left, limits.get(partition, left))
            reply = await self._read(reader, partition, asked, most, not found, held_back)
            if reply.batch is not None:
                left, found = max(0, left - reply.batch.length), True
            replies[partition] = reply
            served(partition, reply)
        return replies

    async def _read(
        self,
        reader: int,
        partition: TopicPartition,
        asked: FetchQuestion,
        max_bytes: int,
        at_least_one: bool,
        held_back: Callable[[Replica, int], bool],
    ) -> FetchReply:
        replica, error = await self._leader(partition, asked.leader_epoch)
        if replica is None:
            return FetchReply(FetchErrorCode(error))
        log, hw, start = replica.log, replica.hw, replica.log_start
        nothing = FetchReply(FetchErrorCode.NONE, None, hw, start)
        if reader != CONSUMER and (reader not in replica.replicas or held_back(replica, reader)):
            return nothing
        try:
            if asked.last_fetched_epoch is not None:
                end = divergence(asked.last_fetched_epoch, asked.offset, start, log.end_offset_for)
                if end is not None:
                    return FetchReply(FetchErrorCode.NONE, None, hw, start, end)
            up_to = hw if reader == CONSUMER else None
            records = await log.read(asked.offset, max_bytes, up_to, at_least_one)
        except (OffsetOutOfRange, FetchOutOfRange):
            return FetchReply(FetchErrorCode.OFFSET_OUT_OF_RANGE, None, hw, start)
        except StorageError:
            return FetchReply(FetchErrorCode.KAFKA_STORAGE_ERROR)
        return FetchReply(FetchErrorCode.NONE, records, hw, start) if records.length else nothing

    async def _leader(
        self, partition: TopicPartition, epoch: int | None
    ) -> tuple[Replica | None, str]:
        """The replica, if it leads in that leader epoch (any if it is None; KIP-320); the error."""
        replica = self.partitions.get(partition)
        if replica is not None:
            await self.idle(replica)
            replica = self.partitions.get(partition)
        if replica is None:
            offline = self.logs.is_offline(partition)
            return None, STORAGE_ERROR if offline else "UNKNOWN_TOPIC_OR_PARTITION"
        asked = epoch if self.release.since("2.1") else None
        error = answers.current_leader_epoch_error(
            replica.leader_epoch, asked, replica.leads, True, self.release
        )
        return (replica if error == NONE else None), error

    # Questions about offsets

    async def epoch_ends(
        self, questions: Mapping[TopicPartition, EpochQuestion]
    ) -> dict[TopicPartition, EpochReply]:
        """OffsetForLeaderEpoch; up to 1.1 the response has no epoch (KIP-279)."""
        replies: dict[TopicPartition, EpochReply] = {}
        for partition, asked in questions.items():
            replica, error = await self._leader(partition, asked.leader_epoch)
            epoch, end = (-1, -1) if replica is None else replica.log.end_offset_for(asked.epoch)
            known = epoch if self.release.since("2.0") else -1
            replies[partition] = EpochReply(FetchErrorCode(error), EpochEnd(known, end))
            self.observer(EpochServed(partition, asked, replies[partition]))
        return replies

    async def list_offset(
        self,
        partition: TopicPartition,
        timestamp: int,
        for_consumer: bool,
        leader_epoch: int | None = None,
    ) -> OffsetFound:
        """The earliest, the latest, or the first offset of a timestamp (ms); g.7.

        ``leader_epoch`` is the one that the asker knows, None of one that names none (KIP-320).
        """
        replica, error = await self._leader(partition, leader_epoch)
        if replica is None:
            return OffsetFound(error)
        if timestamp in (EARLIEST, LATEST):
            offset = replica.list_offset(timestamp == EARLIEST, for_consumer)
            if isinstance(offset, str):
                return OffsetFound(offset)
            return OffsetFound(NONE, offset)
        try:
            found = await replica.log.offset_for_time(timestamp)
        except StorageError:
            return OffsetFound(STORAGE_ERROR)
        if found is None or found.offset >= replica.hw:
            late = found is not None and replica.hw_may_be_stale
            return OffsetFound("OFFSET_NOT_AVAILABLE" if late else NONE)
        return OffsetFound(NONE, found.offset, found.timestamp)

    # What is due by the clock

    async def maybe_shrink_isrs(self, now_ms: int) -> None:
        """Every half of replica.lag.time.max.ms (g.4)."""
        for replica in self.leading():
            await self.idle(replica)
            await replica.maybe_shrink(now_ms)  # which leads no more has no ISR

    def has_isr_changes_to_propagate(self, now_ms: int) -> bool:
        """Whether ISRs changed, and did not change again for long enough (g.5)."""
        return bool(self.isr_changes) and answers.propagates_isr_changes(
            now_ms, self.last_isr_change_ms, self.last_propagation_ms
        )

    async def maybe_propagate_isr_changes(self, now_ms: int) -> None:
        """Every 2.5 s: notify the controller of changed ISRs, if there was no recent change
        (g.5)."""
        if not self.has_isr_changes_to_propagate(now_ms):
            return
        changes, self.isr_changes = self.isr_changes, set()
        try:
            await self.client().propagate_isr_changes(sorted(changes))
        except ZooKeeperError:
            self.isr_changes |= changes
            raise
        self.last_propagation_ms = now_ms
