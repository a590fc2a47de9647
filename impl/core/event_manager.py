"""A controller's event queue: any thread adds events, and they are handled one after the other.

Notifications of ZooKeeper, answers of brokers and what is due by the clock wait in one queue, each
by itself; an event that fails is reported, and the next one comes. When the session expires what
waits is dropped, and the controller resigns. Source: ControllerEventManager; fact sheet b.4.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

from impl.core.channels import Channels
from impl.core.event_controller import EventController
from impl.core.requests import LeaderAndIsr, Request, StopReplica
from impl.znodes import TopicPartition
from impl.zookeeper.errors import SessionExpired
from impl.zookeeper.znode import WatchEvent

Work = Callable[[EventController], Coroutine[Any, Any, object]]
Failed = Callable[[str, Exception], None]


@dataclass(frozen=True, slots=True)
class ControllerEvent:
    """An event by its name; ``request``: the request to which it is the response, if it is one.

    ``broker``: who asks, or answers; 0 if that is no broker.
    """

    name: str
    work: Work
    request: Request | None = None
    broker: int = 0


class ControllerEventManager:
    """The event queue of one broker. ``controller`` is replaced with each new session.

    ``failed`` is called with the name of an event that failed, and its error.
    """

    def __init__(
        self, controller: EventController, channels: Channels[Any], failed: Failed
    ) -> None:
        self.controller = controller
        self.channels = channels
        self.failed = failed
        self.waiting: deque[ControllerEvent] = deque()

    def put(self, name: str, work: Work, request: Request | None = None, broker: int = 0) -> None:
        """Queue an event."""
        self.waiting.append(ControllerEvent(name, work, request, broker))

    def notified(self, event: WatchEvent, now_ms: int) -> None:
        """Queue a watch notification; the znode is read when the event is handled."""
        self.put(event.path, lambda controller: controller.handle_watch_event(event, now_ms))

    def answered(
        self, broker: int, request: Request, error: str, errors: Mapping[TopicPartition, str]
    ) -> None:
        """Queue the events of a broker's response: for topic deletions, and for failed log
        directories."""
        match request:
            case StopReplica() if request.raises_event:
                self.put(
                    "TopicDeletionStopReplicaResponseReceived",
                    lambda one: one.stop_replica_answered(broker, request, error, errors),
                    request,
                    broker,
                )
            case LeaderAndIsr():
                self.put(
                    "LeaderAndIsrResponseReceived",
                    lambda one: one.leader_and_isr_answered(broker, request, error, errors),
                    request,
                    broker,
                )

    async def handle_next(self) -> None:
        """Handle the first queued event. SessionExpired: see ``expire``."""
        event = self.waiting.popleft()
        try:
            if self.controller.active:
                await self.controller.journal.event_begun(event.name)
            await event.work(self.controller)
            if self.controller.active:
                await self.controller.journal.event_done(event.name)
        except SessionExpired:
            raise
        except Exception as error:
            if self.controller.active:
                await self.controller.journal.event_done(event.name, failed=True)
            self.failed(event.name, error)
        finally:
            self.close_channels()

    async def expire(self) -> None:
        """The session has ended: queued events are dropped, and the controller resigns."""
        self.waiting.clear()
        await self.controller.resign()
        self.close_channels()

    def close_channels(self) -> None:
        """Keep channels to brokers that are registered as they were, while this is controller."""
        if self.controller.active:
            self.channels.forget_the_gone(self.controller.core.context.channel_epochs)
        else:
            self.channels.close()
