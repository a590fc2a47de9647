"""One partition on one broker: role, view of the ISR, high watermark (``Partition``)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from impl.log import ReplicaLog
from impl.requests import LeaderAndIsrRequest
from impl.zookeeper import NO_LEADER, PartitionState

UNKNOWN_END = -1
"""``LogOffsetMetadata.UnknownOffset``: the follower has not fetched since this epoch began."""

NONE_YET = -1


class Role(Enum):
    """What a broker does for the partition; NONE until the first LeaderAndIsr is applied."""

    NONE = "none"
    LEADER = "leader"
    FOLLOWER = "follower"


@dataclass(frozen=True, slots=True)
class IsrWrite:
    """A leader's write of the ISR that ZooKeeper has answered, and the leader has not heard.

    ``version`` is the zkVersion that the write got, None if it was refused.
    """

    state: PartitionState
    version: int | None


SavedPartition = tuple[
    Role,
    int,
    int,
    tuple[int, ...],
    int,
    int,
    int,
    tuple[tuple[int, int], ...],
    bool,
    IsrWrite | None,
]


class Partition:
    """The memory of one replica, lost when its process crashes; the log is not part of it.

    Epochs, versions and offsets are -1 while there are none. ``known_end`` holds, at a leader, the
    log end offset of each other replica as of its last fetch. ``min_insync_replicas`` is the
    topic's configuration, here Kafka's default.
    """

    min_insync_replicas = 1

    def __init__(self, broker: int, assignment: tuple[int, ...], log: ReplicaLog, hw: int) -> None:
        self.broker = broker
        self.others = tuple(replica for replica in assignment if replica != broker)
        self.log = log
        self.hw = hw
        self.role = Role.NONE
        self.leader = NO_LEADER
        self.leader_epoch = NONE_YET
        self.isr: tuple[int, ...] = ()
        self.zk_version = NONE_YET
        self.epoch_start = NONE_YET
        self.known_end: dict[int, int] = dict.fromkeys(self.others, UNKNOWN_END)
        self.truncating = False
        self.isr_write: IsrWrite | None = None

    @property
    def locked(self) -> bool:
        """``leaderIsrUpdateLock`` is held: an ISR write waits for its answer, and all else for it.

        Appends, fetches, epoch questions and the high watermark read under it; makeLeader and
        makeFollower write under it.
        """
        return self.isr_write is not None

    @property
    def leads(self) -> bool:
        """The replica believes that it leads."""
        return self.role is Role.LEADER

    # LeaderAndIsr

    def make_leader(self, request: LeaderAndIsrRequest) -> None:
        """Lead from the log end in the request's epoch; what others have is unknown again."""
        state = request.state
        self._adopt(request, Role.LEADER)
        self.isr = state.isr
        self.epoch_start = self.log.end
        self.log.epochs.assign(state.leader_epoch, self.log.end)

    def make_follower(self, request: LeaderAndIsrRequest) -> None:
        """Follow in the request's epoch; a log that is not empty must be compared first."""
        self._adopt(request, Role.FOLLOWER)
        self.isr = ()
        self.epoch_start = NONE_YET
        self.truncating = self.log.end > 0

    def _adopt(self, request: LeaderAndIsrRequest, role: Role) -> None:
        self.role = role
        self.leader = request.state.leader
        self.leader_epoch = request.state.leader_epoch
        self.zk_version = request.zk_version
        self.known_end = dict.fromkeys(self.others, UNKNOWN_END)
        self.truncating = False

    # The high watermark

    def end_of(self, replica: int) -> int:
        """The log end offset of a replica, as far as this one knows."""
        return self.log.end if replica == self.broker else self.known_end[replica]

    def high_watermark_candidate(self) -> int:
        """The least log end offset in the ISR; an unknown one (-1) holds everything back."""
        return min(self.end_of(replica) for replica in self.isr)

    def advance_high_watermark(self) -> None:
        """Raise the high watermark to the candidate; it never falls here."""
        self.hw = max(self.hw, self.high_watermark_candidate())

    # The ISR

    @property
    def is_under_min_isr(self) -> bool:
        """Too few members, the leader included, for a record with acks=all."""
        return len(self.isr) < self.min_insync_replicas

    def lags(self, replica: int) -> bool:
        """An ISR member whose known end is not the leader's own (2.1+; the time is a step)."""
        return replica != self.broker and self.end_of(replica) != self.log.end

    def may_join(self, replica: int) -> bool:
        """A replica outside the ISR that holds what is committed, and this epoch's start.

        The second condition is KAFKA-7128 (2.0+): without it a replica may join that has not seen
        the records which this leader brought along.
        """
        end = self.end_of(replica)
        return end >= self.hw and end >= self.epoch_start

    def state_with(self, isr: tuple[int, ...], controller_epoch: int) -> PartitionState:
        """What a leader writes to ZooKeeper for another ISR; its leader epoch does not change."""
        return PartitionState(self.broker, self.leader_epoch, isr, controller_epoch)

    def adopt_isr(self, isr: tuple[int, ...], version: int) -> None:
        """The conditional write went through, and the leader has heard of it."""
        self.isr = isr
        self.zk_version = version
        self.isr_write = None

    # Plain data

    def save(self) -> SavedPartition:
        """Everything but the log, as an immutable value."""
        return (
            self.role,
            self.leader,
            self.leader_epoch,
            self.isr,
            self.zk_version,
            self.epoch_start,
            self.hw,
            tuple(self.known_end.items()),
            self.truncating,
            self.isr_write,
        )

    def load(self, saved: SavedPartition) -> None:
        """Become what was saved."""
        (
            self.role,
            self.leader,
            self.leader_epoch,
            self.isr,
            self.zk_version,
            self.epoch_start,
            self.hw,
            known_end,
            self.truncating,
            self.isr_write,
        ) = saved
        self.known_end = dict(known_end)
