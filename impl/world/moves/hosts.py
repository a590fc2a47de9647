"""A broker of a world of moving partitions: its replica, its log, and how it obeys requests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from impl.core import answers
from impl.core.requests import LeaderAndIsr, StopReplica, UpdateMetadata
from impl.log import ReplicaLog
from impl.releases import Release
from impl.world.moves.grain import MOVED
from impl.world.moves.replica import MovedReplica
from impl.znodes.client import ZnodeClient

NONE = answers.NONE


@dataclass(frozen=True, slots=True)
class QueuedRequest:
    """A request on its connection, and the newest leader epoch when it was sent.

    ``echo``: a LeaderAndIsr of a leader epoch that the connection has carried there already. It is
    refused for sure, and comes right after what is before it.
    """

    request: LeaderAndIsr | StopReplica
    epoch: int
    echo: bool = False


@dataclass(frozen=True, slots=True)
class Metadata:
    """What UpdateMetadata told a broker: who leads, who lives, and the controller's epoch."""

    leader: int = 0
    alive: tuple[int, ...] = ()
    controller: int = 0


class Host:
    """A broker; ``client`` is what it asks of ZooKeeper beside its controller.

    ``seen`` is the newest controller epoch of a LeaderAndIsr or StopReplica, ``epoch`` that of its
    registration.
    """

    def __init__(
        self, broker: int, brokers: range, release: Release, client: ZnodeClient, epoch: int
    ) -> None:
        self.broker, self.brokers, self.release = broker, brokers, release
        self.client, self.epoch = client, epoch
        self.log = ReplicaLog()
        self.replica: MovedReplica | None = None
        self.seen = 0
        self.metadata = Metadata()

    @property
    def role(self) -> str:
        """What it does for the partition."""
        return "none" if self.replica is None else self.replica.role

    def hosted(self) -> MovedReplica:
        """The replica, which begins here if there is none."""
        if self.replica is None:
            self.replica = MovedReplica(self.broker, MOVED, self.log, self.release)
            self.replica.client = lambda: self.client
        return self.replica

    # Requests

    def obey(self, request: LeaderAndIsr | StopReplica) -> None:
        """Do what a controller says, unless it is an older one."""
        if answers.controller_epoch_error(request.controller_epoch, self.seen) != NONE:
            return
        self.seen = request.controller_epoch
        if isinstance(request, StopReplica):
            self._stop(request.partitions[MOVED].delete)
            return
        order = request.partitions[MOVED]
        current = -1 if self.replica is None else self.replica.leader_epoch
        error = answers.leader_and_isr_error(
            current, order.state.leader_epoch, self.broker in order.replicas, False, self.release
        )
        if error == NONE:
            self.hosted().take(order, self.brokers)

    def _stop(self, delete: bool) -> None:
        if self.replica is not None:
            self.replica.stop()
        if delete:
            self.replica = None
            self.log.load(((), ()))

    def learn(self, request: UpdateMetadata) -> None:
        """Note who leads and who lives, unless an older controller says so."""
        newest = max(self.metadata.controller, self.seen)
        if answers.controller_epoch_error(request.controller_epoch, newest) != NONE:
            return
        leader = self.metadata.leader
        if MOVED in request.partitions:
            leader = request.partitions[MOVED].state.leader
        epoch = request.controller_epoch
        self.metadata = Metadata(max(leader, 0), request.live_brokers, epoch)

    # Plain data

    def save(self) -> Any:
        """Everything, as a value."""
        replica = self.replica and self.replica.save()
        return self.log.save(), replica, self.seen, self.metadata, self.epoch

    def load(self, saved: Any) -> None:
        """Become what was saved."""
        log, replica, self.seen, self.metadata, self.epoch = saved
        self.log.load(log)
        self.replica = None
        if replica is not None:
            self.hosted().load(replica)
