"""One partition that moves from its replicas to others, under controllers stepped write by write.

The controllers are those of a running broker, suspended by a grain (`grain`); the replicas are a
leader's partition and a follower's fetcher over a log in memory (`replica`). UpdateMetadata arrives
when it is sent; LeaderAndIsr and StopReplica wait on their connection, one from each controller to
each broker. Source: fact sheet b.5, e, f.2, g, j.
"""

from __future__ import annotations

from itertools import permutations
from typing import Any

from impl.core.partition_machine import OFFLINE
from impl.core.reassigner import Reassigner
from impl.core.requests import LeaderAndIsr, StopReplica
from impl.releases import DEFAULT, Release
from impl.sim.effects import Report, Send
from impl.sim.event_run import ControllerThread, Place
from impl.world.moves import brokers, controllers, faults
from impl.world.moves.grain import (
    FIRST_STEP,
    MOVED,
    STATE,
    electing,
    going_offline,
    is_before_write,
    reads_state,
    suspends,
    told_of_state,
    writes_state,
)
from impl.world.moves.hosts import Host, QueuedRequest
from impl.world.moves.kinds import MovesKind
from impl.world.moves.replica import MovedReplica
from impl.world.steps import Step, StepNotPossible
from impl.znodes import BrokerInfo, LeaderIsrAndControllerEpoch, paths
from impl.znodes.client import ZnodeClient
from impl.zookeeper import EmbeddedSession, ZooKeeper
from impl.zookeeper.port import wait

FIRST_ALIKE = "2.3"
"""Before, requests carried no broker epoch, and replicas on dead brokers stayed where they were."""

NEWS = {paths.REASSIGN_PARTITIONS: "moves", STATE: "state"}
"""Path of a watch -> the event that it brings."""

KINDS: dict[str, MovesKind] = {
    kind.name: kind
    for kind in sorted(
        (*controllers.KINDS, *brokers.KINDS, *faults.KINDS), key=lambda kind: kind.name
    )
}
"""Every step by name, sorted."""

Connection = tuple[int, int]
"""Controller epoch and target."""


class MovesWorld:
    """Brokers 1..N, registered, and no topic; ``most`` replicas in a list.

    ``has_other``: another partition is created with the one that moves, and may move with it.
    ``version`` is a release from 2.3 on; ValueError for an older one.
    """

    def __init__(
        self, brokers: int = 2, most: int = 1, version: str = DEFAULT, has_other: bool = False
    ) -> None:
        self.has_other = has_other
        self.release = Release.of(version)
        if not self.release.since(FIRST_ALIKE):
            raise ValueError(f"moves are stepped as since {FIRST_ALIKE}, not as in {version}")
        self.brokers = range(1, brokers + 1)
        self.lists = [
            ids
            for size in range(1, min(most, brokers) + 1)
            for ids in permutations(self.brokers, size)
        ]
        self.zookeeper = ZooKeeper()
        self.admin = ZnodeClient(EmbeddedSession(self.zookeeper), self.release)
        for path in paths.persistent(self.release):
            wait(self.admin.make_path(path))
        wait(self.admin.make_path(paths.CONTROLLER_EPOCH, "0"))
        self.next_record = 0
        self.connections: dict[Connection, tuple[QueuedRequest, ...]] = {}
        self.carried: dict[Connection, tuple[int, int]] = {}
        self.inbox = {broker: frozenset[str]() for broker in self.brokers}
        self.read: dict[int, LeaderIsrAndControllerEpoch | None] = dict.fromkeys(self.brokers)
        self.losing = self.refused = False
        self._saved: dict[int, Any] = dict.fromkeys(self.brokers)
        self.threads: dict[int, ControllerThread] = {}
        self.hosts: dict[int, Host] = {}
        for broker in self.brokers:
            self._start(broker)

    def _start(self, broker: int) -> None:
        session = EmbeddedSession(self.zookeeper)
        client = ZnodeClient(session, self.release)
        info = BrokerInfo((f"PLAINTEXT://b{broker}:9092",), 0)
        epoch = wait(client.register_broker(broker, info))
        self.threads[broker] = ControllerThread(
            broker, self.zookeeper, session.session, self.release, self._is_suspended,
            lambda effect: self._carry_out(broker, effect),
        )  # fmt: skip
        self.hosts[broker] = Host(broker, self.brokers, self.release, client, epoch)

    # Where controllers are suspended

    def _is_suspended(self, thread: ControllerThread, place: Place) -> bool:
        self._saved[thread.broker] = None
        told = told_of_state(place)
        if told is not None:
            news = self._is_news(thread.broker, told)
            self.read[thread.broker] = told
            if reads_state(place) and news and self._tells_it(thread, told):
                return True
        if writes_state(place):
            self.refused = place.is_done and told is None
            return self.losing
        if self.refused and reads_state(place):
            self.refused = False
            return False  # a write that is refused and the read that follows are one
        return suspends(thread, place)

    def _tells_it(self, thread: ControllerThread, state: LeaderIsrAndControllerEpoch) -> bool:
        """A read that told something new is followed by a write, which may come too late by then.

        A deposed controller's is fenced in any case. Where it was looked whether the targets have
        caught up nothing is written, nor where nobody can be elected, nor where a replica that goes
        offline is out of the ISR.
        """
        if self.deposed(thread.broker) or not is_before_write(thread):
            return False
        offline = going_offline(thread)
        if offline is not None:
            return offline.f_locals["broker"] in state.isr
        return electing(thread) is None or self.would_elect(thread.broker, state) is not None

    def loses_answer(self, broker: int) -> None:
        """A controller writes the state, and the answer is lost; it is about to write again."""
        thread, read = self.threads[broker], self.read[broker]
        self.losing = True
        if thread.place is not None and not writes_state(thread.place):
            thread.go_on()  # to the write
        thread.go_on()  # it is executed
        self.read[broker] = read
        thread.lose_answer()
        thread.go_on()  # and is about to be sent again
        self.losing = False

    # What can be seen

    def state(self) -> LeaderIsrAndControllerEpoch | None:
        """The registered state of the partition."""
        return wait(self.admin.state(MOVED))

    def registered(self) -> LeaderIsrAndControllerEpoch:
        """The registered state of a partition that is there."""
        state = self.state()
        assert state is not None, "there is a topic"
        return state

    def registered_isr(self) -> tuple[int, ...]:
        """The registered ISR; nobody's if there is no topic."""
        state = self.state()
        return () if state is None else state.isr

    def waits(self, broker: int) -> bool:
        """The broker's controller is the controller, and between two events."""
        thread = self.threads[broker]
        return thread.place is None and thread.controller.active

    def in_office(self, broker: int) -> bool:
        """It is the controller, or about to learn that it is."""
        thread = self.threads[broker]
        return thread.place is not None or thread.controller.active

    def takes_up_work(self, broker: int) -> bool:
        """It has learned that it is the controller, and read nothing yet."""
        place = self.threads[broker].place
        if place is None or not isinstance(place.effect, Report):
            return False
        return place.effect.event == "step" and place.effect.arguments[0] == FIRST_STEP

    def knows(self, broker: int) -> LeaderIsrAndControllerEpoch | None:
        """The state of the partition that a controller read or wrote last."""
        thread = self.threads[broker]
        read = None if thread.place is None else self.read[broker]
        return read or thread.controller.core.context.leadership.get(MOVED)

    def has_news(self, broker: int) -> bool:
        """The partition's state is another than the one that a controller knows."""
        return self._is_news(broker, self.registered())

    def _is_news(self, broker: int, state: LeaderIsrAndControllerEpoch) -> bool:
        known = self.knows(broker)
        return known is None or known.zk_version != state.zk_version

    def deposed(self, broker: int) -> bool:
        """A newer controller epoch was won than the one that a controller has."""
        newest = wait(self.admin.controller_epoch())
        return (
            newest is not None and newest.epoch > self.threads[broker].controller.core.context.epoch
        )

    def moves_leader(self, broker: int) -> bool:
        """A controller makes a target of the reassignment the leader."""
        return self.threads[broker].frame_of(Reassigner._move_leader) is not None

    def would_elect(self, broker: int, state: LeaderIsrAndControllerEpoch) -> int | None:
        """Whom a controller that is electing chooses by a state; None if nobody."""
        thread = self.threads[broker]
        frame = electing(thread)
        if frame is None:
            return None
        strategy = frame.f_locals["strategy"] or OFFLINE
        elected = thread.controller.core.partitions.choose(MOVED, state, strategy)
        return None if elected is None else elected.leader

    def reaches(self, broker: int) -> list[int]:
        """The brokers whose registration is the one that a controller knows."""
        known = self.threads[broker].controller.core.context.broker_epochs
        return [one for one, epoch in known.items() if self.hosts[one].epoch == epoch]

    def role(self, broker: int) -> str:
        """What a broker does for the partition."""
        return self.hosts[broker].role

    def replica(self, broker: int) -> MovedReplica:
        """A replica that is hosted."""
        replica = self.hosts[broker].replica
        assert replica is not None, "the broker hosts the partition"
        return replica

    # Requests on their way

    def _carry_out(self, broker: int, effect: Send | Report) -> None:
        if isinstance(effect, Report):
            return
        for to, request in effect.requests:
            if to not in self.reaches(broker):
                continue  # meant for an earlier registration: refused when it comes (KIP-380)
            if isinstance(request, LeaderAndIsr | StopReplica):
                if MOVED not in request.partitions:
                    continue  # the other partition's replicas are not told of here
                self._put(broker, to, request)
            else:
                self.hosts[to].learn(request)

    def _put(self, broker: int, to: int, request: LeaderAndIsr | StopReplica) -> None:
        known = self.threads[broker].controller.core.context.leadership.get(MOVED)
        epoch = 0 if known is None else known.leader_epoch
        at, echo = (request.controller_epoch, to), False
        if isinstance(request, LeaderAndIsr):
            epoch = request.partitions[MOVED].state.leader_epoch
            life, newest = self.carried.get(at, (-1, -1))
            echo = life == request.broker_epoch and epoch <= newest
            self.carried[at] = self.carried[at] if echo else (request.broker_epoch, epoch)
        self.keep(at, [*self.connections.get(at, ()), QueuedRequest(request, epoch, echo)])

    def keep(self, at: Connection, queue: list[QueuedRequest]) -> None:
        """What is under way on a connection; what comes right after it has come too."""
        while queue and queue[0].echo:
            self.hosts[at[1]].obey(queue.pop(0).request)
        if queue:
            self.connections[at] = tuple(queue)
        else:
            self.connections.pop(at, None)

    # Steps

    def enabled(self) -> list[Step]:
        """Every step that may be taken now, sorted by name and arguments."""
        return [
            Step(name, args)
            for name, kind in KINDS.items()
            for args in kind.candidates(self)
            if kind.refusal(self, *args) is None
        ]

    def why_not(self, step: Step) -> str | None:
        """The first condition of the step that does not hold, None if it may be taken."""
        kind = KINDS.get(step.name)
        if kind is None:
            return f"{step.name} is the name of a step"
        return kind.refusal(self, *step.args)

    def do(self, step: Step) -> None:
        """Take a step; StepNotPossible with the reason if it is not enabled."""
        reason = self.why_not(step)
        if reason is not None:
            raise StepNotPossible(step, reason)
        KINDS[step.name].act(self, *step.args)
        for broker, thread in self.threads.items():
            news = {NEWS[event.path] for event in thread.port.events() if event.path in NEWS}
            listens = self.in_office(broker)
            self.inbox[broker] = self.inbox[broker] | news if listens else frozenset()
            if thread.place is None:
                self.read[broker] = None

    # Plain data

    def snapshot(self) -> Any:
        """The whole state as a value."""
        return (
            self.zookeeper.save(), tuple(map(self._save, self.threads.values())),
            dict(self.connections), dict(self.carried), dict(self.inbox), dict(self.read),
            self.next_record, tuple(host.save() for host in self.hosts.values()),
        )  # fmt: skip

    def _save(self, thread: ControllerThread) -> Any:
        saved = self._saved[thread.broker]
        if saved is None:
            saved = self._saved[thread.broker] = thread.save()
        return saved

    def restore(self, snapshot: Any) -> None:
        """Become what a snapshot says."""
        zookeeper, threads, connections, carried, inbox, read, self.next_record, hosts = snapshot
        self.zookeeper.load(zookeeper)
        for thread, saved in zip(self.threads.values(), threads, strict=True):
            if saved is not self._saved[thread.broker]:  # else it has not run since
                thread.load(saved)
                self._saved[thread.broker] = saved
        self.connections, self.inbox = dict(connections), dict(inbox)
        self.carried, self.read = dict(carried), dict(read)
        for host, saved in zip(self.hosts.values(), hosts, strict=True):
            host.load(saved)
