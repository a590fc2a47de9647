"""Steps of controllers: become controller, be notified, resume an event, resign.

Each step has a sibling ``_NAME_unmet``: it returns the first condition that does not hold, as a
positive sentence, and None if the step may be taken.
"""

from __future__ import annotations

from impl.core.partition_machine import PREFERRED
from impl.sim.event_run import as_watch_event
from impl.sim.suspension_points import is_registered
from impl.world.processes import PROCESS_IS_UP, each_broker
from impl.world.stepped.batches import removes_partitions
from impl.world.stepped.controller_run import TOPIC
from impl.world.stepped.parts import (
    Many,
    SteppedParts,
    Unmet,
    each_broker_and_partition,
    each_two,
    step,
)
from impl.znodes import TopicPartition, paths
from impl.zookeeper.port import wait
from impl.zookeeper.znode import EventType
from impl.zookeeper.znode import WatchEvent as Notification

CHANGED = Notification(EventType.CHILDREN_CHANGED, paths.BROKER_IDS)


def each_answer(world: SteppedParts) -> Many:
    """(broker, who answered its controller)."""
    epochs = {broker: world.context(broker).epoch for broker in world.brokers}
    return [(one, to) for one in epochs for epoch, to in world.answers if epoch == epochs[one]]


class Controllers(SteppedParts):
    """The steps of a broker's own controller."""

    # Controllership

    def _broker_stands_unmet(self, broker: int) -> Unmet:
        if wait(self.admin.controller()) is not None:
            return "/controller does not exist"
        if not self.is_up(broker):
            return PROCESS_IS_UP
        if not self.has_session(broker):
            return "it has a ZooKeeper session"
        if self.place(broker) is not None or self.is_active(broker):
            return "it is not the controller"
        left = broker in self.abandoned
        return "nothing that its process left under way comes before it" if left else None

    @step(each_broker)
    def broker_stands(self, broker: int) -> None:
        """It creates /controller; ZooKeeper has executed that, and the answer is on its way."""
        self.controllers[broker].begin(lambda one: one.elect(0))

    def _resigns_unmet(self, broker: int) -> Unmet:
        if not self.is_active(broker):
            return "it believes that it is the controller"
        return "/controller is another's" if wait(self.admin.controller()) == broker else None

    def _controller_resigns_unmet(self, broker: int) -> Unmet:
        if self.has_session(broker) and self.place(broker) is not None:
            return "it waits for events, or its session is over"
        return self._resigns_unmet(broker)

    @step(each_broker)
    def controller_resigns(self, broker: int) -> None:
        """It reads `/controller`; if its session has expired, it drops the event under way."""
        one = self.controllers[broker]
        if self.has_session(broker):
            one.begin(lambda controller: controller.maybe_resign())
        else:
            one.break_off()

    def _controller_breaks_off_unmet(self, broker: int) -> Unmet:
        return self._resigns_unmet(broker)

    @step(each_broker)
    def controller_breaks_off(self, broker: int) -> None:
        """It resigns, in the middle of an event too; the rest of the event is dropped."""
        self.controllers[broker].break_off()

    # In the middle of an event

    def _controller_goes_on_unmet(self, broker: int) -> Unmet:
        place = self.place(broker)
        if place is None:
            return "it is in the middle of an event"
        if not is_registered(place) and not self.has_session(broker):
            return "it has a ZooKeeper session"
        if not removes_partitions(place) or self.is_fenced(broker):
            return None
        states = any(self.zookeeper.exists(paths.state(TOPIC, one)) for one in self.partitions)
        return "no partition's node is left" if states else None

    @step(each_broker)
    def controller_goes_on(self, broker: int) -> None:
        """It resumes the event that it is in the middle of, up to the next suspension point."""
        self.controllers[broker].go_on()

    def _controller_goes_on_without_session_unmet(self, broker: int) -> Unmet:
        place = self.place(broker)
        if place is None or is_registered(place):
            return "it is in the middle of an event"
        return "its session is over" if self.has_session(broker) else None

    @step(each_broker)
    def controller_goes_on_without_session(self, broker: int) -> None:
        """It resumes an event without a session: its requests to ZooKeeper fail."""
        self.controllers[broker].go_on()

    def _partition_is_removed_unmet(self, broker: int, number: int) -> Unmet:
        if not removes_partitions(self.place(broker)):
            return "it removes the topic's nodes"
        if not self.has_session(broker):
            return "it has a ZooKeeper session"
        if self.is_fenced(broker):
            return "it is the newest controller"
        there = self.zookeeper.exists(paths.state(TOPIC, number))
        return None if there else "the partition has a state"

    @step(each_broker_and_partition)
    def partition_is_removed(self, broker: int, number: int) -> None:
        """The state node of one partition is deleted."""
        self.controllers[broker].lists_first(TOPIC, number)
        self.controllers[broker].go_on()

    # Events

    def _answer_arrives_unmet(self, broker: int, replica: int) -> Unmet:
        epoch = self.context(broker).epoch
        return self.must_wait(broker) or (
            None if (epoch, replica) in self.answers else "the broker answered"
        )

    @step(each_answer)
    def answer_arrives(self, broker: int, replica: int) -> None:
        """A StopReplica response reaches the controller: what was deleted, and what failed."""
        answer = self.answers.pop((self.context(broker).epoch, replica))
        self.controllers[broker].begin(
            lambda one: one.stop_replica_answered(replica, answer.request, "NONE", answer.errors)
        )

    # Failures and starts of brokers; elections of leaders

    def _changes(self, broker: int) -> dict[str, set[int]]:
        known, now = self.context(broker).broker_epochs, self.registrations()
        back = {one for one in known.keys() & now.keys() if known[one] != now[one]}
        return {
            "missed": (known.keys() - now.keys()) | (back if self.fences_brokers else set()),
            "found": now.keys() - known.keys(),
        }

    def _change_unmet(self, broker: int, which: str, other: int) -> Unmet:
        reason = self.must_wait(broker)
        if reason is not None:
            return reason
        changes = self._changes(broker)
        if other not in changes[which]:
            return f"the broker is {which}"
        others = len(changes["missed"] | changes["found"]) > 1
        return "nobody else comes or goes at the same time" if others else None

    def _broker_is_missed_unmet(self, broker: int, failed: int) -> Unmet:
        return self._change_unmet(broker, "missed", failed)

    @step(each_two)
    def broker_is_missed(self, broker: int, failed: int) -> None:
        """The controller handles a broker failure: the registration is gone, or a newer one."""
        self._compare_brokers(broker)

    def _broker_is_found_unmet(self, broker: int, started: int) -> Unmet:
        return self._change_unmet(broker, "found", started)

    @step(each_two)
    def broker_is_found(self, broker: int, started: int) -> None:
        """The controller handles a broker start: a broker is registered that it took for dead."""
        self._compare_brokers(broker)

    def _brokers_come_and_go_unmet(self, broker: int) -> Unmet:
        reason = self.must_wait(broker)
        if reason is not None:
            return reason
        changes = self._changes(broker)
        several = len(changes["missed"] | changes["found"]) > 1
        return None if several else "several brokers come or go at the same time"

    @step(each_broker)
    def brokers_come_and_go(self, broker: int) -> None:
        """The controller handles several failures and starts in one event."""
        self._compare_brokers(broker)

    def _compare_brokers(self, broker: int) -> None:
        """The controller compares registrations with what it knows.

        In batches, the channels to failed brokers are closed first, and the requests queued there
        are dropped. Write by write they are on the wire already, and arrive.
        """
        epoch = self.context(broker).epoch
        for failed in self._changes(broker)["missed"] if self.grain.in_batches else ():
            self.connections.pop((epoch, failed), None)
            self.answers.pop((epoch, failed), None)
        self.controllers[broker].begin(as_watch_event(CHANGED))

    def _preferred_is_elected_unmet(self, broker: int, number: int) -> Unmet:
        reason = self.must_wait(broker)
        if reason is not None:
            return reason
        core, partition = self.controllers[broker].controller.core, TopicPartition(TOPIC, number)
        if TOPIC in core.context.queued_for_deletion:
            return "the topic is not queued for deletion"
        state = self.state(number)
        elected = state and core.partitions.choose(partition, state, PREFERRED)
        return None if elected else "the head of the list lives, and is in the ISR"

    @step(each_broker_and_partition)
    def preferred_is_elected(self, broker: int, number: int) -> None:
        """The preferred replica of a partition is elected leader."""
        elected = (TopicPartition(TOPIC, number),)
        self.controllers[broker].begin(
            lambda one: one.guarded(lambda: one.elect_preferred(elected))
        )

    def _broker_asks_for_controlled_shutdown_unmet(self, broker: int, subject: int) -> Unmet:
        reason = self.must_wait(broker)
        if reason is not None:
            return reason
        if subject not in self.context(broker).live:
            return "the broker lives, as far as the controller knows"
        asks = self.is_up(subject) and self.has_session(subject)
        return None if asks else "the broker runs, and is registered"

    @step(each_two)
    def broker_asks_for_controlled_shutdown(self, broker: int, subject: int) -> None:
        """A broker's ControlledShutdown request reaches the controller."""
        self.controllers[broker].begin(
            lambda one: one.guarded(lambda: one.brokers.shut_down(subject))
        )
