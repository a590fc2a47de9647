"""A controller's event thread, put down before each read, write, decision and batch.

The code is that of a running broker (`EventController`). What it does is fixed by the memory that
an event began with and by what ZooKeeper answered; so an event that is put down is kept as these
two, and to go on with it is to do it over, told what it was told, as in
`impl.world.topics.put_down`. What the thread has on its stack where it was put down is kept beside,
for those who look on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from typing import Any, TypeVar

from impl.core.cluster_context import Replica
from impl.core.event_controller import EventController
from impl.core.partition_machine import OFFLINE as OFFLINE_ELECTION
from impl.core.requests import Request
from impl.core.states import PartitionState, ReplicaState
from impl.releases import Release
from impl.world.staged.session import RetellingSession
from impl.world.staged.stack import Machine, PutDown, Stack, Unfinished
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition
from impl.zookeeper import ConnectionLoss, ZooKeeper
from impl.zookeeper.port import OpOutcome, wait

T = TypeVar("T")


class EventThread:
    """One broker's controller; ``unfinished`` is None between two events.

    ``send`` gets each request once, when it is sent for the first time.
    """

    def __init__(
        self,
        broker: int,
        zookeeper: ZooKeeper,
        session: int,
        release: Release,
        send: Callable[[int, Request], None],
    ) -> None:
        self.broker = broker
        self.send = send
        self.stack = Stack()
        self.port = RetellingSession(zookeeper, session, self)
        self.controller = EventController(broker, self.port, release, self._send)
        self.core = self.controller.core
        self.unfinished: Unfinished | None = None
        self.campaign = 0
        self._passed = self._reached = self._sent = self._already = 0
        self._wrap()

    @property
    def label(self) -> str:
        """What it does next; empty between two events."""
        return self.stack.label if self.unfinished is not None else ""

    # Where it may be put down

    def pause(
        self, label: str, partition: TopicPartition | None = None, member: int = 0
    ) -> None:  # fmt: skip
        """Put the event down, unless it has been beyond this place already."""
        self._reached += 1
        if self._reached > self._passed:
            self.stack.label, self.stack.partition, self.stack.member = label, partition, member
            raise PutDown

    def before_reading(self, partition: TopicPartition) -> None:
        """A state machine is about to read a state."""
        self.pause("reads_state", partition)

    def has_read(self, partition: TopicPartition, state: LeaderIsrAndControllerEpoch) -> None:
        """It was told the state; what follows from that alone is the next step."""
        machine = self.stack.machine
        assert machine is not None, "a state machine reads"
        machine.read[partition] = state.zk_version
        if state.controller_epoch > self.core.context.epoch:
            self.pause("finds_newer", partition)
            self._is_settled(partition)
        elif not machine.elects and machine.replica not in state.isr:
            self.pause("finds_removed", partition, machine.replica)
            machine.found.add(partition)
            machine.written[partition] = state.zk_version
            self._is_settled(partition)

    def before_writing(self, partition: TopicPartition, state: LeaderIsrAndControllerEpoch) -> None:
        """It is about to write one."""
        machine = self.stack.machine
        assert machine is not None, "a state machine writes"
        if machine.elects:
            self.pause("elects", partition, state.leader)
        else:
            self.pause("removes", partition, machine.replica)

    def has_written(self, partition: TopicPartition, outcome: OpOutcome) -> None:
        """It has, or the state had changed and is read anew."""
        machine = self.stack.machine
        assert machine is not None, "a state machine writes"
        machine.read.pop(partition, None)
        if isinstance(outcome, int):
            machine.found.add(partition)
            machine.written[partition] = outcome
            self._is_settled(partition)

    def _is_settled(self, partition: TopicPartition) -> None:
        machine = self.stack.machine
        assert machine is not None, "a state machine is at work"
        machine.read.pop(partition, None)
        machine.todo.pop(partition, None)
        gone = Replica(partition, machine.replica)
        if not machine.elects and gone in self.stack.going:
            self.stack.going.remove(gone)

    def _wrap(self) -> None:
        core, controller, brokers = self.core, self.controller, self.controller.brokers
        for name in ("partitions", "replicas"):
            machine = getattr(core, name)
            machine.handle = self._machine(name, machine.handle)
        core.replicas.remove_from_isr = self._removal(core.replicas.remove_from_isr)  # type: ignore[method-assign]
        core.partitions.choose = self._choice(core.partitions.choose)  # type: ignore[method-assign]
        core.batch.send_requests = self._sending(core.batch.send_requests)  # type: ignore[method-assign,assignment]
        core.client.brokers = self._reading(core.client.brokers)  # type: ignore[method-assign]
        controller.fail_over = self._failover(controller.fail_over)  # type: ignore[method-assign]
        controller.elect = self._standing(controller.elect)  # type: ignore[method-assign,assignment]
        controller.preferred_election = self._preferring(controller.preferred_election)  # type: ignore[method-assign]
        controller.rebalance = self._rebalancing(controller.rebalance)  # type: ignore[method-assign]
        core.client.delete_preferred_election = self._cleaning(  # type: ignore[method-assign,assignment]
            core.client.delete_preferred_election
        )
        brokers.shut_down = self._leaving(brokers.shut_down)  # type: ignore[method-assign]
        brokers.started = self._starting(brokers.started)  # type: ignore[method-assign,assignment]
        brokers.failed = self._failing(brokers.failed)  # type: ignore[method-assign,assignment]
        brokers.replicas_offline = self._offline(brokers.replicas_offline)  # type: ignore[method-assign,assignment]

    def _machine(self, name: str, handle: Callable[..., Any]) -> Callable[..., Any]:
        def staged(elements: Iterable[Any], target: Any, strategy: Any = None) -> Any:
            wanted = list(elements)
            elects = target is PartitionState.ONLINE
            kind = (strategy or OFFLINE_ELECTION).kind.value if elects else ""
            todo = dict.fromkeys(sorted(wanted)) if elects else {}
            self.stack.machine = Machine(name, target, kind, todo, empty=not wanted)
            if target is PartitionState.OFFLINE:
                self.stack.leaderless = True
            if target is ReplicaState.OFFLINE and self.stack.is_within("failover"):
                self.stack.going = wanted.copy()
            rest = () if strategy is None else (strategy,)
            if not wanted and name == "replicas" and not self._goes_by_at_once():
                self._before_sending()
            outcome = handle(wanted, target, *rest)
            self.stack.machine = None
            return outcome

        return staged

    def _goes_by_at_once(self) -> bool:
        """Nothing is to go offline, and no batch is sent by itself to say so."""
        stack = self.stack
        return stack.is_within("leaving") or (stack.is_within("offline") and stack.leaderless)

    def _removal(self, remove: Callable[..., Any]) -> Callable[..., Any]:
        def staged(broker: int, partitions: list[TopicPartition]) -> Any:
            assert self.stack.machine is not None, "the replica machine removes"
            self.stack.machine.replica = broker
            return remove(broker, partitions)

        return staged

    def _choice(self, choose: Callable[..., Any]) -> Callable[..., Any]:
        def staged(partition: TopicPartition, *rest: Any) -> Any:
            elected = choose(partition, *rest)
            if elected is None:
                self.pause("finds_nobody", partition)
                self._is_settled(partition)
            return elected

        return staged

    def _sending(self, send_requests: Callable[[int], None]) -> Callable[[int], None]:
        def staged(epoch: int) -> None:
            self._before_sending()
            send_requests(epoch)

        return staged

    def _before_sending(self) -> None:
        label = self._batch()
        if label:
            self.pause(label)

    def _batch(self) -> str:
        """What the batch is that is about to go; empty where it goes with what was done before."""
        stack = self.stack
        machine = stack.machine
        if machine is None:
            if stack.is_within("started"):
                welcomed, stack.welcomed = stack.welcomed, True
                return "" if welcomed else "welcomes"
            if stack.is_within("offline"):
                return "notifies"
            if stack.is_within("leaving"):
                return "stops"
            return "announces" if stack.is_within("failover") else ""
        match machine.target:
            case PartitionState.ONLINE:
                unasked = stack.is_within("offline") or stack.is_within("leaving")
                return "" if machine.empty and unasked else "tells"
            case ReplicaState.ONLINE:
                if stack.is_within("failover"):
                    return "restores"
                return "instates" if stack.is_within("started") else ""
            case ReplicaState.OFFLINE:
                return "tells"
        return ""

    def _within(self, name: str, act: Callable[[], T]) -> T:
        self.stack.within.append(name)
        outcome = act()
        self.stack.within.remove(name)
        return outcome

    def _reading(self, brokers: Callable[..., Any]) -> Callable[..., Any]:
        def staged(watch: bool = False) -> Any:
            found = brokers(watch)
            self.stack.epochs = {one: epoch for one, (_, epoch) in found.items()}
            return found

        return staged

    def _standing(self, elect: Callable[[int], bool]) -> Callable[[int], bool]:
        def staged(now_ms: int) -> bool:
            if self.stack.is_within("change"):
                return False  # to stand is a step of its own
            return elect(now_ms)

        return staged

    def _preferring(self, elect: Callable[[], None]) -> Callable[[], None]:
        def staged() -> None:
            if not self.stack.is_within("failover"):  # there it is an event, put before all others
                self._within("preferring", elect)

        return staged

    def _rebalancing(self, rebalance: Callable[[], None]) -> Callable[[], None]:
        return lambda: self._within("rebalancing", rebalance)

    def _cleaning(self, delete: Callable[[int], None]) -> Callable[[int], None]:
        def staged(epoch_version: int) -> None:
            self.pause("cleans")
            delete(epoch_version)

        return staged

    def _leaving(
        self, shut_down: Callable[..., list[TopicPartition]]
    ) -> Callable[..., list[TopicPartition]]:
        def staged(broker: int, epoch: int = -1) -> list[TopicPartition]:
            context = self.core.context
            self.stack.subject = broker
            self.stack.going = [
                one
                for one in context.replicas_on([broker])
                if one.partition in context.leadership
                and context.leadership[one.partition].leader != broker
            ]
            left = self._within("leaving", lambda: shut_down(broker, epoch))
            self.pause("answers")
            return left

        return staged

    def _failover(self, fail_over: Callable[[], None]) -> Callable[[], None]:
        def staged() -> None:
            self.pause("reads_context")
            self._within("failover", fail_over)

        return staged

    def _starting(self, started: Callable[[list[int]], None]) -> Callable[[list[int]], None]:
        def staged(brokers: list[int]) -> None:
            self.stack.started, self.stack.welcomed = tuple(brokers), False
            self.stack.part = self.stack.part or "new"
            self._within("started", lambda: started(brokers))
            self.stack.started = ()

        return staged

    def _failing(self, failed: Callable[[list[int]], None]) -> Callable[[list[int]], None]:
        def staged(brokers: list[int]) -> None:
            change = self.controller.brokers.last_change
            bounced = brokers == change["bounced"] and self.stack.part != "bounced"
            self.stack.failing = tuple(brokers)
            if self.stack.part:
                self.pause("compares", member=1 if bounced else 0)
            self.stack.part = "bounced" if bounced else "dead"
            self.stack.started = tuple(brokers) if bounced else ()
            failed(brokers)
            self.stack.failing = ()

        return staged

    def _offline(self, offline: Callable[[list[Replica]], None]) -> Callable[[list[Replica]], None]:
        def staged(replicas: list[Replica]) -> None:
            self.stack.going, self.stack.leaderless = list(replicas), False
            self._within("offline", lambda: offline(replicas))

        return staged

    def _send(self, broker: int, request: Request) -> None:
        self._sent += 1
        if self._sent > self._already:
            self.send(broker, request)

    # Events

    def controller_changed(self) -> None:
        """`ControllerChange`; to stand for election is left to a step of its own."""
        wait(self._within("change", lambda: wait(self.controller.controller_changed(0))))

    def begin(self, event: Callable[[], object]) -> None:
        """Begin an event, and go on with it until it is put down or over."""
        self._run(Unfinished(event, self.memory(), (), 0, 0))

    def go_on(self) -> None:
        """Take it up again."""
        held = self.unfinished
        assert held is not None, "an event was put down"
        self.load_memory(held.began)
        self._run(Unfinished(held.event, held.began, held.answers, held.sent, held.passed + 1))

    def lose_reply(self) -> None:
        """The connection breaks: what ZooKeeper answered last, the broker will not hear."""
        held = self.unfinished
        assert held is not None, "an event was put down"
        lost = (*held.answers[:-1], ConnectionLoss("the connection broke before the reply came"))
        self.unfinished = Unfinished(held.event, held.began, lost, held.sent, held.passed)

    @property
    def reply_is_lost(self) -> bool:
        """The registration was executed, and its answer was lost."""
        held = self.unfinished
        return held is not None and isinstance(held.answers[-1], ConnectionLoss)

    def forget(self) -> None:
        """The process, or the office, is over: so is the event."""
        self.unfinished, self.campaign, self.stack = None, 0, Stack()

    def _run(self, event: Unfinished) -> None:
        port = self.port
        port.before, port.answers = list(event.answers), list(event.answers)
        self._passed, self._reached = event.passed, 0
        self._already, self._sent = event.sent, 0
        self.stack = Stack()
        try:
            event.event()
            self.forget()
        except PutDown:
            self.unfinished = Unfinished(
                event.event, event.began, tuple(port.answers), max(self._sent, event.sent),
                event.passed,
            )  # fmt: skip
        port.before = []

    # Plain data

    def memory(self) -> Any:
        """What the controller knows, as a value of its own."""
        context = {
            name: copy(value)
            for name, value in vars(self.core.context).items()
            if name not in ("journal", "assignments", "offline_directories")
        }
        known = self.core.context
        topics = {name: dict(one) for name, one in known.assignments.items()}
        offline = {broker: set(one) for broker, one in known.offline_directories.items()}
        return self.controller.active, context, topics, offline

    def load_memory(self, memory: Any) -> None:
        """Know what was known."""
        self.controller.active, context, topics, offline = memory
        for name, value in context.items():
            setattr(self.core.context, name, copy(value))
        self.core.context.assignments = {name: dict(one) for name, one in topics.items()}
        self.core.context.offline_directories = {one: set(at) for one, at in offline.items()}
        self.core.batch.clear()
        self.core.partitions.trouble.clear()
        self.core.replicas.trouble.clear()
