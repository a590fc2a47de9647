"""One replica of a partition: leader or follower, ISR, high watermark (``Partition``; f, g).

``now_ms`` comes with each call. An ISR change is written to ZooKeeper, conditional on the version
that the leader knows, and awaited; since 2.7 it is a request to the controller, and pending until
that answers (KIP-497). While a write to ZooKeeper is under way (``writes_isr``) nothing else may be
done to this partition, as Kafka holds ``leaderIsrUpdateLock``; other partitions go on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from impl.core.replica_events import (
    BecameFollower,
    BecameLeader,
    HighWatermarkRaised,
    IsrExpanding,
    IsrRequestRefused,
    IsrShrinking,
    IsrUpdated,
    IsrUpdateFailed,
    IsrUpdateRefused,
    Observer,
    silent,
)
from impl.core.requests import LeaderAndIsrPartitionState
from impl.releases import Release
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition
from impl.znodes.client import ZnodeClient
from impl.znodes.text import MalformedZnode
from impl.zookeeper.errors import NoNode, ZooKeeperError

NO_EPOCH = -1
UNKNOWN_END = -1
GIVES_UP = ("FENCED_LEADER_EPOCH", "INVALID_UPDATE_VERSION", "UNKNOWN_TOPIC_OR_PARTITION")
"""Answers after which a leader waits for the controller and does not ask again (2.7)."""


PartitionMemory = tuple[Any, ...]
"""The fields of a partition, see ``Partition.memory``."""


@dataclass(slots=True)
class RemoteReplica:
    """A leader's view of one follower; times are ms."""

    end: int = UNKNOWN_END
    log_start: int = UNKNOWN_END
    last_caught_up: int = 0
    last_leader_end: int = 0
    last_fetch: int = 0

    def fetched(self, offset: int, log_start: int, leader_end: int, now_ms: int) -> None:
        """Record a fetch at ``offset``, when the leader's log ended at ``leader_end``.

        Reaching the end that the fetch before was shown counts as of that time.
        """
        if offset >= leader_end:
            self.last_caught_up = max(self.last_caught_up, now_ms)
        elif offset >= self.last_leader_end:
            self.last_caught_up = max(self.last_caught_up, self.last_fetch)
        self.end, self.log_start = offset, log_start
        self.last_leader_end, self.last_fetch = leader_end, now_ms

    def new_epoch(self, leader_end: int, now_ms: int, in_isr: bool) -> None:
        """Start a leader epoch: ISR members count as caught up now."""
        self.last_leader_end, self.last_fetch = leader_end, now_ms
        self.last_caught_up = now_ms if in_isr else 0

    def memory(self) -> tuple[int, int, int, int, int]:
        """Its fields, in order."""
        return (
            self.end, self.log_start, self.last_caught_up, self.last_leader_end, self.last_fetch
        )  # fmt: skip


def high_watermark(
    leader_end: int,
    isr: Collection[int],
    remotes: Mapping[int, tuple[int, int]],
    now_ms: int,
    lag_ms: int,
    old: int,
    release: Release,
) -> int:
    """The lowest log end of leader, ISR and replicas that caught up recently; it never decreases.

    Up to 0.10.1 only the ISR counts (Partition.maybeIncrementLeaderHW). ``remotes`` maps a follower
    to its end (-1 unknown, which holds back) and when it was caught up.
    """
    waited_for = [
        end
        for replica, (end, caught_up) in remotes.items()
        if replica in isr or (release.since("0.10.2") and now_ms - caught_up <= lag_ms)
    ]
    return max(old, min([leader_end, *waited_for]))


def out_of_sync(
    end: int, last_caught_up: int, leader_end: int, now_ms: int, lag_ms: int, release: Release
) -> bool:
    """Whether a follower has lagged for too long; since 2.1 never if it is at the log end."""
    has_all = release.since("2.1") and end == leader_end
    return not has_all and now_ms - last_caught_up > lag_ms


class LeaderEpochs(Protocol):
    """The operations of a leader on its log's epoch cache."""

    def assign(self, epoch: int, start: int) -> None:
        """Add an epoch that begins at an offset."""


class LeaderLog(Protocol):
    """The operations of a partition on its log, in memory or on a disk."""

    high_watermark: int

    @property
    def log_start(self) -> int:
        """The log start offset."""

    @property
    def log_end(self) -> int:
        """The log end offset."""

    @property
    def epochs(self) -> LeaderEpochs:
        """The leader epochs of its records."""


SomeLog = TypeVar("SomeLog", bound=LeaderLog)


class IsrRequestQueue(Protocol):
    """Changes of ISRs that wait to be sent to the controller (``AlterIsrManager``; 2.7)."""

    def submit(
        self, partition: TopicPartition, wanted: LeaderIsrAndControllerEpoch, answered: IsrAnswered
    ) -> None:
        """Request an ISR change; ``answered`` is called with the controller's response."""

    def clear(self, partition: TopicPartition) -> None:
        """Drop a partition's pending change (``clearPending``); its response will be ignored."""


IsrAnswered = Callable[[str, LeaderIsrAndControllerEpoch | None, int], None]
"""Takes the error, the state that is registered if there is none, and the time (ms)."""


class NotAssignedReplica(LookupError):
    """An ISR member is not among the replicas that the leader knows."""


class Partition(Generic[SomeLog]):
    """A replica on ``broker``, over ``log``.

    How another ISR is registered: with ``isr_requests`` it is asked for; else it is written with
    ``client``, the ZooKeeper client of the session that the broker has now.
    """

    def __init__(
        self,
        broker: int,
        partition: TopicPartition,
        log: SomeLog,
        lag_ms: int,
        release: Release,
        client: Callable[[], ZnodeClient],
        isr_requests: IsrRequestQueue | None = None,
        observer: Observer = silent,
        replicas: Iterable[int] = (),
    ) -> None:
        self.broker = broker
        self.partition = partition
        self.log = log
        self.lag_ms = lag_ms
        self.release = release
        self.client = client
        self.isr_requests = isr_requests
        self.observer = observer
        self.replicas = tuple(replicas)
        self.remotes: dict[int, RemoteReplica] = {}
        self.leads = False
        self.leader: int | None = None
        self.leader_epoch = NO_EPOCH
        self.controller_epoch = NO_EPOCH
        self.zk_version = NO_EPOCH
        self.epoch_start = 0
        self.isr: tuple[int, ...] = ()
        self.pending: tuple[int, ...] | None = None  # the ISR that is being registered
        self.generation = 0  # how often it stopped leading, was stopped, or began to follow again
        self.expands = self.shrinks = self.failures = 0

    @property
    def log_end(self) -> int:
        """The log end offset."""
        return self.log.log_end

    @property
    def log_start(self) -> int:
        """The log start offset."""
        return self.log.log_start

    @property
    def hw(self) -> int:
        """The high watermark."""
        return self.log.high_watermark

    @property
    def writes_isr(self) -> bool:
        """Whether an ISR write to ZooKeeper is in progress: all other work for the partition
        waits."""
        return self.pending is not None and self.isr_requests is None

    # LeaderAndIsr, StopReplica

    def become_leader(self, entry: LeaderAndIsrPartitionState, now_ms: int) -> None:
        """Become leader by a LeaderAndIsr."""
        previous, start, state = self.leader_epoch, self.log_end, entry.state
        self._take(entry)
        known = {*entry.replicas}
        if not self.release.since("2.4"):  # who is in the ISR alone keeps what is known of it
            known.update(state.isr)
        self.remotes = {one: held for one, held in self.remotes.items() if one in known}
        self._lead(state.leader_epoch, state.isr, now_ms)
        self.observer(BecameLeader(self.partition, self.leader_epoch, previous, start, self.hw))
        self.advance(now_ms)

    def become_follower(self, entry: LeaderAndIsrPartitionState) -> bool:
        """Become follower by a LeaderAndIsr; False if the fetcher can continue as it is."""
        self._take(entry)
        new = self.make_follower(entry.state.leader, entry.state.leader_epoch)
        self.observer(BecameFollower(self.partition, entry.state.leader, self.leader_epoch))
        return new

    def _take(self, entry: LeaderAndIsrPartitionState) -> None:
        if self.isr_requests is not None:
            self.isr_requests.clear(self.partition)
        self.replicas = entry.replicas
        self.controller_epoch = entry.state.controller_epoch
        self.zk_version = entry.state.zk_version

    def stop(self) -> None:
        """Stop leading or following."""
        self.leads, self.leader, self.isr, self.pending = False, None, (), None
        if self.isr_requests is not None:
            self.isr_requests.clear(self.partition)
        self.generation += 1

    def _lead(self, epoch: int, isr: Iterable[int], now_ms: int) -> None:
        new = self.leader != self.broker
        self.isr, self.pending = tuple(isr), None
        self.leader_epoch, self.epoch_start = epoch, self.log_end
        self.leader, self.leads = self.broker, True
        if self.release.since("2.0.1"):  # KAFKA-7415
            self.log.epochs.assign(epoch, self.log_end)
        for replica in self.replicas:
            if replica == self.broker:
                continue
            remote = self.remotes.setdefault(replica, RemoteReplica())
            remote.new_epoch(self.log_end, now_ms, replica in self.isr)
            if new:  # and what it was shown before counts for nothing (updateFetchState)
                remote.end = remote.log_start = remote.last_leader_end = UNKNOWN_END
                remote.last_fetch = 0

    def make_follower(self, leader: int, epoch: int) -> bool:
        """Become follower in an epoch; False if the fetcher can continue as it is
        (``makeFollower``)."""
        same, before = self.leader == leader, self.leader_epoch
        self.isr, self.pending, self.leads = (), None, False
        self.leader, self.leader_epoch = leader, epoch
        self.generation += 1
        return not (same and keeps_fetching(before, epoch, self.release))

    # Followers

    async def follower_fetched(
        self,
        replica: int,
        offset: int,
        now_ms: int,
        leader_end: int | None = None,
        log_start: int = 0,
    ) -> None:
        """Handle a follower's fetch: it may join the ISR, and the high watermark may rise.

        ``leader_end`` is the leader's log end when the fetch was read, by default the one now;
        ``log_start`` where the follower's begins. One that is no replica is not noted
        (``updateFollowerFetchState``).
        """
        if replica not in self.remotes:
            return
        shown = self.log_end if leader_end is None else leader_end
        self.remotes[replica].fetched(offset, log_start, shown, now_ms)
        if self.may_join(replica, offset):
            await self.expand(replica, now_ms)
        self.advance(now_ms)

    def may_join(self, replica: int, offset: int) -> bool:
        """Whether a replica outside the ISR has all committed records and reached the epoch's
        start.

        The second condition since 2.0.1 (KAFKA-7128); since 2.7 one change at a time.
        """
        reached = offset >= self.epoch_start or not self.release.since("2.0.1")
        return (
            replica not in self.maximal_isr
            and replica in self.replicas
            and self.remotes[replica].end >= self.hw
            and reached
            and self.pending is None
        )

    # The ISR

    @property
    def maximal_isr(self) -> tuple[int, ...]:
        """The ISR with replicas that are about to join it; replicas about to leave still count."""
        joining = [one for one in self.pending or () if one not in self.isr]
        return (*self.isr, *joining)

    async def expand(self, replica: int, now_ms: int) -> None:
        """Add a replica that caught up to the ISR, by a write or a request."""
        wanted = (*self.isr, replica)
        by_request = self.isr_requests is not None
        self.observer(IsrExpanding(self.partition, self.isr, wanted, by_request))
        await self.change(wanted, now_ms)

    async def shrink(self, replicas: Collection[int], now_ms: int) -> None:
        """Remove lagging replicas from the ISR, by a write or a request."""
        if self.pending is not None:
            return
        kept = tuple(one for one in self.isr if one not in replicas)
        late = tuple((one, self.follower_state(one).end) for one in replicas)
        self.observer(IsrShrinking(self.partition, self.isr, kept, late, self.hw, self.log_end))
        await self.change(kept, now_ms)

    @property
    def isr_member_without_replica(self) -> int | None:
        """An ISR member that is not among the known replicas, if the ISR check throws because of
        it.

        A move shortens the list of replicas before the old ones leave the ISR. From 2.4 to 2.8 such
        a member is looked up among the replicas; before and since it may be dropped (KAFKA-9672).
        """
        if not self.release.since("2.4") or self.release.since("3.0"):
            return None
        known = {self.broker, *self.remotes}
        return next((member for member in self.isr if member not in known), None)

    def lagging(self, now_ms: int) -> list[int]:
        """The ISR members that are out of sync. NotAssignedReplica if one is not a known
        replica."""
        if (other := self.isr_member_without_replica) is not None:
            raise NotAssignedReplica(
                f"Replica with id {other} is not available on broker {self.broker}"
            )
        return [
            member
            for member in self.isr
            if member != self.broker
            and out_of_sync(
                self.follower_state(member).end,
                self.follower_state(member).last_caught_up,
                self.log_end,
                now_ms,
                self.lag_ms,
                self.release,
            )
        ]

    def follower_state(self, member: int) -> RemoteReplica:
        """The view of a follower; empty for an ISR member that is not a known replica."""
        return self.remotes.get(member) or RemoteReplica()

    async def maybe_shrink(self, now_ms: int) -> None:
        """The periodic check for lagging ISR members (``maybeShrinkIsr``)."""
        late = self.lagging(now_ms)
        if late:
            await self.shrink(late, now_ms)

    async def change(self, isr: tuple[int, ...], now_ms: int) -> None:
        """Change the ISR: at once when it is written, or when the controller agrees (2.7)."""
        if self.isr_requests is not None:
            self.pending = isr
            self._ask(isr)
        else:
            await self._write(isr, now_ms)

    def with_isr(self, isr: tuple[int, ...]) -> LeaderIsrAndControllerEpoch:
        """The state to register for another ISR; the leader epoch does not change (g.5)."""
        return LeaderIsrAndControllerEpoch(
            self.broker, self.leader_epoch, isr, self.controller_epoch, self.zk_version
        )

    def adopt(self, isr: tuple[int, ...], now_ms: int, updated: IsrUpdated) -> None:
        """Use the registered ISR; ``updated`` is reported before the high watermark rises."""
        self.expands += len(isr) > len(self.isr)
        self.shrinks += len(isr) < len(self.isr)
        self.isr = isr
        self.observer(updated)
        self.advance(now_ms)

    # The ISR, written to ZooKeeper (up to 2.6, and with an older inter.broker.protocol.version)

    async def _write(self, isr: tuple[int, ...], now_ms: int) -> None:
        """Write another ISR, under the version that is known; memory follows the write."""
        wanted, self.pending, generation = self.with_isr(isr), isr, self.generation
        try:
            version = await self.written(wanted)
        except (ZooKeeperError, MalformedZnode) as error:
            self.observer(IsrUpdateFailed(self.partition, isr, str(error)))
            return
        finally:
            self.pending = None
        if self.generation != generation:
            return  # its log directory failed meanwhile
        if version is None:
            self.failures += 1  # FailedIsrUpdatesPerSec
            self.observer(IsrUpdateRefused(self.partition, self.zk_version))
            return
        self.zk_version = version
        self.adopt(isr, now_ms, IsrUpdated(self.partition, isr, version, False, now_ms))

    async def written(self, wanted: LeaderIsrAndControllerEpoch) -> int | None:
        """The zkVersion of the registered state if it is this one; else None.

        A write that is refused may be one's own, whose answer was lost: then what is registered is
        what was wanted, and its version counts (KAFKA-1382).
        """
        client = self.client()
        updated = await client.update_states({self.partition: wanted})
        if self.partition in updated.done:
            return updated.done[self.partition].zk_version
        failure = updated.failed.get(self.partition)
        if failure is not None and not isinstance(failure, NoNode):
            raise failure
        there = await client.state(self.partition)
        if there is not None and there.with_zk_version(wanted.zk_version) == wanted:
            return there.zk_version
        return None

    # The ISR, asked of the controller (2.7)

    def _ask(self, isr: tuple[int, ...]) -> None:
        assert self.isr_requests is not None, "only who has a controller to ask does so"

        def answered(error: str, state: LeaderIsrAndControllerEpoch | None, now_ms: int) -> None:
            if state is None:
                self._refused(isr, error)
            elif state.leader_epoch == self.leader_epoch and state.zk_version > self.zk_version:
                self._agreed(state, now_ms)

        self.isr_requests.submit(self.partition, self.with_isr(isr), answered)

    def _refused(self, isr: tuple[int, ...], error: str) -> None:
        """Ask again, unless the error is permanent; then the change stays pending until the next
        LeaderAndIsr."""
        self.failures += 1
        gives_up = error in GIVES_UP
        self.observer(IsrRequestRefused(self.partition, isr, error, gives_up))
        if not gives_up:
            self._ask(isr)

    def _agreed(self, state: LeaderIsrAndControllerEpoch, now_ms: int) -> None:
        self.pending, self.zk_version = None, state.zk_version
        updated = IsrUpdated(self.partition, state.isr, state.zk_version, True, now_ms)
        self.adopt(state.isr, now_ms, updated)

    # The high watermark

    def advance(self, now_ms: int) -> None:
        """Raise the high watermark as far as possible."""
        if not self.leads:
            return
        before, reached = self.hw, self.next_high_watermark(now_ms)
        self.log.high_watermark = reached
        if reached > before:
            self.observer(HighWatermarkRaised(self.partition, before, reached))

    def next_high_watermark(self, now_ms: int) -> int:
        """The highest possible high watermark of a leader."""
        remotes = {
            one: (known.end, known.last_caught_up)
            for one, known in self.remotes.items()
            if one in self.replicas
        }
        return high_watermark(
            self.log_end, self.maximal_isr, remotes, now_ms, self.lag_ms, self.hw, self.release
        )

    # Plain data

    def memory(self) -> PartitionMemory:
        """Its state without the log, as a value."""
        return (
            self.replicas, self.leads, self.leader, self.leader_epoch, self.controller_epoch,
            self.zk_version, self.epoch_start, self.isr, self.pending, self.generation,
            tuple((one, known.memory()) for one, known in self.remotes.items()),
        )  # fmt: skip

    def recall(self, memory: PartitionMemory) -> None:
        """Restore what `memory` returned."""
        (
            self.replicas, self.leads, self.leader, self.leader_epoch, self.controller_epoch,
            self.zk_version, self.epoch_start, self.isr, self.pending, self.generation, remotes,
        ) = memory  # fmt: skip
        self.remotes = {one: RemoteReplica(*known) for one, known in remotes}

    # Consumers

    def list_offset(self, earliest: bool, for_consumer: bool) -> int | str:
        """ListOffsets: an offset, or OFFSET_NOT_AVAILABLE.

        A consumer does not get a high watermark that may be behind the last leader's (2.2).
        """
        if earliest:
            return self.log_start
        if not for_consumer:
            return self.log_end
        if self.hw_may_be_stale:
            return "OFFSET_NOT_AVAILABLE"
        return self.hw

    @property
    def hw_may_be_stale(self) -> bool:
        """Whether the high watermark is below this leader epoch's start (2.2)."""
        return self.hw < self.epoch_start and self.release.since("2.2")


def keeps_fetching(before: int, epoch: int, release: Release) -> bool:
    """Whether a follower of the same leader keeps its fetcher in ``epoch`` (f.2)."""
    if not release.since("2.0.1"):  # KAFKA-7164
        return True
    if not release.since("2.1"):
        return epoch in (before, before + 1)
    return epoch == before if not release.since("3.0") else epoch <= before
