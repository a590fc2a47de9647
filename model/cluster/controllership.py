"""A controller learns from an event that it was deposed; `conflicts` has the fenced write.

Source: KafkaController.maybeResign, onControllerResignation
"""

from model.cluster.events import dequeued, require_next, with_event
from model.cluster.thread import clear_context
from model.language import CLIENTS, all_of, lam, require, transition, version, when
from model.protocol.controllership import (
    delete_controller_node,
    lose_election,
    reads_back_epoch,
    require_controllership,
)
from model.protocol.state import BROKERS

CHANGED = "a ControllerChange is next in its queue"


@transition(actor=CLIENTS, fault=True)
def controller_node_is_deleted(now, new):
    """An operator deletes /controller to force an election; its owner keeps its session.

    The owner learns of it when its event thread handles the ControllerChange, if its process runs.

    Why: a deposed controller that can still write is what the fence of KAFKA-6082 is for.
    """
    delete_controller_node(now, new)

    new.cache = owner_notified(now, lambda one: now.up.has(one))


def owner_notified(now, hears):
    """/controller is deleted: its former owner gets a ControllerChange if `hears`, that is if
    its watch fires."""
    return lam(BROKERS, lambda one: when(
        all_of(now.zk.controller == one, hears(one)),
        with_event(now.cache[one], "controller_change"), now.cache[one]))


@transition(broker=BROKERS)
def broker_loses_controller_election(now, new, broker):
    """The reply was lost, and by now /controller or the epoch is not the broker's any more.

    From 1.1 to 2.0 it gives up without reading it, and deletes /controller, even if it belongs to
    another broker; up to 1.0 only the first controller of a cluster does.
    Kafka: KafkaController.incrementControllerEpoch, triggerControllerMove (up to 2.0)
    """
    lose_election(now, new, broker)

    if not reads_back_epoch(version):
        new.cache = owner_notified(now, lambda one: all_of(
            now.up.has(one), one != broker, now.zk.registered.has(broker)))


@transition(ends="lost", broker=BROKERS)
def controller_resigns(now, new, broker):
    """A deposed controller reads that /controller is no longer its own, and resigns.

    Its memory is cleared and its handlers are removed, so that events queued behind have no effect.
    """
    require_controllership(now, broker)
    require_next(now, broker, "controller_change",  CHANGED)
    require(now.zk.controller != broker,            "/controller is not its own any more")

    new.belief[broker] = 0
    new.resigned       = now.resigned.without(broker)
    clear_context(now, new, broker)


@transition(broker=BROKERS)
def controller_is_still_active(now, new, broker):
    """The event is about a controllership that the broker lost unnoticed, and has again by now."""
    require_controllership(now, broker)
    require_next(now, broker, "controller_change",  CHANGED)
    require(now.zk.controller == broker,            "/controller is its own")

    new.cache[broker] = dequeued(now.cache[broker])


@transition(ends="lost", only=lambda v: not v.events_dropped, broker=BROKERS)
def controller_resigns_and_keeps_its_queue(now, new, broker):
    """The controller has resigned, but its thread still handles queued events, in the old epoch.

    Kafka: listeners were not removed until KAFKA-4447
    """
    require_controllership(now, broker)
    require_next(now, broker, "controller_change",  CHANGED)
    require(now.zk.controller != broker,            "/controller is not its own any more")

    new.resigned      = now.resigned.including(broker)
    new.cache[broker] = dequeued(now.cache[broker])
