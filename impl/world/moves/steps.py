"""A controller that moves partitions, put down before each write and each batch of requests.

As `put_down` has it for a topic's life: an event that is put down is kept as the memory that it
began with and the answers that it was given; to go on, it is done over, told again what it was
told, and sends nothing twice. What is added here: it may be put down after a look at the
partition's state that tells it something new, between that look and the write that it is for.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from impl.core.api import ControllerApi
from impl.core.event_controller import EventController
from impl.core.requests import Request
from impl.core.states import PartitionState, ReplicaState
from impl.releases import Release
from impl.world.retold import KnownSession
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition, paths
from impl.znodes.states import decode_state
from impl.zookeeper import Create, Op, SetData, ZooKeeper, ZooKeeperError
from impl.zookeeper.port import OpOutcome, wait
from impl.zookeeper.znode import Znode

T = TypeVar("T")

MOVED = TopicPartition("t", 0)
"""The partition that moves."""

STATE = paths.state(*MOVED)

LOOKS_FIRST = ("bumping", "leading", "leaving", "replacing", "electing", "removing")
"""Where what comes next is a write of the partition's state, which is looked at before."""


class PutDown(BaseException):
    """The event is put down here; no handler may stop it."""

    def __init__(self, label: str) -> None:
        super().__init__(label)
        self.label = label


class Unheard(BaseException):
    """A write of the state is done, and nobody heard of it; no handler may stop it."""


@dataclass(frozen=True, slots=True)
class Unfinished:
    """An event in the middle: how it began, what it was told, how far it came, what is next.

    ``target`` is what an administrator asked for (None: the way back), ``goal`` where the move goes
    that it has written, or is about to write.
    """

    event: str
    target: tuple[int, ...] | None
    began: Any
    answers: tuple[tuple[bool, Any], ...] = ()
    sent: int = 0
    passed: int = 0
    label: str = ""
    goal: tuple[int, ...] = ()


class MovingSession(KnownSession):
    """Gives the answers of before, then asks; knows the last state that it read or wrote."""

    def __init__(self, zookeeper: ZooKeeper, session: int, pause: Callable[[str], None]) -> None:
        super().__init__(zookeeper, session)
        self.before: list[tuple[bool, Any]] = []
        self.answers: list[tuple[bool, Any]] = []
        self.pause = pause
        self.stops_at_looks = self.loses = False
        self.label = ""
        self.seen: LeaderIsrAndControllerEpoch | None = None
        self.campaign = 0

    def get(self, path: str, watch: bool = False) -> Znode:
        """The znode; a look at the state that finds a newer one is a place to be put down."""
        told = bool(self.before)
        znode = wait(super().get(path, watch))
        if path == STATE and not told:
            new = self.seen is None or self.seen.zk_version != znode.version
            self.seen = decode_state(*MOVED, znode.data, znode.version)
            if new and self.stops_at_looks and self.label in LOOKS_FIRST:
                self.answers[-1] = (True, znode)
                self.pause(self.label)
        return znode

    def multi(self, ops: Sequence[Op]) -> list[OpOutcome]:
        """All of the operations or none; after the registration it may be put down."""
        told = bool(self.before)
        outcomes = wait(super().multi(ops))
        for op, outcome in zip(ops, outcomes, strict=True):
            if self.loses and not told and self._wrote(op, outcome):
                self.answers.pop()
                raise Unheard
            if self._wrote(op, outcome) and not told:
                assert isinstance(op, SetData), "a state is written by SetData"
                assert isinstance(outcome, int), "a state that is written has a version"
                self.seen = decode_state(*MOVED, op.data, outcome)
            elif isinstance(op, Create) and op.path == paths.CONTROLLER and outcome == op.path:
                self.campaign = next(int(one.data) for one in ops if isinstance(one, SetData))
                self.pause("campaign")
        return outcomes

    @staticmethod
    def _wrote(op: Op, outcome: OpOutcome) -> bool:
        return isinstance(op, SetData) and op.path == STATE and isinstance(outcome, int)

    def _ask(self, operation: Callable[[], T]) -> T:
        answer: Any
        if self.before:
            looked, answer = self.before.pop(0)
            if looked:
                self.pause(self.label)
        else:
            try:
                answer = super()._ask(operation)
            except ZooKeeperError as error:
                answer = error
            self.answers.append((False, answer))
        if isinstance(answer, ZooKeeperError):
            raise answer
        found: T = answer
        return found


class MovingController:
    """One broker's controller; `unfinished` is None between events.

    `send` gets each request once, with the newest leader epoch that the controller knows of.
    """

    def __init__(
        self,
        broker: int,
        zookeeper: ZooKeeper,
        session: int,
        release: Release,
        send: Callable[[int, Request], None],
    ) -> None:
        self.port = MovingSession(zookeeper, session, self._pause)
        self.send = send
        self.controller = EventController(broker, self.port, release, self._send)
        self.core, self.reassigner = self.controller.core, self.controller.reassigner
        self.api = ControllerApi(self.controller)
        self.unfinished: Unfinished | None = None
        self._passed = self._reached = self._sent = self._already = 0
        self._inside = self._finishes = self._replaces = self._is_asked = False
        self._goal: tuple[int, ...] = ()
        self._wrap()

    # Where it may be put down

    def _wrap(self) -> None:
        controller, moves, core = self.controller, self.reassigner, self.core
        controller.fail_over = self._at("reads_zookeeper", controller.fail_over)  # type: ignore[method-assign]
        core.partitions.handle = self._elections(core.partitions.handle)  # type: ignore[method-assign]
        core.replicas.handle = self._replicas(core.replicas.handle)  # type: ignore[method-assign]
        core.update_metadata_for = self._if_finishing("telling", core.update_metadata_for)  # type: ignore[method-assign]
        core.update_leader_epoch_and_send = self._at(  # type: ignore[method-assign]
            "bumping", core.update_leader_epoch_and_send
        )
        moves.begin = self._begins(moves.begin)  # type: ignore[method-assign]
        moves._write_assignment = self._writes(moves._write_assignment)  # type: ignore[method-assign]
        moves._move_leader = self._within("leading", moves._move_leader)  # type: ignore[method-assign]
        moves._drop = self._if_finishing("closing", moves._drop)  # type: ignore[method-assign]
        moves._finish = self._flagged("_finishes", moves._finish)  # type: ignore[method-assign]
        moves._complete = self._flagged("_finishes", moves._complete)  # type: ignore[method-assign]
        moves._stop_outside = self._flagged("_replaces", moves._stop_outside)  # type: ignore[method-assign]

    def _pause(self, label: str) -> None:
        self.port.label = label
        self._reached += 1
        if self._reached > self._passed:
            raise PutDown(label)

    @contextlib.contextmanager
    def _with(self, flag: str) -> Iterator[None]:
        before = getattr(self, flag)
        setattr(self, flag, True)
        try:
            yield
        finally:
            setattr(self, flag, before)

    def _at(self, label: str, act: Callable[..., T]) -> Callable[..., T]:
        def paused(*arguments: Any, **named: Any) -> T:
            if not self._inside:
                self._pause(label)
            return act(*arguments, **named)

        return paused

    def _begins(self, begin: Callable[..., bool]) -> Callable[..., bool]:
        def paused(partition: TopicPartition, target: Any) -> bool:
            if not self.core.context.assignment(partition).is_being_reassigned:
                self._pause("begins")
            return begin(partition, target)

        return paused

    def _within(self, label: str, act: Callable[..., T]) -> Callable[..., T]:
        def paused(*arguments: Any) -> T:
            self._pause(label)
            with self._with("_inside"):
                return act(*arguments)

        return paused

    def _flagged(self, flag: str, act: Callable[..., T]) -> Callable[..., T]:
        def flagged(*arguments: Any) -> T:
            with self._with(flag):
                return act(*arguments)

        return flagged

    def _if_finishing(self, label: str, act: Callable[..., T]) -> Callable[..., T]:
        def paused(*arguments: Any) -> T:
            if self._finishes:
                self._pause(label)
            return act(*arguments)

        return paused

    def _writes(self, act: Callable[..., T]) -> Callable[..., T]:
        def paused(partition: Any, assignment: Any) -> T:
            if self._finishes:
                self._pause("settling")
            else:
                self._goal = assignment.target
                if not self._is_asked:
                    self._pause("assigning")
            return act(partition, assignment)

        return paused

    def _elections(self, handle: Callable[..., T]) -> Callable[..., T]:
        def paused(partitions: Any, target: Any, *rest: Any) -> T:
            wanted = list(partitions)
            if wanted and target is PartitionState.ONLINE and not self._inside:
                self._pause("electing")
            return handle(wanted, target, *rest)

        return paused

    def _replicas(self, handle: Callable[..., T]) -> Callable[..., T]:
        def paused(replicas: Any, target: Any) -> T:
            wanted, label = list(replicas), ""
            if target is ReplicaState.ONLINE and self._finishes:
                label = "adopting" if self.core.context.leadership else ""
            elif target is ReplicaState.OFFLINE and wanted:
                moving = "leaving" if self._finishes else "removing"
                label = "replacing" if self._replaces else moving
            elif target is ReplicaState.DELETION_STARTED:
                label = "discards" if self._replaces else "deleting"
            if label:
                self._pause(label)
            return handle(wanted, target)

        return paused

    def _send(self, broker: int, request: Request) -> None:
        self._sent += 1
        if self._sent > self._already:
            self.send(broker, request)

    # Events

    def begin(self, event: str, target: tuple[int, ...] | None = None) -> None:
        """Begin an event, and go on with it until it is put down or over."""
        before = self.port.seen
        self._run(Unfinished(event, target, self.memory()), looks=False)
        if self.unfinished is None and event == "state":
            self.port.seen = before  # it looked, found the targets out of sync, and forgot it

    def go_on(self, looks: bool = False, unheard: bool = False) -> None:
        """Take it up again; with `looks` only to a look that finds something new, with `unheard`
        to its next write of the state, whose answer is lost: it will be sent again."""
        held = self.unfinished
        assert held is not None, "an event was put down"
        self.port.loses = unheard
        if looks and held.label == "leading" and held.answers[-1][0]:
            # It decides by what it reads: a read that is out of date by then was none.
            held = replace(held, answers=held.answers[:-1], passed=held.passed - 1)
        self.load_memory(held.began)
        self._run(
            Unfinished(
                held.event, held.target, held.began, held.answers, held.sent, held.passed + 1,
                held.label,
            ),
            looks,
        )  # fmt: skip

    def _act(self, event: Unfinished) -> None:
        one = self.controller
        match event.event:
            case "stands":
                wait(one.elect(0))
            case "moves":
                wait(one.guarded(one.reassignment_requested))
            case "state":
                wait(one.guarded(lambda: one.state_changed(STATE)))
            case "brokers":
                wait(one.guarded(one.brokers.changed))
            case "asked":
                wait(self.api.alter_reassignments({MOVED: event.target}))

    def _run(self, event: Unfinished, looks: bool) -> None:
        port, held = self.port, self.unfinished
        port.before, port.answers = list(event.answers), list(event.answers)
        port.stops_at_looks, port.label = looks, ""
        self._passed, self._reached = event.passed, 0
        self._already, self._sent = event.sent, 0
        self._inside = self._finishes = self._replaces = False
        self._is_asked, self._goal = event.event == "asked", ()
        try:
            self._act(event)
            self.unfinished = None
        except PutDown as down:
            self.unfinished = Unfinished(
                event.event, event.target, event.began, tuple(port.answers),
                self._most_sent(event), event.passed, down.label, self._goal,
            )  # fmt: skip
        except Unheard:
            assert held is not None, "an event was put down"
            self.unfinished = replace(
                held, answers=tuple(port.answers), sent=self._most_sent(event)
            )
        port.before, port.loses = [], False
        if not self.controller.active and (
            self.unfinished is None or self.unfinished.label != "campaign"
        ):
            port.seen = None

    def _most_sent(self, event: Unfinished) -> int:
        return max(self._sent, event.sent)

    def resign(self) -> None:
        """Out of office, whatever it was about to do."""
        wait(self.controller.resign())
        self.unfinished, self.port.seen = None, None

    # Plain data

    def memory(self) -> Any:
        """What the controller knows, as a value of its own."""
        context = {
            name: copy(value)
            for name, value in vars(self.core.context).items()
            if name not in ("journal", "assignments")
        }
        topics = {name: dict(one) for name, one in self.core.context.assignments.items()}
        return self.controller.active, context, topics, dict(self.reassigner.targets)

    def load_memory(self, memory: Any) -> None:
        """Know what was known."""
        self.controller.active, context, topics, targets = memory
        for name, value in context.items():
            setattr(self.core.context, name, copy(value))
        self.core.context.assignments = {name: dict(one) for name, one in topics.items()}
        self.reassigner.targets = dict(targets)
        self.core.batch.clear()
        self.core.partitions.trouble.clear()
        self.core.replicas.trouble.clear()

    def save(self) -> Any:
        """Everything, also in the middle of an event."""
        port = self.port
        return self.memory(), self.unfinished, port.campaign, port.seen, port.session

    def load(self, saved: Any) -> None:
        """Become what was saved."""
        memory, self.unfinished, *port = saved
        self.port.campaign, self.port.seen, self.port.session = port
        self.load_memory(memory)
