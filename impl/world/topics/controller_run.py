"""The controller of one broker, run from batch to batch (`impl.world.topics.grain`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from impl.core.cluster_context import ClusterContext
from impl.core.requests import Request
from impl.releases import Release
from impl.sim.effects import Ask, Report, Send
from impl.sim.event_run import ControllerThread, Event, Place
from impl.world.topics.grain import is_suspended, is_to_write, writes_state
from impl.znodes import TopicPartition, paths
from impl.zookeeper import ZooKeeper


class ControllerRun(ControllerThread):
    """``send`` gets each request once, when the batch that asks for it is over.

    In the middle of a batch it is suspended only where a write of a state meets another's.
    """

    def __init__(
        self,
        broker: int,
        zookeeper: ZooKeeper,
        session: int,
        release: Release,
        send: Callable[[int, Request], None],
    ) -> None:
        super().__init__(broker, zookeeper, session, release, self._is_suspended, self._collect)
        self.send = send
        self.collected: tuple[tuple[int, Request], ...] = ()
        self._before_writes = False

    # Running

    def begin(self, event: Event) -> None:
        """Begin an event, and go on with it until it is suspended or over."""
        super().begin(event)
        self._hand_over()

    def go_on(self, before_writes: bool = False) -> None:
        """The next batch; or, ``before_writes``, to the first write of a state in it."""
        self._before_writes = before_writes
        super().go_on()
        self._before_writes = False
        self._hand_over()

    def break_off(self) -> None:
        """It is no longer the controller, whatever it was about to do."""
        self.abandon()
        self.collected = ()
        self.begin(lambda controller: controller.resign())

    def renew(self, session: int) -> None:
        """Under another session; what it knew, began and was about to send is forgotten."""
        super().renew(session)
        self.collected = ()

    def lists_first(self, topic: str, number: int) -> None:
        """Of the partitions whose nodes are left this one was listed first.

        ZooKeeper lists children in any order, and it is in that order that they are removed.
        """
        listing = Ask("children", (paths.partitions(topic), False))
        nodes = self.zookeeper.nodes
        names = next(one.answer for one in self.reached() if one.effect == listing)
        gone = [one for one in names if paths.partition(topic, int(one)) not in nodes]
        rest = [one for one in names if one not in (*gone, str(number))]
        self.answer_with(listing, [*gone, str(number), *rest])

    def _is_suspended(self, thread: ControllerThread, place: Place) -> bool:
        return (self._before_writes and is_to_write(place)) or is_suspended(thread, place)

    def _collect(self, effect: Send | Report) -> None:
        if isinstance(effect, Send):
            self.collected += tuple(effect.requests)

    def _hand_over(self) -> None:
        """What was collected goes out, over the channels that there are.

        There are none to brokers that are gone, and none any more after it has resigned: what a
        batch had sent before it was fenced ends with the controllership.
        """
        if writes_state(self.place):
            return
        collected, self.collected = self.collected, ()
        channels = self.controller.core.context.broker_epochs
        for broker, request in collected:
            if broker in channels:
                self.send(broker, request)

    # Plain data

    def save(self) -> Any:
        """Everything, also in the middle of an event, as a value."""
        return super().save(), self.collected

    def load(self, saved: Any) -> None:
        """Become what was saved."""
        thread, collected = saved
        super().load(thread)
        self.collected = collected


def leaders_last(context: ClusterContext, partition: TopicPartition) -> Callable[..., list[int]]:
    """An order of brokers in which the leader of a partition comes last, and its ISR first."""

    def in_turn(brokers: Iterable[int]) -> list[int]:
        known = context.leadership.get(partition)
        leader, isr = (None, ()) if known is None else (known.leader, known.isr)
        return sorted(brokers, key=lambda one: (one == leader, one not in isr, one))

    return in_turn
