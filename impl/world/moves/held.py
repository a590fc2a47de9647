"""What a world of moving partitions holds: ZooKeeper, controllers, brokers, and what is under way.

UpdateMetadata arrives when it is sent; LeaderAndIsr and StopReplica wait on their connection, one
from each controller to each broker.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import Any

from impl.core import answers
from impl.core.requests import LeaderAndIsr, PartitionOrder, Request, StopReplica
from impl.log import ReplicaLog
from impl.releases import DEFAULT, Release
from impl.world.moves.replica import MovedReplica
from impl.world.moves.steps import MOVED, STATE, MovingController
from impl.world.retold import KnownSession
from impl.znodes import BrokerInfo, LeaderIsrAndControllerEpoch, paths
from impl.znodes.client import ZnodeClient
from impl.zookeeper import EmbeddedSession, ZooKeeper
from impl.zookeeper.port import wait

FIRST_ALIKE = "2.3"
"""Before, requests carried no broker epoch, and replicas on dead brokers stayed where they were."""

NONE = answers.NONE
ELECTS = ("leading", "electing")
REPLACES = ("replacing", "discards")
KINDS = {paths.REASSIGN_PARTITIONS: "moves", STATE: "state"}
"""Path of a watch -> the event that it brings."""

Connection = tuple[int, int]
"""Controller epoch and target."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A request on its connection, and the newest leader epoch when it was sent.

    ``echo``: a LeaderAndIsr of a leader epoch that the connection has carried there already. It is
    refused for sure, and comes right after what is before it.
    """

    request: LeaderAndIsr | StopReplica
    epoch: int
    echo: bool = False


@dataclass(frozen=True, slots=True)
class Told:
    """What UpdateMetadata told a broker: who leads, who lives, and the controller's epoch."""

    leader: int = 0
    alive: tuple[int, ...] = ()
    controller: int = 0


class Host:
    """A broker: its replica, its log, and what controllers told it."""

    def __init__(self) -> None:
        self.log = ReplicaLog()
        self.replica: MovedReplica | None = None
        self.seen = 0
        self.told = Told()
        self.epoch = -1


class MovesHeld:
    """Brokers 1..N, registered, and no topic; ``most`` replicas in a list.

    ``version`` is a release from 2.3 on; ValueError for an older one.
    """

    def __init__(self, brokers: int = 2, most: int = 1, version: str = DEFAULT) -> None:
        self.release = Release.of(version)
        if not self.release.since(FIRST_ALIKE):
            raise ValueError(f"moves are stepped as since {FIRST_ALIKE}, not as in {version}")
        most = min(most, brokers)
        if brokers > 2 and most > 1:
            raise ValueError(
                f"of lists of {most} among {brokers} brokers two replicas may leave at once, of "
                "whom a controller tells in one round, and here one by one"
            )
        self.brokers = range(1, brokers + 1)
        self.lists = [
            ids for size in range(1, most + 1) for ids in permutations(self.brokers, size)
        ]
        self.zookeeper = ZooKeeper()
        self.admin = ZnodeClient(EmbeddedSession(self.zookeeper), self.release)
        for path in paths.persistent(self.release):
            wait(self.admin.make_path(path))
        wait(self.admin.make_path(paths.CONTROLLER_EPOCH, "0"))
        self.next_record = 0
        self.controllers: dict[int, MovingController] = {}
        self.connections: dict[Connection, tuple[Sent, ...]] = {}
        self.carried: dict[Connection, tuple[int, int]] = {}
        self.inbox = {broker: frozenset[str]() for broker in self.brokers}
        self.hosts = {broker: Host() for broker in self.brokers}
        for broker in self.brokers:
            session = EmbeddedSession(self.zookeeper).session
            self.controllers[broker] = MovingController(
                broker, self.zookeeper, session, self.release,
                lambda to, request, broker=broker: self._send(broker, to, request),  # type: ignore[misc]
            )  # fmt: skip
            self.hosts[broker].epoch = wait(
                self.client(broker).register_broker(
                    broker, BrokerInfo((f"PLAINTEXT://b{broker}:9092",), 0)
                )
            )

    def client(self, broker: int) -> ZnodeClient:
        """What a broker asks of ZooKeeper beside its controller."""
        session = self.controllers[broker].port.session
        return ZnodeClient(KnownSession(self.zookeeper, session), self.release)

    # What can be seen

    def state(self) -> LeaderIsrAndControllerEpoch | None:
        """The registered state of the partition."""
        return wait(self.admin.state(MOVED))

    def registered(self) -> LeaderIsrAndControllerEpoch:
        """The registered state of a partition that is there."""
        state = self.state()
        assert state is not None, "there is a topic"
        return state

    def acts(self, broker: int) -> str | None:
        """What the broker's controller is about to do; None if it is not in office."""
        one = self.controllers[broker]
        if one.unfinished is not None:
            return one.unfinished.label
        return "waits" if one.controller.active else None

    def reaches(self, broker: int) -> list[int]:
        """The brokers whose registration is the one that a controller knows."""
        known = self.controllers[broker].core.context.broker_epochs
        registered = wait(self.admin.brokers())
        return [one for one in known if one in registered and registered[one][1] == known[one]]

    def role(self, broker: int) -> str:
        """What a broker does for the partition."""
        replica = self.hosts[broker].replica
        return "none" if replica is None else replica.role

    # Requests on their way

    def _send(self, broker: int, to: int, request: Request) -> None:
        context = self.controllers[broker].core.context
        if to not in self.reaches(broker):
            return  # meant for an earlier registration: refused when it comes (KIP-380)
        if isinstance(request, LeaderAndIsr | StopReplica):
            known = context.leadership.get(MOVED)
            epoch = 0 if known is None else known.leader_epoch
            at, echo = (request.controller_epoch, to), False
            if isinstance(request, LeaderAndIsr):
                epoch = self._order(request).state.leader_epoch
                life, newest = self.carried.get(at, (-1, -1))
                echo = life == request.broker_epoch and epoch <= newest
                self.carried[at] = self.carried[at] if echo else (request.broker_epoch, epoch)
            self._keep(at, [*self.connections.get(at, ()), Sent(request, epoch, echo)])
            return
        host = self.hosts[to]
        newest = max(host.told.controller, host.seen)
        if answers.controller_epoch_error(request.controller_epoch, newest) == NONE:
            leader = host.told.leader
            for named in request.partitions.values():
                leader = named.state.leader
            host.told = Told(max(leader, 0), request.live_brokers, request.controller_epoch)

    @staticmethod
    def _order(request: LeaderAndIsr) -> PartitionOrder:
        return request.partitions[MOVED]

    # Brokers

    def _hosted(self, broker: int) -> MovedReplica:
        host = self.hosts[broker]
        if host.replica is None:
            host.replica = MovedReplica(broker, MOVED, host.log, self.release)
            host.replica.client = self.client(broker)
        return host.replica

    def replica(self, broker: int) -> MovedReplica:
        """A replica that is hosted."""
        replica = self.hosts[broker].replica
        assert replica is not None, "the broker hosts the partition"
        return replica

    def _obey(self, broker: int, request: LeaderAndIsr | StopReplica) -> None:
        host = self.hosts[broker]
        if answers.controller_epoch_error(request.controller_epoch, host.seen) != NONE:
            return
        host.seen = request.controller_epoch
        if isinstance(request, StopReplica):
            self._stop(host, request.partitions[MOVED].delete)
            return
        order = self._order(request)
        current = -1 if host.replica is None else host.replica.leader_epoch
        error = answers.leader_and_isr_error(
            current, order.state.leader_epoch, broker in order.replicas, False, self.release
        )
        if error == NONE:
            self._hosted(broker).take(order, self.brokers)

    @staticmethod
    def _stop(host: Host, delete: bool) -> None:
        if host.replica is not None:
            host.replica.stop()
        if delete:
            host.replica = None
            host.log.load(((), ()))

    def _keep(self, at: Connection, queue: list[Sent]) -> None:
        while queue and queue[0].echo:
            self._obey(at[1], queue.pop(0).request)
        if queue:
            self.connections[at] = tuple(queue)
        else:
            self.connections.pop(at, None)

    # Plain data

    def snapshot(self) -> Any:
        """The whole state as a value."""
        return (
            self.zookeeper.save(), tuple(one.save() for one in self.controllers.values()),
            dict(self.connections), dict(self.carried), dict(self.inbox), self.next_record,
            tuple(
                (one.log.save(), one.replica and one.replica.save(), one.seen, one.told, one.epoch)
                for one in self.hosts.values()
            ),
        )  # fmt: skip

    def restore(self, snapshot: Any) -> None:
        """Become what a snapshot says."""
        zookeeper, controllers, connections, carried, inbox, self.next_record, hosts = snapshot
        self.zookeeper.load(zookeeper)
        for one, saved in zip(self.controllers.values(), controllers, strict=True):
            one.load(saved)
        self.connections, self.inbox = dict(connections), dict(inbox)
        self.carried = dict(carried)
        for (broker, host), saved in zip(self.hosts.items(), hosts, strict=True):
            log, replica, host.seen, host.told, host.epoch = saved
            host.log.load(log)
            host.replica = None
            if replica is not None:
                self._hosted(broker).load(replica)
