"""A controller that can be put down between two batches of one event, and taken up again.

An event is one call of `EventController`, which reads, moves states, writes and sends in batches;
between two of them its process may die and others act. What it does is fixed by the memory that it
began with and by what ZooKeeper answered. So an event that is put down is kept as these two: to go
on with it, it is done over from that memory, told again what it was told, and sends nothing twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, TypeVar

from impl.controller.event_controller import EventController
from impl.controller.requests import Request
from impl.controller.states import PartitionState, ReplicaState
from impl.releases import Release
from impl.world.retold import KnownSession
from impl.znodes import paths
from impl.zookeeper import Create, Delete, Op, SetData, ZooKeeper, ZooKeeperError
from impl.zookeeper.port import OpOutcome

T = TypeVar("T")
STATE_NODE = re.compile(r"/brokers/topics/[^/]+/partitions/\d+/state")

BATCHES = {
    ("partitions", PartitionState.NEW): "makes_partitions",
    ("replicas", ReplicaState.NEW): "makes_replicas",
    ("partitions", PartitionState.ONLINE): "elects_new",
    ("replicas", ReplicaState.ONLINE): "enlists",
    ("replicas", ReplicaState.OFFLINE): "stops",
    ("replicas", ReplicaState.DELETION_STARTED): "deletes",
}
"""Machine and target of a batch -> what the controller is about to do when it is put down there."""

EVENTS: dict[str, Callable[[EventController, str], object]] = {
    "stands": lambda one, topic: one.elect(0),
    "topics": lambda one, topic: one.guarded(one.topics_changed),
    "partitions": lambda one, topic: one.guarded(lambda: one.partitions_changed(topic)),
    "deletions": lambda one, topic: one.guarded(one.deletion_requested),
}
"""Events by name; what brokers answer is an event of its own."""


class PutDown(BaseException):
    """The event is put down here; no handler may stop it."""

    def __init__(self, label: str) -> None:
        super().__init__(label)
        self.label = label


@dataclass(frozen=True, slots=True)
class Unfinished:
    """An event in the middle: how it began, what it was told, how far it came."""

    event: str
    topic: str
    deleted: tuple[Any, ...]
    began: Any
    answers: tuple[tuple[str, Any], ...]
    sent: int
    passed: int
    label: str


class _Session(KnownSession):
    """Gives the answers of before, then asks; tells the controller where it may be put down."""

    def __init__(self, zookeeper: ZooKeeper, session: int) -> None:
        super().__init__(zookeeper, session)
        self.before: list[tuple[str, Any]] = []
        self.answers: list[tuple[str, Any]] = []
        self.listed = ""
        self.removed: set[str] = set()
        self.pause: Callable[[str], None] = lambda label: None
        self.campaign = 0

    def children(self, path: str, watch: bool = False) -> list[str]:
        """The children's names; which ones were asked for is kept with the answer."""
        self.listed = path
        return super().children(path, watch)

    def multi(self, ops: Sequence[Op]) -> list[OpOutcome]:
        """All of the operations or none, and a place to be put down before or after."""
        for op in ops:
            if isinstance(op, Delete):
                self._before(op.path)
        outcomes = super().multi(ops)
        if any(isinstance(op, Create) and op.path == paths.CONTROLLER for op in ops):
            self.campaign = next(int(op.data) for op in ops if isinstance(op, SetData))
            self.pause("campaign")
        return outcomes

    def _before(self, path: str) -> None:
        parent, _, name = path.rpartition("/")
        bare = parent == paths.TOPICS and f"{path}/partitions" not in self.removed
        if bare or name == "partitions" or STATE_NODE.fullmatch(path):
            self.pause("unregisters")
        elif path.startswith(f"{paths.CONFIG}/"):
            self.pause("removes_request")
        self.removed.add(path)

    def _ask(self, operation: Callable[[], T]) -> T:
        listed, self.listed = self.listed, ""
        answer: Any
        if self.before:
            answer = self.before.pop(0)[1]
        else:
            try:
                answer = super()._ask(operation)
            except ZooKeeperError as error:
                answer = error
            self.answers.append((listed, answer))
        if isinstance(answer, ZooKeeperError):
            raise answer
        found: T = answer
        return found


class SteppedController:
    """One broker's controller, put down before each batch; `unfinished` is None between events.

    `send` gets each request once, when it is sent for the first time.
    """

    def __init__(
        self,
        broker: int,
        zookeeper: ZooKeeper,
        session: int,
        release: Release,
        send: Callable[[int, Request], None],
    ) -> None:
        self.port = _Session(zookeeper, session)
        self.port.pause = self._pause
        self.send = send
        self.controller = EventController(broker, self.port, release, self._send)
        self.core = self.controller.core
        self.unfinished: Unfinished | None = None
        self._passed = self._reached = self._sent = self._already = 0
        self._inside = False
        self._wrap()

    # Where it may be put down

    def _wrap(self) -> None:
        core, controller = self.core, self.controller
        for name in ("partitions", "replicas"):
            machine = getattr(core, name)
            machine.handle = self._batch(name, machine.handle)
            machine.startup = self._whole(f"starts_{name}", machine.startup)
        controller.fail_over = self._before("reads_zookeeper", controller.fail_over)  # type: ignore[method-assign]
        core.deletion.resume = self._resume(core.deletion.resume)  # type: ignore[method-assign]

    def _pause(self, label: str) -> None:
        self._reached += 1
        if self._reached > self._passed:
            raise PutDown(label)

    def _before(self, label: str, act: Callable[[], None]) -> Callable[[], None]:
        def paused() -> None:
            self._pause(label)
            act()

        return paused

    def _whole(self, label: str, act: Callable[[], None]) -> Callable[[], None]:
        def paused() -> None:
            self._pause(label)
            self._inside = True
            act()
            self._inside = False

        return paused

    def _batch(self, machine: str, handle: Callable[..., Any]) -> Callable[..., Any]:
        def paused(elements: Any, target: Any, *rest: Any) -> Any:
            label = BATCHES.get((machine, target))
            if label is not None and not self._inside:
                self._pause(label)
            return handle(elements, target, *rest)

        return paused

    def _resume(self, resume: Callable[[], None]) -> Callable[[], None]:
        def paused() -> None:
            if self.core.context.queued_for_deletion:
                self._pause("resumes")
            resume()

        return paused

    def _send(self, broker: int, request: Request) -> None:
        self._sent += 1
        if self._sent > self._already:
            self.send(broker, request)

    # Events

    def begin(self, event: str, topic: str = "", deleted: Sequence[Any] = ()) -> None:
        """Begin an event, and go on with it until it is put down or over."""
        began = self.memory()
        self._run(Unfinished(event, topic, tuple(deleted), began, (), 0, 0, ""))

    def go_on(self, first: int | None = None) -> None:
        """Take it up again; `first` names the partition whose node is removed next.

        ZooKeeper lists children in any order, and it is in that order that they are removed.
        """
        held = self.unfinished
        assert held is not None, "an event was put down"
        self.load_memory(held.began)
        answers = held.answers if first is None else self._in_order(held.answers, str(first))
        self._run(Unfinished(
            held.event, held.topic, held.deleted, held.began, answers, held.sent,
            held.passed + 1, held.label,
        ))  # fmt: skip

    def _in_order(self, answers: tuple[Any, ...], first: str) -> tuple[Any, ...]:
        listing = paths.partitions(self.topic)
        there = self.port.zookeeper.nodes
        found = []
        for path, names in answers:
            if path == listing:
                gone = [one for one in names if f"{listing}/{one}/state" not in there]
                rest = [one for one in names if one not in (*gone, first)]
                names = [*gone, first, *rest]
            found.append((path, names))
        return tuple(found)

    @property
    def topic(self) -> str:
        """The topic whose deletion is under way."""
        return min(self.core.context.queued_for_deletion)

    def _run(self, event: Unfinished) -> None:
        port = self.port
        port.before, port.answers = list(event.answers), list(event.answers)
        port.removed = set()
        self._passed, self._reached = event.passed, 0
        self._already, self._sent, self._inside = event.sent, 0, False
        try:
            if event.deleted:
                self.controller.guarded(lambda: self.core.deletion.replicas_deleted(event.deleted))
            else:
                EVENTS[event.event](self.controller, event.topic)
            self.unfinished = None
        except PutDown as down:
            self.unfinished = Unfinished(
                event.event, event.topic, event.deleted, event.began, tuple(port.answers),
                max(self._sent, event.sent), event.passed, down.label,
            )  # fmt: skip
        port.before = []

    # Plain data

    def memory(self) -> Any:
        """What the controller knows, as a value of its own."""
        context = {
            name: copy(value)
            for name, value in vars(self.core.context).items()
            if name not in ("journal", "assignments")
        }
        topics = {name: dict(one) for name, one in self.core.context.assignments.items()}
        return self.controller.active, context, topics

    def load_memory(self, memory: Any) -> None:
        """Know what was known."""
        self.controller.active, context, topics = memory
        for name, value in context.items():
            setattr(self.core.context, name, copy(value))
        self.core.context.assignments = {name: dict(one) for name, one in topics.items()}
        self.core.batch.clear()
        self.core.partitions.trouble.clear()
        self.core.replicas.trouble.clear()

    def save(self) -> Any:
        """Everything, also in the middle of an event."""
        return self.memory(), self.unfinished, self.port.campaign

    def load(self, saved: Any) -> None:
        """Become what was saved."""
        memory, self.unfinished, self.port.campaign = saved
        self.load_memory(memory)
