"""What administrators and controllers do in a world of moving partitions.

A controller goes on from where the grain has it suspended. The step that is offered names what it
will do: read a state that tells something new, elect a leader, take a replica offline, or the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from impl.core.api import ControllerApi
from impl.core.event_controller import EventController
from impl.core.requests import PartitionOrder
from impl.sim.effects import Report
from impl.world.moves.grain import (
    MOVED,
    OTHER,
    STATE,
    going_offline,
    reads_state,
    writes_state,
)
from impl.world.moves.kinds import (
    MovesKind,
    each_broker,
    each_broker_and_list,
    each_list,
    each_two,
    once,
)
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition, paths
from impl.znodes.partitions import encode_reassignment
from impl.znodes.states import encode_state
from impl.zookeeper.port import wait

if TYPE_CHECKING:
    from impl.world.moves.world import MovesWorld

UNKNOWN = TopicPartition("nobody", 0)
"""A partition that there is not."""

GOES_ON = ("goes_on", 0)
LOOKS = ("looks", 0)
Coming = tuple[str, int]
"""What a controller does next: goes_on, looks, elects (the leader), takes_offline (the replica)."""


# Events, each begun by a notification, a request, or the death of /controller


async def _stands(controller: EventController) -> None:
    await controller.elect(0)


async def _hears_of_moves(controller: EventController) -> None:
    await controller.guarded(controller.reassignment_requested)


async def _state_changed(controller: EventController) -> None:
    await controller.state_changed(STATE)


async def _hears_of_state(controller: EventController) -> None:
    await controller.guarded(lambda: _state_changed(controller))


async def _other_state_changed(controller: EventController) -> None:
    await controller.state_changed(paths.state(*OTHER))


async def _hears_of_other(controller: EventController) -> None:
    await controller.guarded(lambda: _other_state_changed(controller))


async def _resigns(controller: EventController) -> None:
    await controller.resign()


@dataclass(frozen=True, slots=True)
class Asked:
    """AlterPartitionReassignments for the partition; None cancels its move."""

    target: tuple[int, ...] | None

    def __call__(self, controller: EventController) -> Any:
        """The event."""
        return ControllerApi(controller).alter_reassignments({MOVED: self.target})


# Administrators


def _topic_is_created_refusal(world: MovesWorld, *args: int) -> str | None:
    if world.state() is not None:
        return "there is no such topic"
    office = wait(world.admin.controller_epoch())
    if office is not None and office.epoch != 0:
        return "no controller was there before"
    return _list_refusal(world, args)


def topic_is_created(world: MovesWorld, *args: int) -> None:
    """Its znodes are written, and its replicas lead and follow in epoch 0.

    How that comes about is the matter of `impl.world.topics`.
    """
    ids = tuple(one for one in args if one)
    state = _is_created(world, MOVED, ids)
    if world.has_other:
        _is_created(world, OTHER, (1,))
    order = PartitionOrder(state, ids, True)
    for broker in ids:
        world.hosts[broker].hosted().take(order, world.brokers)
    leader = world.replica(ids[0])
    leader.first = True
    for broker in ids[1:]:
        world.replica(broker).fetch_all(leader)


def _is_created(
    world: MovesWorld, partition: TopicPartition, ids: tuple[int, ...]
) -> LeaderIsrAndControllerEpoch:
    wait(world.admin.create_topic(partition.topic, {partition.partition: ids}))
    wait(world.admin.make_path(paths.partition(*partition)))
    state = LeaderIsrAndControllerEpoch(ids[0], 0, ids, 0)
    wait(world.admin.port.create(paths.state(*partition), encode_state(state)))
    return state


def no_request_refusal(world: MovesWorld) -> str | None:
    """Why an administrator may not write a request now."""
    if world.state() is None:
        return "there is a topic"
    if world.zookeeper.exists(paths.REASSIGN_PARTITIONS):
        return "no other request is there"
    node = wait(world.admin.topic(MOVED.topic))
    moves = node is not None and node.partitions[MOVED.partition].is_being_reassigned
    return "no move stands in the topic's znode" if moves else None


def _admin_asks_for_move_refusal(world: MovesWorld, *args: int) -> str | None:
    return no_request_refusal(world) or _list_refusal(world, args)


def _list_refusal(world: MovesWorld, args: Sequence[int]) -> str | None:
    written = tuple(one for one in args if one) in world.lists
    return None if written else "the list may have so many replicas"


def admin_asks_for_move(world: MovesWorld, *args: int) -> None:
    """``/admin/reassign_partitions`` is created."""
    _request(world, {MOVED: [one for one in args if one]})


def _admin_asks_for_two_moves_refusal(world: MovesWorld, *args: int) -> str | None:
    if not world.has_other:
        return "there is another partition"
    return _admin_asks_for_move_refusal(world, *args)


def admin_asks_for_two_moves(world: MovesWorld, *args: int) -> None:
    """``/admin/reassign_partitions`` names another partition too, which goes to another broker."""
    node = wait(world.admin.topic(OTHER.topic))
    assert node is not None, "the other topic exists"
    other = 2 if node.partitions[OTHER.partition].replicas == (1,) else 1
    _request(world, {MOVED: [one for one in args if one], OTHER: [other]})


def admin_asks_for_unknown(world: MovesWorld) -> None:
    """``/admin/reassign_partitions`` names a partition that there is not."""
    _request(world, {UNKNOWN: [1]})


def _request(world: MovesWorld, targets: dict[TopicPartition, list[int]]) -> None:
    wait(world.admin.port.create(paths.REASSIGN_PARTITIONS, encode_reassignment(targets)))


def _api_refusal(world: MovesWorld, broker: int) -> str | None:
    if not world.release.since("2.4"):
        return "controllers are asked for moves since 2.4"
    if not world.waits(broker):
        return "it waits for events"
    if world.zookeeper.exists(paths.REASSIGN_PARTITIONS):
        return "no request stands under /admin"
    return None


def _admin_asks_controller_refusal(world: MovesWorld, broker: int, *args: int) -> str | None:
    refusal = _api_refusal(world, broker)
    if refusal is not None:
        return refusal
    controller, target = world.threads[broker].controller, tuple(one for one in args if one)
    if controller.reassigner.validate(MOVED, target) != "NONE":
        return "every new replica is alive"
    known = controller.core.context.replicas(MOVED)
    if target == (controller.reassigner.targets.get(MOVED) or known):
        return "another list is asked for than it works on"
    return _list_refusal(world, args)


def admin_asks_controller(world: MovesWorld, broker: int, *args: int) -> None:
    """AlterPartitionReassignments comes to the controller (KIP-455)."""
    world.threads[broker].begin(Asked(tuple(one for one in args if one)))


def _admin_cancels_move_refusal(world: MovesWorld, broker: int) -> str | None:
    refusal = _api_refusal(world, broker)
    if refusal is not None:
        return refusal
    moves = MOVED in world.threads[broker].controller.reassigner.targets
    return None if moves else "the partition is to move"


def admin_cancels_move(world: MovesWorld, broker: int) -> None:
    """AlterPartitionReassignments without a target comes to the controller (KIP-455)."""
    world.threads[broker].begin(Asked(None))


# Office


def _broker_stands_refusal(world: MovesWorld, broker: int) -> str | None:
    if wait(world.admin.controller()) is not None:
        return "/controller does not exist"
    return "it is not the controller" if world.in_office(broker) else None


def broker_stands(world: MovesWorld, broker: int) -> None:
    """It registers; ZooKeeper has executed that, and the answer is on its way."""
    world.threads[broker].begin(_stands)


def _controller_resigns_refusal(world: MovesWorld, broker: int) -> str | None:
    if not world.threads[broker].controller.active:
        return "the broker believes it is the controller"
    mine = wait(world.admin.controller()) == broker
    return "/controller is not its own any more" if mine else None


def controller_resigns(world: MovesWorld, broker: int) -> None:
    """It is told that /controller is not its own any more; what it was about to do is dropped."""
    world.threads[broker].abandon()
    world.threads[broker].begin(_resigns)


def _controller_node_is_deleted_refusal(world: MovesWorld) -> str | None:
    return "/controller exists" if wait(world.admin.controller()) is None else None


def controller_node_is_deleted(world: MovesWorld) -> None:
    """``/controller`` is deleted by hand; who was controller does not know."""
    wait(world.admin.port.delete(paths.CONTROLLER))


# Going on


def coming(world: MovesWorld, broker: int) -> Coming | None:
    """What a controller does next when it goes on; None if it is not in the middle of an event."""
    thread = world.threads[broker]
    place = thread.place
    if place is None:
        return None
    if not (reads_state(place) or writes_state(place)):
        return GOES_ON
    state, news = world.registered(), world.has_news(broker)
    reads = not place.is_done and reads_state(place)
    deposed = world.deposed(broker)
    offline = going_offline(thread)
    if offline is not None:
        replica: int = offline.f_locals["broker"]
        if (reads or (news and not deposed)) and replica not in state.isr:
            return "takes_offline", replica
        if not (deposed or news):
            return "takes_offline", replica
    if deposed:
        return GOES_ON  # to a write that is fenced
    if news:
        return LOOKS
    elected = world.would_elect(broker, state)
    return GOES_ON if elected is None else ("elects", elected)


def _is_coming(world: MovesWorld, broker: int, what: Coming) -> bool:
    return coming(world, broker) == what


def _controller_goes_on_refusal(world: MovesWorld, broker: int) -> str | None:
    place = world.threads[broker].place
    if place is None or _is_triggered(world, broker):
        return "it is in the middle of an event"
    if world.takes_up_work(broker) and world.state() is None:
        return "the partition exists"
    return None if coming(world, broker) == GOES_ON else "it reads, elects, or takes one offline"


def _controller_looks_refusal(world: MovesWorld, broker: int) -> str | None:
    found = _is_coming(world, broker, LOOKS)
    return None if found else "it reads a state that has changed since it looked"


def _controller_elects_refusal(world: MovesWorld, broker: int, leader: int) -> str | None:
    return None if _is_coming(world, broker, ("elects", leader)) else "that is whom it elects"


def _controller_takes_offline_refusal(world: MovesWorld, broker: int, replica: int) -> str | None:
    found = _is_coming(world, broker, ("takes_offline", replica))
    return None if found else "the replica is the one that goes offline next"


def controller_goes_on(world: MovesWorld, broker: int, *args: int) -> None:
    """On with the event that it is in the middle of, to where it is suspended next."""
    world.threads[broker].go_on()


# What it is told of


def _is_triggered(world: MovesWorld, broker: int) -> bool:
    """A reassignment is looked at, to be begun or refused."""
    place = world.threads[broker].place
    if place is None or not isinstance(place.effect, Report):
        return False
    return place.effect.event == "reassignment_triggered"


def _controller_hears_of_moves_refusal(world: MovesWorld, broker: int) -> str | None:
    if _is_triggered(world, broker):
        return None
    if not world.waits(broker):
        return "it waits for events"
    return None if "moves" in world.inbox[broker] else "its watch fired"


def controller_hears_of_moves(world: MovesWorld, broker: int) -> None:
    """It looks at what is asked for, or has found it when it became controller."""
    if world.waits(broker):
        world.inbox[broker] -= {"moves"}
        world.threads[broker].begin(_hears_of_moves)
    if _is_triggered(world, broker):
        world.threads[broker].go_on()


def _controller_hears_of_isr_refusal(world: MovesWorld, broker: int) -> str | None:
    if not world.waits(broker):
        return "it waits for events"
    return None if "state" in world.inbox[broker] else "its watch fired"


def controller_hears_of_isr(world: MovesWorld, broker: int) -> None:
    """The state of the partition changed: are the targets in the ISR?"""
    world.inbox[broker] -= {"state"}
    world.threads[broker].begin(_hears_of_state)


def _controller_hears_of_other_refusal(world: MovesWorld, broker: int) -> str | None:
    if not world.waits(broker):
        return "it waits for events"
    moves = OTHER in world.threads[broker].controller.reassigner.targets
    return None if moves else "the request names another partition"


def controller_hears_of_other(world: MovesWorld, broker: int) -> None:
    """The other partition's leader takes every replica into its ISR, and its move is completed."""
    node, state = wait(world.admin.topic(OTHER.topic)), wait(world.admin.state(OTHER))
    assert node is not None, "the other topic exists"
    assert state is not None, "and its partition has a state"
    grown = replace(state, isr=node.partitions[OTHER.partition].replicas)
    wait(world.admin.update_states({OTHER: grown}))
    world.threads[broker].begin(_hears_of_other)


KINDS: tuple[MovesKind, ...] = (
    MovesKind("topic_is_created", each_list, _topic_is_created_refusal, topic_is_created),
    MovesKind("admin_asks_for_move", each_list, _admin_asks_for_move_refusal, admin_asks_for_move),
    MovesKind("admin_asks_for_two_moves", each_list,
              _admin_asks_for_two_moves_refusal, admin_asks_for_two_moves),
    MovesKind("controller_hears_of_other", each_broker,
              _controller_hears_of_other_refusal, controller_hears_of_other),
    MovesKind("admin_asks_for_unknown", once, no_request_refusal, admin_asks_for_unknown),
    MovesKind("admin_asks_controller", each_broker_and_list,
              _admin_asks_controller_refusal, admin_asks_controller),
    MovesKind("admin_cancels_move", each_broker, _admin_cancels_move_refusal, admin_cancels_move),
    MovesKind("broker_stands", each_broker, _broker_stands_refusal, broker_stands),
    MovesKind("controller_node_is_deleted", once,
              _controller_node_is_deleted_refusal, controller_node_is_deleted),
    MovesKind("controller_resigns", each_broker, _controller_resigns_refusal, controller_resigns),
    MovesKind("controller_goes_on", each_broker, _controller_goes_on_refusal, controller_goes_on),
    MovesKind("controller_looks", each_broker, _controller_looks_refusal, controller_goes_on),
    MovesKind("controller_elects", each_two, _controller_elects_refusal, controller_goes_on),
    MovesKind("controller_takes_offline", each_two,
              _controller_takes_offline_refusal, controller_goes_on),
    MovesKind("controller_hears_of_moves", each_broker,
              _controller_hears_of_moves_refusal, controller_hears_of_moves),
    MovesKind("controller_hears_of_isr", each_broker,
              _controller_hears_of_isr_refusal, controller_hears_of_isr),
)  # fmt: skip
