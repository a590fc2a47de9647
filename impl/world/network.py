"""The network: requests in flight that may arrive in any order or not at all, as plain data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from impl.core.fetcher_thread import (
    EpochQuestion,
    EpochReply,
    FetchQuestion,
    FetchReply,
    FetchState,
)
from impl.core.request_batch import NO_BROKER_EPOCH, Round
from impl.core.requests import LeaderAndIsr, LeaderAndIsrPartitionState
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition

PARTITION = TopicPartition("t", 0)
"""The partition of a world of one."""

MOST_BYTES = 1
"""An answer to a fetch holds so much, or one record if that is larger."""


@dataclass(frozen=True, order=True, slots=True)
class LeaderAndIsrInFlight:
    """A LeaderAndIsr request of one partition on its way to its target, as plain data."""

    target: int
    version: int
    controller: int
    controller_epoch: int
    broker_epoch: int
    order: LeaderAndIsrPartitionState
    live_leaders: tuple[int, ...]

    @property
    def state(self) -> LeaderIsrAndControllerEpoch:
        """The partition state that the request carries."""
        return self.order.state

    @property
    def zk_version(self) -> int:
        """The version of that state."""
        return self.order.state.zk_version

    @property
    def key(self) -> tuple[int, int, int]:
        """(target, leader epoch, controller epoch): at most one such request is in flight."""
        return self.target, self.state.leader_epoch, self.controller_epoch

    @property
    def request(self) -> LeaderAndIsr:
        """The request itself."""
        return LeaderAndIsr(
            self.version, self.controller, self.controller_epoch, self.broker_epoch,
            {PARTITION: self.order}, self.live_leaders,
        )  # fmt: skip


def leader_and_isr_in(requests: Round) -> Iterator[LeaderAndIsrInFlight]:
    """The LeaderAndIsr requests of a round. Of the others nobody here needs to hear."""
    for target, request in requests:
        if isinstance(request, LeaderAndIsr):
            yield LeaderAndIsrInFlight(
                target, request.version, request.controller, request.controller_epoch,
                request.broker_epoch, request.partitions[PARTITION], request.live_leaders,
            )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fetch:
    """What is on a follower's connection to a leader: a question, and its answer once it is given.

    ``began`` is how the follower's fetcher stood when it asked. ``asked_in`` is for those who look
    on: the leader epoch that the follower was in, which up to 2.0 no question carried.
    """

    began: FetchState
    question: EpochQuestion | FetchQuestion
    reply: EpochReply | FetchReply | None = None
    asked_in: int | None = None

    @property
    def asks_epoch(self) -> bool:
        """OffsetForLeaderEpoch; else it is a fetch of records."""
        return isinstance(self.question, EpochQuestion)


SavedNetwork = tuple[
    tuple[LeaderAndIsrInFlight, ...], tuple[tuple[tuple[int, int], Fetch | None], ...]
]


class Network:
    """LeaderAndIsr requests by key, and one fetch slot for each (follower, leader).

    A slot holds what is on the connection, None where that is idle.
    """

    def __init__(self, brokers: tuple[int, ...]) -> None:
        self.leader_and_isr: dict[tuple[int, int, int], LeaderAndIsrInFlight] = {}
        self.fetch: dict[tuple[int, int], Fetch | None] = {
            (follower, leader): None
            for follower in brokers
            for leader in brokers
            if follower != leader
        }

    def send(self, request: LeaderAndIsrInFlight) -> None:
        """Put a LeaderAndIsr request in flight; its key must be free."""
        assert request.key not in self.leader_and_isr, f"in flight already: {request}"
        self.leader_and_isr[request.key] = request

    def take(self, key: tuple[int, int, int]) -> LeaderAndIsrInFlight:
        """Take a LeaderAndIsr request out of the network."""
        return self.leader_and_isr.pop(key)

    def discard_dead(self, target: int) -> None:
        """Drop the requests for a registration of the target that is over (KIP-380).

        Those of 2.1 and before name none, and reach whoever has the target's id.
        """
        for key, request in [*self.leader_and_isr.items()]:
            if key[0] == target and request.broker_epoch != NO_BROKER_EPOCH:
                del self.leader_and_isr[key]

    def disconnect(self, broker: int) -> None:
        """A process is gone: what it asked is moot, what it was asked gets no answer.

        An answer that it had sent before is still on its way.
        """
        for (follower, leader), slot in self.fetch.items():
            asked = slot is not None and slot.reply is None
            if follower == broker or (leader == broker and asked):
                self.fetch[follower, leader] = None

    def save(self) -> SavedNetwork:
        """Everything, as an immutable value."""
        requests = tuple(self.leader_and_isr[key] for key in sorted(self.leader_and_isr))
        return requests, tuple(self.fetch.items())

    def load(self, saved: SavedNetwork) -> None:
        """Become what was saved."""
        self.leader_and_isr = {request.key: request for request in saved[0]}
        self.fetch = dict(saved[1])
