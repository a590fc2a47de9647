"""One event of a controller, run from effect to effect, and saved as plain data between them.

A coroutine cannot be copied. The initial memory and the answers determine what an event did. A
suspended event is therefore saved as these two, and replayed when it continues from a snapshot: it
gets the same answers, and no effect is carried out twice.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, replace
from types import CodeType, FrameType
from typing import Any

from impl.core.event_controller import EventController
from impl.releases import Release
from impl.sim.effects import (
    Effect,
    EffectJournal,
    EffectPort,
    JournalReport,
    SendRequests,
    ZkOperation,
    send_as_effect,
)
from impl.zookeeper import ConnectionLoss, ZooKeeper, ZooKeeperError
from impl.zookeeper.port import wait
from impl.zookeeper.session import EmbeddedSession
from impl.zookeeper.znode import WatchEvent as Notification

WatchEvent = Callable[[EventController], Coroutine[Any, Any, Any]]
"""Begins an event: the coroutine of one of a controller's procedures. Kept, so called again."""


def as_watch_event(notification: Notification) -> WatchEvent:
    """The controller event that a running broker queues for a ZooKeeper notification."""
    return lambda controller: controller.handle_watch_event(notification, 0)


@dataclass(frozen=True, slots=True)
class SuspensionPoint:
    """A point where an event may be suspended: at an effect, before or after it is carried out.

    ``answer`` is its result or exception, which the controller has not received yet.
    """

    effect: Effect
    is_done: bool = False
    answer: Any = None


@dataclass(frozen=True, slots=True)
class Suspended:
    """A suspended event as a value: its start, the effects so far, and its suspension point."""

    event: WatchEvent
    began: Any
    passed: tuple[SuspensionPoint, ...]
    place: SuspensionPoint


Grain = Callable[["ControllerThread", SuspensionPoint], bool]
"""Whether the event is suspended here. It is asked once a place, and not where it is done over."""


def frames(coroutine: Any) -> Iterator[FrameType]:
    """The frames of a suspended coroutine, outermost first."""
    while coroutine is not None and hasattr(coroutine, "cr_frame"):
        if coroutine.cr_frame is not None:
            yield coroutine.cr_frame
        coroutine = coroutine.cr_await


class ControllerThread:
    """The event thread of one broker's controller; ``place`` is None between two events.

    ``perform_effect`` gets each round of requests and each report once, in order; ZooKeeper
    operations are carried out here. ``grain`` decides where an event is suspended.
    """

    def __init__(
        self,
        broker: int,
        zookeeper: ZooKeeper,
        session: int,
        release: Release,
        grain: Grain,
        perform_effect: Callable[[SendRequests | JournalReport], None],
        **settings: Any,
    ) -> None:
        self.broker = broker
        self.zookeeper = zookeeper
        self.grain = grain
        self.perform_effect = perform_effect
        self.port = EffectPort(_known(zookeeper, session))
        self.journal = EffectJournal()
        self.controller = EventController(
            broker, self.port, release, send_as_effect, journal=self.journal, **settings
        )
        self.place: SuspensionPoint | None = None
        self._event: WatchEvent | None = None
        self._began: Any = None
        self._passed: list[SuspensionPoint] = []
        self._running: Coroutine[Any, Any, Any] | None = None
        self._blank = self.controller.memory()
        self._saved: Any = None  # the value of the current state, if it is known

    # What an event is in the middle of

    def stack(self) -> list[FrameType]:
        """The frames of the suspended event, outermost first."""
        return list(frames(self._running))

    def frame_of(self, procedure: Callable[..., Any]) -> FrameType | None:
        """The innermost frame of a procedure of the core, None if the event is not in it."""
        code: CodeType = getattr(procedure, "__code__")  # noqa: B009  # no callable declares it
        return next((one for one in reversed(self.stack()) if one.f_code is code), None)

    def reached(self) -> list[SuspensionPoint]:
        """The points that the event passed, in order, and its current suspension point."""
        return [] if self.place is None else [*self._passed, self.place]

    # Running

    def begin(self, event: WatchEvent) -> None:
        """Begin an event, and run it until it is suspended or over."""
        assert self.place is None, "one event at a time"
        self._saved = None
        self._event, self._began, self._passed = event, self.controller.memory(), []
        self._running = event(self.controller)
        self._advance(None)

    def resume(self) -> None:
        """Resume the suspended event."""
        place = self.place
        assert place is not None, "an event is suspended"
        self._saved = None
        if place.is_done:
            self._answer(place)
        else:
            self._perform(place.effect)

    def lose_answer(self) -> None:
        """Lose the answer: the connection breaks, and the controller does not get the result."""
        assert self.place is not None, "an event is suspended"
        assert self.place.is_done, "an answer is on its way"
        lost = ConnectionLoss("the connection broke before the reply came")
        self.place, self._saved = SuspensionPoint(self.place.effect, True, lost), None

    def answer_with(self, effect: Effect, answer: Any) -> None:
        """Replace the answer to an effect that was carried out, even if the event has received it.

        This is for nondeterministic answers, such as the order of a znode's children, which can be
        chosen late. ValueError if the event would have behaved differently so far, or has no such
        effect.
        """
        assert self.place is not None, "an event is suspended"
        saved = ControllerThread.save(self)
        event: Suspended = saved[1]
        places = self.reached()
        at = next((i for i, one in enumerate(places) if one.is_done and one.effect == effect), None)
        if at is None:
            raise ValueError(f"{effect} was not carried out in this event")
        places[at] = SuspensionPoint(effect, True, answer)
        changed = replace(event, passed=tuple(places[:-1]), place=places[-1])
        if not self._replay(changed):
            ControllerThread.load(self, saved)
            raise ValueError(f"with {answer!r} it would have done otherwise")

    def _replay(self, event: Suspended) -> bool:
        """Do over what it came past; False if that is not what it does."""
        self.abandon()
        self.controller.remember(event.began)
        self._event, self._began, self._passed = event.event, event.began, list(event.passed)
        self._running = event.event(self.controller)
        effect = self._resume(None)
        for place in event.passed:
            if effect != place.effect:
                return False
            effect = self._resume(place.answer)
        self.place = event.place
        return effect == event.place.effect

    def renew(self, session: int) -> None:
        """Forget everything: another process or session."""
        ControllerThread.load(self, (self._blank, None, session))

    def reconnect(self, session: int) -> None:
        """Continue on another session, with the same memory and suspended event."""
        self.port.embedded, self._saved = _known(self.zookeeper, session), None

    def abandon(self) -> None:
        """Drop the suspended event: its process or session has ended."""
        if self._running is not None:
            self._running.close()
        self.place, self._event, self._began, self._passed = None, None, None, []
        self._running = self._saved = None

    def _advance(self, answer: Any) -> None:
        """Hand an answer to the coroutine, and look where it stands then."""
        effect = self._resume(answer)
        if effect is None:
            self.abandon()
            return
        self.place = SuspensionPoint(effect)
        if not self.grain(self, self.place):
            self._perform(effect)

    def _resume(self, answer: Any) -> Effect | None:
        assert self._running is not None, "an event runs"
        try:
            if isinstance(answer, ZooKeeperError):
                effect = self._running.throw(answer)
            else:
                effect = self._running.send(answer)
        except StopIteration:
            return None
        except BaseException:
            self.abandon()
            raise
        assert isinstance(effect, Effect), f"the core awaits effects alone, not {effect!r}"
        return effect

    def _perform(self, effect: Effect) -> None:
        answer: Any = None
        if isinstance(effect, ZkOperation):
            answer = self._ask(effect)
        elif isinstance(effect, SendRequests | JournalReport):
            self.perform_effect(effect)
        self.place = SuspensionPoint(effect, True, answer)
        if not self.grain(self, self.place):
            self._answer(self.place)

    def _ask(self, effect: ZkOperation) -> Any:
        try:
            return wait(getattr(self.port.embedded, effect.operation)(*effect.arguments))
        except ZooKeeperError as error:
            return error

    def _answer(self, place: SuspensionPoint) -> None:
        self._passed.append(place)
        self._advance(place.answer)

    # Plain data

    def save(self) -> Any:
        """Everything, also in the middle of an event, as a value."""
        if self._saved is None:
            memory, event = None, None
            if self.place is None:
                memory = self.controller.memory()
            else:
                assert self._event is not None
                event = Suspended(self._event, self._began, tuple(self._passed), self.place)
            self._saved = memory, event, self.port.session
        return self._saved

    def load(self, saved: Any) -> None:
        """Restore what `save` returned; a suspended event is replayed up to where it was."""
        if saved is self._saved:
            return  # nothing has changed since
        memory, event, session = saved
        if session != self.port.session:
            self.port.embedded = _known(self.zookeeper, session)
        if event is None:
            self.abandon()
            self.controller.remember(memory)
        else:
            is_same = self._replay(event)
            assert is_same, "an event that is done over does the same"
        self._saved = saved


def _known(zookeeper: ZooKeeper, session: int) -> EmbeddedSession:
    return EmbeddedSession.known(zookeeper, session)
