"""A controller that can be put down between two batches of one event, and taken up again.

An event is one call of `EventController`, which reads, moves states, writes and sends in batches;
between two of them its process may die and others act. What it does is fixed by the memory that it
began with and by what ZooKeeper answered. So an event that is put down is kept as these two: to go
on with it, it is done over from that memory, told again what it was told, and sends nothing twice.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

from impl.core.event_controller import EventController
from impl.core.requests import Request
from impl.core.states import PartitionState, ReplicaState
from impl.releases import Release
from impl.world.topics.put_down_session import CAMPAIGN, REFUSED, WRITE, PausingSession, PutDown
from impl.znodes import paths
from impl.zookeeper import ConnectionLoss, ZooKeeper
from impl.zookeeper.port import wait

__all__ = ["CAMPAIGN", "REFUSED", "RETURNS", "WRITE", "SteppedController"]

RETURNS = "starts_returned"
"""Who failed in this event had registered anew, and is taken for started in the next."""

MUTE = sys.maxsize
"""So many requests were sent already: none goes out while a batch is in its middle."""

BATCHES = {
    ("partitions", PartitionState.NEW): "makes_partitions",
    ("replicas", ReplicaState.NEW): "makes_replicas",
    ("partitions", PartitionState.ONLINE): "elects_new",
    ("replicas", ReplicaState.ONLINE): "enlists",
    ("replicas", ReplicaState.OFFLINE): "stops",
    ("replicas", ReplicaState.DELETION_STARTED): "deletes",
}
"""Machine and target of a batch -> what the controller is about to do when it is put down there."""

EVENTS: dict[str, Callable[[EventController, Unfinished], object]] = {
    "stands": lambda one, event: wait(one.elect(0)),
    "topics": lambda one, event: wait(one.guarded(one.topics_changed)),
    "partitions": lambda one, event: wait(one.guarded(lambda: one.partitions_changed(event.topic))),
    "deletions": lambda one, event: wait(one.guarded(one.deletion_requested)),
    "brokers": lambda one, event: wait(one.guarded(one.brokers.changed)),
    "preferred": lambda one, event: wait(one.guarded(lambda: one.elect_preferred(event.about))),
    "shutdown": lambda one, event: wait(one.guarded(lambda: one.brokers.shut_down(*event.about))),
    "answer": lambda one, event: wait(one.guarded(lambda: _answered(one, *event.about))),
}
"""Events by name; the last is what a broker answers to a StopReplica."""


def _answered(one: EventController, failed: Sequence[Any], deleted: Sequence[Any]) -> None:
    if failed:
        wait(one.core.deletion.replicas_failed(failed))
    if deleted:
        wait(one.core.deletion.replicas_deleted(deleted))


WHOLE = ("preferred",)
"""Events that are one batch."""


@dataclass(frozen=True, slots=True)
class Unfinished:
    """An event in the middle: how it began, what it was told, how far it came.

    ``about`` are its replicas, partitions or broker. ``begun``: the batch of the label has begun.
    ``held``: it has read the state that it is about to write over. ``half``: of a change of
    brokers, whether it is about who failed or who started.
    """

    event: str
    topic: str
    about: tuple[Any, ...]
    began: Any
    answers: tuple[tuple[str, Any], ...]
    sent: int
    passed: int
    label: str
    begun: bool = False
    held: bool = False
    half: str = ""

    @property
    def lost(self) -> bool:
        """The answer to its registration was lost on the way."""
        return self.label == CAMPAIGN and isinstance(self.answers[-1][1], ConnectionLoss)


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
        self.port = PausingSession(zookeeper, session)
        self.port.pause = self._pause
        self.send = send
        self.controller = EventController(broker, self.port, release, self._send)
        self.core = self.controller.core
        self.unfinished: Unfinished | None = None
        self.blank = self.memory()
        self._passed = self._reached = self._sent = self._already = 0
        self._inside = False
        self._half = ""  # of a change of brokers
        self._resuming = False
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
        core.deletion.try_again = self._try_again(core.deletion.try_again)  # type: ignore[method-assign]
        core.partitions.trigger_online = self._elects(core.partitions.trigger_online)  # type: ignore[method-assign]
        brokers = controller.brokers
        brokers.register = self._returns(brokers.register)  # type: ignore[method-assign]
        for half in ("failed", "started"):
            setattr(brokers, half, self._in_half(half, getattr(brokers, half)))
        for act in ("move_leaders", "stop_followers"):
            label = act.replace("_", "s_")
            setattr(brokers, act, self._whole(label, getattr(brokers, act)))

    def _pause(self, label: str) -> None:
        self._reached += 1
        if self._reached > self._passed:
            raise PutDown(label)

    def _before(self, label: str, act: Callable[[], None]) -> Callable[[], None]:
        def paused() -> None:
            self._pause(label)
            act()

        return paused

    def _whole(self, label: str, act: Callable[..., None]) -> Callable[..., None]:
        def paused(*about: Any) -> None:
            self._pause(label)
            self._inside = True
            act(*about)
            self._inside = False

        return paused

    def _batch(self, machine: str, handle: Callable[..., Any]) -> Callable[..., Any]:
        def paused(elements: Any, target: Any, *rest: Any) -> Any:
            label = self._label(machine, target)
            if label is not None and not self._inside:
                self._pause(label)
            return handle(elements, target, *rest)

        return paused

    def _label(self, machine: str, target: Any) -> str | None:
        if not self._half or self._resuming:
            return BATCHES.get((machine, target))
        offline = self._half == "failed" and target is ReplicaState.OFFLINE
        return "takes_offline" if offline and self._stays() else None

    def _stays(self) -> bool:
        return bool(self.core.context.assignments) and not self.core.context.queued_for_deletion

    def _elects(self, trigger: Callable[[], None]) -> Callable[[], None]:
        def paused() -> None:
            if self._half and self._stays():
                self._pause(f"elects_for_{self._half}")
            trigger()

        return paused

    def _in_half(self, half: str, act: Callable[..., None]) -> Callable[..., None]:
        def told(brokers: Any) -> None:
            self._half = half
            act(brokers)

        return told

    def _returns(self, register: Callable[..., None]) -> Callable[..., None]:
        def paused(*about: Any) -> None:
            if self._half == "failed":  # in the same event: it is back already
                self._pause(RETURNS)
            register(*about)

        return paused

    def _resume(self, resume: Callable[[], None]) -> Callable[[], None]:
        def paused() -> None:
            if self.core.context.queued_for_deletion:
                self._pause("resumes")
            self._resuming = True
            resume()
            self._resuming = False

        return paused

    def _try_again(self, act: Callable[..., None]) -> Callable[..., None]:
        def paused(replicas: Any) -> None:
            self._inside = True
            act(replicas)
            self._inside = False
            self._pause("resumes")

        return paused

    def _send(self, broker: int, request: Request) -> None:
        self._sent += 1
        if self._sent > self._already:
            self.send(broker, request)

    # Events

    def begin(self, event: str, topic: str = "", about: Sequence[Any] = ()) -> None:
        """Begin an event, and go on with it until it is put down or over."""
        began = self.memory()
        self._run(Unfinished(event, topic, tuple(about), began, (), 0, 0, ""))

    def go_on(self, first: int | None = None, until: str = "") -> None:
        """Take it up again; `first` names the partition whose node is removed next.

        ZooKeeper lists children in any order, and it is in that order that they are removed.
        `until`: WRITE puts it down again before it writes over a state that it has read, and
        REFUSED after such a write was refused.
        """
        held, before = self.unfinished, self.memory()
        assert held is not None, "an event was put down"
        self.load_memory(held.began)
        answers = held.answers if first is None else self._in_order(held.answers, str(first))
        passed = held.passed if held.begun else held.passed + 1
        self._run(replace(held, answers=answers, passed=passed), until)
        if self.unfinished is not None and self.unfinished.begun:
            self.load_memory(before)  # in the middle of a batch nobody looks

    def lose_reply(self) -> None:
        """The answer to its registration is lost: the connection breaks."""
        held = self.unfinished
        assert held is not None, "it stands for controller"
        lost = ("", ConnectionLoss("the connection broke before the reply came"))
        self.unfinished = replace(held, answers=(*held.answers[:-1], lost))

    def break_off(self) -> None:
        """It is out of office, whatever it was about to do."""
        wait(self.controller.resign())
        self.unfinished = None

    def renew(self, session: int) -> None:
        """Under another session; what it was told and what it began is forgotten."""
        self.load_memory(self.blank)
        self.unfinished, self.port.session = None, session

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

    def _run(self, event: Unfinished, until: str = "") -> None:
        port = self.port
        port.before, port.answers = list(event.answers), list(event.answers)
        port.removed, port.stop, port.refused = set(), until, False
        self._passed, self._reached = event.passed, 0
        self._already = MUTE if until else event.sent
        self._sent, self._inside = 0, event.event in WHOLE
        self._half, self._resuming = "", False
        try:
            EVENTS[event.event](self.controller, event)
            self.unfinished = None
        except PutDown as down:
            self.unfinished = replace(
                event, answers=tuple(port.answers), half=self._half,
                begun=down.begun, held=down.begun and until == WRITE,
                label=event.label if down.begun else down.label,
                sent=event.sent if down.begun else max(self._sent, event.sent),
            )  # fmt: skip
        port.before, port.stop = [], ""

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
        return self.memory(), self.unfinished, self.port.campaign, self.port.session

    def load(self, saved: Any) -> None:
        """Become what was saved."""
        memory, self.unfinished, self.port.campaign, self.port.session = saved
        self.load_memory(memory)
