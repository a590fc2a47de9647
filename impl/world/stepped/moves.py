"""Steps of reassignments: requests, and the notifications of controllers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from impl.core import leader_election
from impl.core.api import ControllerApi
from impl.core.event_controller import EventController
from impl.core.requests import LeaderAndIsr, LeaderAndIsrPartitionState
from impl.sim.event_run import as_watch_event
from impl.sim.simulation import refusable
from impl.world.processes import each_broker, once
from impl.world.stepped.controller_run import FIRST, TOPIC, writes_state
from impl.world.stepped.in_memory_broker import RequestInFlight
from impl.world.stepped.stepped_cluster import (
    SteppedCluster,
    Unmet,
    each_broker_and_list,
    each_list,
    each_two,
)
from impl.world.stepped.writes import (
    OTHER,
    electing,
    going_offline,
    is_triggered,
    last_state_returned,
    reads_state,
    would_elect,
)
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition, paths
from impl.znodes.partitions import encode_reassignment
from impl.znodes.states import encode_state
from impl.zookeeper.port import wait
from impl.zookeeper.znode import EventType
from impl.zookeeper.znode import WatchEvent as Notification

UNKNOWN = TopicPartition("nobody", 0)
"""A partition that there is not."""


OTHERS_STATE = Notification(EventType.DATA_CHANGED, paths.state(*OTHER))


@dataclass(frozen=True, slots=True)
class MoveAsked:
    """AlterPartitionReassignments for the partition; None cancels its move."""

    target: tuple[int, ...] | None

    def __call__(self, controller: EventController) -> Any:
        """The event."""
        return ControllerApi(controller).alter_reassignments({FIRST: self.target})


# What can be seen


def registered_state(world: SteppedCluster) -> LeaderIsrAndControllerEpoch:
    """The registered state of a partition that is there."""
    state = world.state()
    assert state is not None, "there is a topic"
    return state


def state_known_by(world: SteppedCluster, broker: int) -> LeaderIsrAndControllerEpoch | None:
    """The state of the partition that a controller last read or wrote."""
    run = world.controllers[broker]
    return last_state_returned(reversed(run.reached())) or run.known


def has_news(world: SteppedCluster, broker: int) -> bool:
    """Whether the partition's registered state differs from the one that a controller knows."""
    known = state_known_by(world, broker)
    return known is None or known.zk_version != registered_state(world).zk_version


# Administrators


def _topic_is_created_unmet(world: SteppedCluster, *args: int) -> Unmet:
    if world.state() is not None:
        return "there is no such topic"
    if world.epoch():
        return "no controller was there before"
    return _list_unmet(world, args)


def topic_is_created(world: SteppedCluster, *args: int) -> None:
    """Its znodes are written, and its replicas lead and follow in epoch 0.

    This is the state after a controller that no longer exists.
    """
    ids = tuple(one for one in args if one)
    state = _create(world, FIRST, ids)
    _create(world, OTHER, (1,))
    world.created += 1
    order = LeaderAndIsr(0, 0, 0, -1, {FIRST: LeaderAndIsrPartitionState(state, ids, True)}, ids)
    for broker in ids:
        world.hosts[broker].obey(RequestInFlight(order, world.created))
    leader = world.replica(ids[0])
    leader.first = True
    for broker in ids[1:]:
        world.hosts[broker].fetch(FIRST, world.hosts[ids[0]].replicas, 0)


def _create(
    world: SteppedCluster, partition: TopicPartition, ids: tuple[int, ...]
) -> LeaderIsrAndControllerEpoch:
    wait(world.admin.create_topic(partition.topic, {partition.partition: ids}))
    wait(world.admin.make_path(paths.partition(*partition)))
    state = LeaderIsrAndControllerEpoch(ids[0], 0, ids, 0)
    wait(world.admin.port.create(paths.state(*partition), encode_state(state)))
    return state


def _no_request_unmet(world: SteppedCluster) -> Unmet:
    if world.state() is None:
        return "there is a topic"
    if world.zookeeper.exists(paths.REASSIGN_PARTITIONS):
        return "no other request is there"
    node = wait(world.admin.topic(FIRST.topic))
    moves = node is not None and node.partitions[FIRST.partition].is_being_reassigned
    return "the topic's znode has no reassignment" if moves else None


def _list_unmet(world: SteppedCluster, args: Sequence[int]) -> Unmet:
    return None if args in world.lists else "the list may have so many replicas"


def _admin_requests_reassignment_unmet(world: SteppedCluster, *args: int) -> Unmet:
    return _no_request_unmet(world) or _list_unmet(world, args)


def admin_requests_reassignment(world: SteppedCluster, *args: int) -> None:
    """``/admin/reassign_partitions`` is created."""
    _request(world, {FIRST: [one for one in args if one]})


def admin_requests_two_reassignments(world: SteppedCluster, *args: int) -> None:
    """A reassignment request that also names another partition, which moves to another
    broker.
    """
    node = wait(world.admin.topic(OTHER.topic))
    assert node is not None, "the other topic exists"
    other = 2 if node.partitions[OTHER.partition].replicas == (1,) else 1
    _request(world, {FIRST: [one for one in args if one], OTHER: [other]})


# A dead broker's replicas are moved away from it


def _dead_replica_is_reassigned_unmet(world: SteppedCluster, broker: int, replica: int) -> Unmet:
    unmet = world.must_wait(broker)
    if unmet is not None:
        return unmet
    controller, context = world.controllers[broker].controller, world.context(broker)
    if TOPIC in context.queued_for_deletion:
        return "the topic is not queued for deletion"
    if replica in context.live:
        return "the broker is dead, as far as it knows"
    known = world.known(broker)
    if not any(replica in ids for ids in known.values()):
        return "it is in some replica list"
    if any(to in context.live for epoch, to in world.connections if epoch == context.epoch):
        return "nothing is under way to live brokers"
    for number, ids in known.items():
        partition = TopicPartition(TOPIC, number)
        state, target = world.state(number), [one for one in ids if one != replica]
        stays = state is not None and state.leader in target
        live = context.live_replicas(partition)
        if state is None or not (stays or leader_election.reassign(target, state.isr, live)):
            return "each partition is led by another, or can be"
    if controller.reassigner.in_progress() or world.zookeeper.exists(paths.REASSIGN_PARTITIONS):
        return "no partition is to move"
    return "it is the newest controller" if world.is_fenced(broker) else None


def dead_replica_is_reassigned(world: SteppedCluster, broker: int, replica: int) -> None:
    """A reassignment is requested, begun and completed, with all its requests, in one step."""
    known, context = world.known(broker), world.context(broker)
    _request(world, {
        TopicPartition(TOPIC, number): [one for one in ids if one != replica]
        for number, ids in known.items() if replica in ids
    })  # fmt: skip
    heard = {"topics", "partitions", "deletions"} & world.inbox[broker]
    for kind in ("moves", "partitions"):  # it is notified of what it writes itself, too
        world._take_notifications()
        if kind in world.inbox[broker] and kind not in heard:
            world.handle_watch(broker, kind)
        while world.place(broker) is not None:
            world.controllers[broker].resume()
    for to in sorted(world.connections):
        if to[0] == context.epoch and to[1] in context.live:
            for sent in world.connections.pop(to):
                world.hosts[to[1]].obey(sent)


def admin_requests_unknown_partition(world: SteppedCluster) -> None:
    """``/admin/reassign_partitions`` names a partition that does not exist."""
    _request(world, {UNKNOWN: [1]})


def _request(world: SteppedCluster, targets: dict[TopicPartition, list[int]]) -> None:
    wait(world.admin.port.create(paths.REASSIGN_PARTITIONS, encode_reassignment(targets)))


def _admin_withdraws_request_unmet(world: SteppedCluster) -> Unmet:
    asked = FIRST in wait(world.admin.reassignments())
    return None if asked else "a move is asked for"


def admin_withdraws_request(world: SteppedCluster) -> None:
    """``/admin/reassign_partitions`` is deleted by an operator."""
    wait(world.admin.port.delete(paths.REASSIGN_PARTITIONS))


def _api_unmet(world: SteppedCluster, broker: int) -> Unmet:
    if not world.release.since("2.4"):
        return "controllers are asked for moves since 2.4"
    unmet = world.must_wait(broker)
    if unmet is not None:
        return unmet
    if world.zookeeper.exists(paths.REASSIGN_PARTITIONS):
        return "there is no request under /admin"
    return None


def _admin_sends_alter_reassignments_unmet(world: SteppedCluster, broker: int, *args: int) -> Unmet:
    unmet = _api_unmet(world, broker)
    if unmet is not None:
        return unmet
    controller, target = world.controllers[broker].controller, _list(args)
    if controller.reassigner.validate(FIRST, target) != "NONE":
        return "every new replica is alive"
    known = controller.core.context.replicas(FIRST)
    if target == (controller.reassigner.targets.get(FIRST) or known):
        return "another list is asked for than it works on"
    return _list_unmet(world, args)


def admin_sends_alter_reassignments(world: SteppedCluster, broker: int, *args: int) -> None:
    """The controller receives AlterPartitionReassignments (KIP-455)."""
    world.controllers[broker].begin(MoveAsked(_list(args)))


def _admin_cancels_reassignment_unmet(world: SteppedCluster, broker: int) -> Unmet:
    return _api_unmet(world, broker) or (
        None if _moves(world, broker, FIRST) else "the partition is to move"
    )


def admin_cancels_reassignment(world: SteppedCluster, broker: int) -> None:
    """The controller receives AlterPartitionReassignments without a target (KIP-455)."""
    world.controllers[broker].begin(MoveAsked(None))


# Notifications of controllers


def _moves(world: SteppedCluster, broker: int, partition: TopicPartition) -> bool:
    return partition in world.controllers[broker].controller.reassigner.targets


def _controller_handles_reassignment_unmet(world: SteppedCluster, broker: int) -> Unmet:
    return world.why_not_notified(broker, "moves")


def controller_handles_reassignment(world: SteppedCluster, broker: int) -> None:
    """The controller reads the request, and begins or refuses the reassignment."""
    world.handle_watch(broker, "moves")
    if is_triggered(world.place(broker)):
        world.controllers[broker].resume()


def _controller_handles_other_reassignment_unmet(world: SteppedCluster, broker: int) -> Unmet:
    unmet = world.must_wait(broker)
    moves = _moves(world, broker, OTHER)
    return unmet or (None if moves else "the request names another partition")


def controller_handles_other_reassignment(world: SteppedCluster, broker: int) -> None:
    """The other partition's leader adds every replica to its ISR, and its move completes."""
    node, state = wait(world.admin.topic(OTHER.topic)), wait(world.admin.state(OTHER))
    assert node is not None, "the other topic exists"
    assert state is not None, "and its partition has a state"
    grown = replace(state, isr=node.partitions[OTHER.partition].replicas)
    wait(world.admin.update_states({OTHER: grown}))
    world.controllers[broker].begin(as_watch_event(OTHERS_STATE))


# Answers to a controller that are lost


def _answer_is_lost_unmet(world: SteppedCluster, broker: int) -> Unmet:
    thread = world.controllers[broker]
    if thread.place is None or not (reads_state(thread.place) or writes_state(thread.place)):
        return "it is about to write the partition's state"
    if not world.has_session(broker):
        return "it has a ZooKeeper session"
    if world.is_deposed(broker):
        return "no newer controller was elected"
    if has_news(world, broker):
        return "the state that it knows is the registered one"
    state, offline = registered_state(world), going_offline(thread)
    if offline is not None:
        leaves = offline.f_locals["broker"] in state.isr
        return None if leaves else "the replica is in the registered ISR"
    fails = electing(thread) is not None and would_elect(thread, state) is None
    return "somebody can be elected" if fails else None


def answer_is_lost(world: SteppedCluster, broker: int) -> None:
    """The state is written, and the connection breaks: the write is about to be sent again.

    The second write is refused, and the controller takes the state for another writer's.
    """
    world.controllers[broker].write_and_lose_response()


def _list(args: Sequence[int]) -> tuple[int, ...]:
    return tuple(one for one in args if one)


KINDS = (
    refusable(topic_is_created, each_list, _topic_is_created_unmet, "first second third"),
    refusable(
        admin_requests_reassignment,
        each_list,
        _admin_requests_reassignment_unmet,
        "first second third",
    ),
    refusable(
        admin_requests_two_reassignments,
        each_list,
        _admin_requests_reassignment_unmet,
        "first second third",
    ),
    refusable(
        dead_replica_is_reassigned, each_two, _dead_replica_is_reassigned_unmet, "broker replica"
    ),
    refusable(admin_requests_unknown_partition, once, _no_request_unmet, ""),
    refusable(admin_withdraws_request, once, _admin_withdraws_request_unmet, ""),
    refusable(
        admin_sends_alter_reassignments,
        each_broker_and_list,
        _admin_sends_alter_reassignments_unmet,
        "broker first second third",
    ),
    refusable(admin_cancels_reassignment, each_broker, _admin_cancels_reassignment_unmet),
    refusable(controller_handles_reassignment, each_broker, _controller_handles_reassignment_unmet),
    refusable(
        controller_handles_other_reassignment,
        each_broker,
        _controller_handles_other_reassignment_unmet,
    ),
    refusable(answer_is_lost, each_broker, _answer_is_lost_unmet),
)
