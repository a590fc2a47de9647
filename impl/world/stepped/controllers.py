"""Steps of controllers: become controller, be notified, resume an event, resign."""

from __future__ import annotations

from impl.core.partition_machine import PREFERRED
from impl.sim.event_run import as_watch_event
from impl.sim.simulation import Arguments, StepKind, refusable
from impl.sim.suspension_points import is_registered
from impl.world.processes import PROCESS_IS_UP, each_broker
from impl.world.stepped.batches import is_deleting_partition_znodes
from impl.world.stepped.controller_run import TOPIC
from impl.world.stepped.stepped_cluster import (
    SteppedCluster,
    Unmet,
    each_broker_and_partition,
    each_two,
)
from impl.znodes import TopicPartition, paths
from impl.zookeeper.port import wait
from impl.zookeeper.znode import EventType
from impl.zookeeper.znode import WatchEvent as Notification

CHANGED = Notification(EventType.CHILDREN_CHANGED, paths.BROKER_IDS)


def each_answer(world: SteppedCluster) -> Arguments:
    """(broker, sender of a response to its controller)."""
    epochs = {broker: world.context(broker).epoch for broker in world.brokers}
    return sorted(
        (one, to) for one in epochs for epoch, to in world.answers if epoch == epochs[one]
    )


# Controllership


def _broker_runs_for_controller_unmet(world: SteppedCluster, broker: int) -> Unmet:
    if wait(world.admin.controller()) is not None:
        return "/controller does not exist"
    if not world.is_up(broker):
        return PROCESS_IS_UP
    if not world.has_session(broker):
        return "it has a ZooKeeper session"
    if world.place(broker) is not None or world.is_active(broker):
        return "it is not the controller"
    left = broker in world.abandoned
    return "nothing that its process left under way comes before it" if left else None


def broker_runs_for_controller(world: SteppedCluster, broker: int) -> None:
    """It creates /controller; ZooKeeper has executed that, and the reply is on its way."""
    world.controllers[broker].begin(lambda one: one.elect(0))


def _resigns_unmet(world: SteppedCluster, broker: int) -> Unmet:
    if not world.is_active(broker):
        return "it believes that it is the controller"
    return "/controller is another's" if wait(world.admin.controller()) == broker else None


def _controller_resigns_unmet(world: SteppedCluster, broker: int) -> Unmet:
    if world.has_session(broker) and world.place(broker) is not None:
        return "it waits for events, or its session is over"
    return _resigns_unmet(world, broker)


def controller_resigns(world: SteppedCluster, broker: int) -> None:
    """It reads `/controller`; if its session has expired, it drops the event under way."""
    one = world.controllers[broker]
    if world.has_session(broker):
        one.begin(lambda controller: controller.maybe_resign())
    else:
        one.abort_event()


def controller_aborts_event(world: SteppedCluster, broker: int) -> None:
    """It resigns, in the middle of an event too; the rest of the event is dropped."""
    world.controllers[broker].abort_event()


# In the middle of an event


def _controller_continues_event_unmet(world: SteppedCluster, broker: int) -> Unmet:
    place = world.place(broker)
    if place is None:
        return "it is in the middle of an event"
    if not is_registered(place) and not world.has_session(broker):
        return "it has a ZooKeeper session"
    if not is_deleting_partition_znodes(place) or world.is_fenced(broker):
        return None
    states = any(world.zookeeper.exists(paths.state(TOPIC, one)) for one in world.partitions)
    return "no partition's node is left" if states else None


def controller_continues_event(world: SteppedCluster, broker: int) -> None:
    """It resumes its suspended event, up to the next suspension point."""
    world.controllers[broker].resume()


def _controller_continues_without_session_unmet(world: SteppedCluster, broker: int) -> Unmet:
    place = world.place(broker)
    if place is None or is_registered(place):
        return "it is in the middle of an event"
    return "its session is over" if world.has_session(broker) else None


def controller_continues_without_session(world: SteppedCluster, broker: int) -> None:
    """It resumes an event without a session: its ZooKeeper requests fail."""
    world.controllers[broker].resume()


def _partition_is_removed_unmet(world: SteppedCluster, broker: int, number: int) -> Unmet:
    if not is_deleting_partition_znodes(world.place(broker)):
        return "it removes the topic's nodes"
    if not world.has_session(broker):
        return "it has a ZooKeeper session"
    if world.is_fenced(broker):
        return "it is the newest controller"
    there = world.zookeeper.exists(paths.state(TOPIC, number))
    return None if there else "the partition has a state"


def partition_is_removed(world: SteppedCluster, broker: int, number: int) -> None:
    """The state node of one partition is deleted."""
    world.controllers[broker].lists_first(TOPIC, number)
    world.controllers[broker].resume()


# Events


def _answer_arrives_unmet(world: SteppedCluster, broker: int, replica: int) -> Unmet:
    epoch = world.context(broker).epoch
    return world.must_wait(broker) or (
        None if (epoch, replica) in world.answers else "the broker answered"
    )


def answer_arrives(world: SteppedCluster, broker: int, replica: int) -> None:
    """A StopReplica response reaches the controller: deleted partitions, and errors."""
    answer = world.answers.pop((world.context(broker).epoch, replica))
    world.controllers[broker].begin(
        lambda one: one.stop_replica_answered(replica, answer.request, "NONE", answer.errors)
    )


# Failures and starts of brokers; elections of leaders


def _changes(world: SteppedCluster, broker: int) -> dict[str, set[int]]:
    known, now = world.context(broker).broker_epochs, world.registrations()
    back = {one for one in known.keys() & now.keys() if known[one] != now[one]}
    return {
        "missed": (known.keys() - now.keys()) | (back if world.fences_brokers else set()),
        "found": now.keys() - known.keys(),
    }


def _change_unmet(world: SteppedCluster, broker: int, which: str, other: int) -> Unmet:
    reason = world.must_wait(broker)
    if reason is not None:
        return reason
    changes = _changes(world, broker)
    if other not in changes[which]:
        return f"the broker is {which}"
    others = len(changes["missed"] | changes["found"]) > 1
    return "nobody else comes or goes at the same time" if others else None


def _broker_failure_is_handled_unmet(world: SteppedCluster, broker: int, failed: int) -> Unmet:
    return _change_unmet(world, broker, "missed", failed)


def broker_failure_is_handled(world: SteppedCluster, broker: int, failed: int) -> None:
    """The controller handles a broker failure: the registration is gone, or is a newer one."""
    _compare_brokers(world, broker)


def _broker_startup_is_handled_unmet(world: SteppedCluster, broker: int, started: int) -> Unmet:
    return _change_unmet(world, broker, "found", started)


def broker_startup_is_handled(world: SteppedCluster, broker: int, started: int) -> None:
    """The controller handles a broker start: it took the registered broker for dead."""
    _compare_brokers(world, broker)


def _broker_changes_are_handled_together_unmet(world: SteppedCluster, broker: int) -> Unmet:
    reason = world.must_wait(broker)
    if reason is not None:
        return reason
    changes = _changes(world, broker)
    several = len(changes["missed"] | changes["found"]) > 1
    return None if several else "several brokers come or go at the same time"


def broker_changes_are_handled_together(world: SteppedCluster, broker: int) -> None:
    """The controller handles several failures and starts in one event."""
    _compare_brokers(world, broker)


def _compare_brokers(world: SteppedCluster, broker: int) -> None:
    """The controller compares registrations with what it knows.

    In batches, the channels to failed brokers are closed first, and the requests queued there
    are dropped. Write by write they are on the wire already, and arrive.
    """
    epoch = world.context(broker).epoch
    for failed in _changes(world, broker)["missed"] if world.grain.in_batches else ():
        world.connections.pop((epoch, failed), None)
        world.answers.pop((epoch, failed), None)
    world.controllers[broker].begin(as_watch_event(CHANGED))


def _preferred_is_elected_unmet(world: SteppedCluster, broker: int, number: int) -> Unmet:
    reason = world.must_wait(broker)
    if reason is not None:
        return reason
    core, partition = world.controllers[broker].controller.core, TopicPartition(TOPIC, number)
    if TOPIC in core.context.queued_for_deletion:
        return "the topic is not queued for deletion"
    state = world.state(number)
    elected = state and core.partitions.choose(partition, state, PREFERRED)
    return None if elected else "the head of the list lives, and is in the ISR"


def preferred_is_elected(world: SteppedCluster, broker: int, number: int) -> None:
    """The preferred replica of a partition is elected leader."""
    elected = (TopicPartition(TOPIC, number),)
    world.controllers[broker].begin(lambda one: one.guarded(lambda: one.elect_preferred(elected)))


def _broker_asks_for_controlled_shutdown_unmet(
    world: SteppedCluster, broker: int, subject: int
) -> Unmet:
    reason = world.must_wait(broker)
    if reason is not None:
        return reason
    if subject not in world.context(broker).live:
        return "the broker lives, as far as the controller knows"
    asks = world.is_up(subject) and world.has_session(subject)
    return None if asks else "the broker runs, and is registered"


def broker_asks_for_controlled_shutdown(world: SteppedCluster, broker: int, subject: int) -> None:
    """A broker's ControlledShutdown request reaches the controller."""
    world.controllers[broker].begin(lambda one: one.guarded(lambda: one.brokers.shut_down(subject)))


def _notification(name: str, kind: str) -> StepKind:
    """The step in which a controller is notified of something: it only begins an event."""
    return StepKind(name, ("broker",), each_broker,
                    lambda world, broker: world.why_not_notified(broker, kind),
                    lambda world, broker: world.handle_watch(broker, kind))  # fmt: skip


KINDS = (
    _notification("controller_handles_topic_change", "topics"),
    _notification("controller_handles_topic_deletion", "deletions"),
    _notification("controller_handles_partition_change", "partitions"),
    _notification("controller_handles_isr_change", "state"),
    refusable(broker_runs_for_controller, each_broker, _broker_runs_for_controller_unmet),
    refusable(controller_resigns, each_broker, _controller_resigns_unmet),
    refusable(controller_aborts_event, each_broker, _resigns_unmet),
    refusable(controller_continues_event, each_broker, _controller_continues_event_unmet),
    refusable(
        controller_continues_without_session,
        each_broker,
        _controller_continues_without_session_unmet,
    ),
    refusable(
        partition_is_removed,
        each_broker_and_partition,
        _partition_is_removed_unmet,
        "broker number",
    ),
    refusable(answer_arrives, each_answer, _answer_arrives_unmet, "broker replica"),
    refusable(
        broker_failure_is_handled, each_two, _broker_failure_is_handled_unmet, "broker failed"
    ),
    refusable(
        broker_startup_is_handled, each_two, _broker_startup_is_handled_unmet, "broker started"
    ),
    refusable(
        broker_changes_are_handled_together, each_broker, _broker_changes_are_handled_together_unmet
    ),
    refusable(
        preferred_is_elected,
        each_broker_and_partition,
        _preferred_is_elected_unmet,
        "broker number",
    ),
    refusable(
        broker_asks_for_controlled_shutdown,
        each_two,
        _broker_asks_for_controlled_shutdown_unmet,
        "broker subject",
    ),
)
