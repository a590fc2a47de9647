"""The controller of one broker in a stepped cluster: its suspension points, its requests."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from impl.core.cluster_context import ClusterContext
from impl.core.event_controller import EventController
from impl.core.requests import Request
from impl.releases import Release
from impl.sim.effects import JournalReport, SendRequests, ZkOperation
from impl.sim.event_run import ControllerThread, SuspensionPoint, WatchEvent
from impl.sim.suspension_points import states_written
from impl.world.stepped.replica import SteppedReplica
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition, paths
from impl.zookeeper import Delete, NoNode, ZooKeeper


@dataclass(frozen=True)
class Grain:
    """The suspension granularity of a stepped cluster: at which effects an event is suspended.

    ``suspends`` decides where a controller's event is suspended. ``in_batches``: the requests of a
    batch are sent when it ends, and consecutive requests of one kind are handled in one step.
    ``new_replica`` is the brokers' replica class; ``first_alike`` the first release with these
    suspension points, ``stepped`` the word for them in messages. ``repeats``: a controller's first
    requests may arrive at any broker, repeatedly and late. ``begins`` runs after the brokers are
    registered. ``tells`` returns the first partition's state in a response.
    """

    stepped: str
    first_alike: str
    suspends: Callable[[ControllerRun, SuspensionPoint], bool]
    in_batches: bool
    new_replica: type[SteppedReplica]
    repeats: bool = False
    begins: Callable[[Any], None] = lambda world: None
    tells: Callable[[SuspensionPoint], LeaderIsrAndControllerEpoch | None] = lambda place: None


TOPIC = "t"
FIRST = TopicPartition(TOPIC, 0)
"""The partition that moves, or the only one."""

HANDLERS = JournalReport("step", ("Registering handlers",))
"""The first of a new controller: it is the controller, and watches nothing yet."""


LOOKS_AGAIN = ZkOperation("exists", (paths.REASSIGN_PARTITIONS, True))
"""The first of the event that a request was created, or may have been."""


class ControllerRun(ControllerThread):
    """``send`` gets each request once; with batches, when the batch that contains it ends.

    ``wrote`` is the state of the first partition that it wrote last, because up to 2.3 a controller
    does not cache the leader epochs that it raised (KAFKA-9212).
    """

    def __init__(
        self,
        broker: int,
        zookeeper: ZooKeeper,
        session: int,
        release: Release,
        grain: Grain,
        send: Callable[[int, Request], None],
    ) -> None:
        super().__init__(broker, zookeeper, session, release, self._is_suspended, self._collect)
        self.seen_as = grain
        self.send = send
        self.collected: tuple[tuple[int, Request], ...] = ()
        self._to_write = False
        self.wrote: LeaderIsrAndControllerEpoch | None = None
        self.queued = False
        """What it did ended with an event put into its queue: it is to look at the request."""

    @property
    def takes_up_work(self) -> bool:
        """Whether it knows that it is controller and has read nothing yet."""
        return self.place is not None and self.place.effect == HANDLERS

    @property
    def known(self) -> LeaderIsrAndControllerEpoch | None:
        """The newest state of the first partition that it has cached, or wrote."""
        held = self.controller.core.context.leadership.get(FIRST)
        known = [one for one in (held, self.wrote) if one is not None]
        return max(known, key=lambda one: one.zk_version, default=None)

    @property
    def passed(self) -> list[SuspensionPoint]:
        """The points that the event passed before its current suspension point."""
        return self._passed

    # Running

    def begin(self, event: WatchEvent) -> None:
        """Begin an event, and run it until it is suspended or over."""
        super().begin(event)
        self._end()

    def resume(self, to_write: bool = False) -> None:
        """Run to the next suspension point; with ``to_write`` to the next write of a state."""
        self._to_write = to_write
        super().resume()
        self._to_write = False
        self._end()

    def _end(self) -> None:
        """What comes now is another event, which waits in the queue with others; and what was
        collected goes out."""
        if is_next_event(self):
            self.abandon()
            self.queued = True
        self._hand_over()

    def write_and_lose_response(self) -> None:
        """Execute the state write that it is about to send, lose the response, and continue until
        it is about to send the write again."""
        if not writes_state(self.place):
            self.resume(to_write=True)
        self.resume(to_write=True)
        self.lose_answer()
        self.resume(to_write=True)

    def abort_event(self) -> None:
        """Stop being controller, and drop the event under way."""
        self.abandon()
        self.collected, self.wrote = (), None
        self.begin(lambda controller: controller.resign())

    def renew(self, session: int) -> None:
        """Continue under another session, without memory, event and unsent requests."""
        super().renew(session)
        self.collected, self.wrote = (), None

    def lists_first(self, topic: str, number: int) -> None:
        """Let this partition be the first listed of those whose znodes are left.

        ZooKeeper lists children in any order, and they are removed in that order.
        """
        listing = ZkOperation("children", (paths.partitions(topic), False))
        nodes = self.zookeeper.nodes
        names = next(one.answer for one in self.reached() if one.effect == listing)
        gone = [one for one in names if paths.partition(topic, int(one)) not in nodes]
        rest = [one for one in names if one not in (*gone, str(number))]
        self.answer_with(listing, [*gone, str(number), *rest])

    def _is_suspended(self, thread: ControllerThread, place: SuspensionPoint) -> bool:
        return (self._to_write and writes_state(place)) or self.seen_as.suspends(self, place)

    def _ask(self, effect: ZkOperation) -> Any:
        if self._deletes_unasked(effect):
            return [None, NoNode(paths.PREFERRED_ELECTION)]
        return super()._ask(effect)

    def _deletes_unasked(self, effect: ZkOperation) -> bool:
        """The last act of a failover: a request for preferred leaders goes, and there is none.

        In a stepped cluster nobody asks for any, and what is deleted so is never fenced, as though
        who is deposed by then had been deposed right after it. Staged clusters have the fence.
        """
        requests = [op for op in effect.ops if isinstance(op, Delete)]
        return (
            [op.path for op in requests] == [paths.PREFERRED_ELECTION]
            and paths.PREFERRED_ELECTION not in self.zookeeper.nodes
            and self.port.embedded.session in self.zookeeper.sessions
        )

    def _answer(self, place: SuspensionPoint) -> None:
        if writes_state(place):
            self.wrote = self.seen_as.tells(place) or self.wrote
        super()._answer(place)

    def _collect(self, effect: SendRequests | JournalReport) -> None:
        if not isinstance(effect, SendRequests):
            return
        self.collected += tuple(effect.requests)
        if not self.seen_as.in_batches:
            self._hand_over()

    def _hand_over(self) -> None:
        """What was collected goes out, over the channels that there are.

        There are none to brokers that are gone, and none any more after it has resigned: what a
        batch had sent before it was fenced ends with the controllership.
        """
        if self.seen_as.in_batches and writes_state(self.place):
            return
        collected, self.collected = self.collected, ()
        channels = self.controller.core.context.channel_epochs
        for broker, request in collected:
            if broker in channels:
                self.send(broker, request)

    # Plain data

    def save(self) -> Any:
        """Everything, also in the middle of an event, as a value."""
        return super().save(), self.collected, self.wrote

    def load(self, saved: Any) -> None:
        """Restore what `save` returned."""
        thread, self.collected, self.wrote = saved
        super().load(thread)


def is_next_event(thread: ControllerThread) -> bool:
    """Whether it is about to handle the event that it queued itself (``looks_again``), and has not
    begun it: the core handles that event right after the current one."""
    place, code = thread.place, EventController.guarded.__code__
    if place is None or place.is_done or place.effect != LOOKS_AGAIN:
        return False
    looks = thread.frame_of(EventController.reassignment_requested) is not None
    return looks and sum(one.f_code is code for one in thread.stack()) > 1


def writes_state(place: SuspensionPoint | None) -> bool:
    """Whether the point is before or after a write of a partition's state over the one read."""
    return place is not None and bool(states_written(place.effect))


def is_to_write(place: SuspensionPoint | None) -> bool:
    """Whether the write of a state is sent, and not executed."""
    return place is not None and not place.is_done and writes_state(place)


def leaders_last(context: ClusterContext, partition: TopicPartition) -> Callable[..., list[int]]:
    """Orders brokers: the ISR of a partition first, its leader last."""

    def in_turn(brokers: Iterable[int]) -> list[int]:
        known = context.leadership.get(partition)
        leader, isr = (None, ()) if known is None else (known.leader, known.isr)
        return sorted(brokers, key=lambda one: (one == leader, one not in isr, one))

    return in_turn
