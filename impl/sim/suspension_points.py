"""Reads the effects at which an event of a controller is suspended.

Registrations, and reads and writes of a partition's state. Used by every world's grain and mapping.
"""

from __future__ import annotations

import re
from types import FrameType
from typing import Any

from impl.sim.effects import Effect, JournalReport, ZkOperation
from impl.sim.event_run import ControllerThread, SuspensionPoint
from impl.znodes import paths
from impl.znodes.client import ControllerEpoch, ZnodeClient
from impl.znodes.cluster import decode_controller_epoch
from impl.zookeeper import ConnectionLoss, Create, SetData, Znode, ZooKeeper, ZooKeeperError
from impl.zookeeper.port import wait

STATE_NODE = re.compile(re.escape(paths.TOPICS) + r"/([^/]+)/partitions/(\d+)/state")
"""A partition's state; its groups are the topic and the number."""

Frames = dict[str, FrameType]
"""Procedure by qualified name -> its frame, the innermost if it is in it more than once."""


def frames_of(thread: ControllerThread) -> Frames:
    """The frames of a suspended event by procedure name, outermost first."""
    return {frame.f_code.co_qualname: frame for frame in thread.stack()}


def reported(thread: ControllerThread, event: str) -> tuple[Any, ...]:
    """The last report of a suspended event under a name. LookupError if there is none."""
    for place in reversed(thread.reached()):
        if isinstance(place.effect, JournalReport) and place.effect.event == event:
            return place.effect.arguments
    raise LookupError(f"the event has not reported {event}")


def state_as_read(thread: ControllerThread) -> Znode:
    """The partition state that a suspended event read last. LookupError if it read none."""
    for place in reversed(thread.reached()):
        if place.is_done and state_read(place.effect) and isinstance(place.answer, Znode):
            return place.answer
    raise LookupError("the event has not read a state")


def registered_epoch(effect: Effect) -> int | None:
    """The controller epoch that an operation registers, None if it is no registration.

    Up to 2.0 it is written after `/controller` was created, and this write ends the registration.
    """
    if not isinstance(effect, ZkOperation):
        return None
    if effect.path == paths.CONTROLLER_EPOCH and effect.operation in ("set_data", "create"):
        return int(effect.arguments[1]) or None  # 0 before there was a controller
    if not any(isinstance(op, Create) and op.path == paths.CONTROLLER for op in effect.ops):
        return None
    return next((int(op.data) for op in effect.ops if isinstance(op, SetData)), None)


def newest_controller_epoch(zookeeper: ZooKeeper) -> ControllerEpoch:
    """The content of ``/controller_epoch``; 0 before the first controller creates it (2.0)."""
    node = zookeeper.nodes.get(paths.CONTROLLER_EPOCH)
    if node is None:
        return ControllerEpoch(0, 0)
    return ControllerEpoch(decode_controller_epoch(node.data), node.version)


def make_controller_epoch(admin: ZnodeClient) -> None:
    """A new cluster's ``/controller_epoch``: since 2.1 the first controller finds 0 in it."""
    if admin.release.since("2.1"):
        wait(admin.make_path(paths.CONTROLLER_EPOCH, "0"))


def is_claim(place: SuspensionPoint | None) -> bool:
    """Whether `/controller` is created, before the epoch is read or incremented (up to 2.0)."""
    effect = None if place is None else place.effect
    return isinstance(effect, ZkOperation) and (effect.operation, effect.path) == (
        "create",
        paths.CONTROLLER,
    )


def states_written(effect: Effect) -> list[str]:
    """The paths of the partition states that an operation overwrites."""
    ops = effect.ops if isinstance(effect, ZkOperation) else ()
    return [op.path for op in ops if isinstance(op, SetData) and STATE_NODE.fullmatch(op.path)]


def state_read(effect: Effect) -> str | None:
    """The path of the partition state that an operation reads, None if it reads none."""
    if not isinstance(effect, ZkOperation) or effect.operation != "get":
        return None
    return effect.path if STATE_NODE.fullmatch(effect.path) else None


def is_lost(place: SuspensionPoint) -> bool:
    """Whether the answer was lost."""
    return isinstance(place.answer, ConnectionLoss)


def is_refused(place: SuspensionPoint) -> bool:
    """Whether ZooKeeper refused the operation."""
    if isinstance(place.answer, ZooKeeperError):
        return not is_lost(place)
    answers = place.answer if isinstance(place.answer, list) else [place.answer]
    return any(isinstance(one, ZooKeeperError) for one in answers)


def is_registered(place: SuspensionPoint) -> bool:
    """Whether ZooKeeper has registered the controller; the answer is on its way, or lost."""
    return place.is_done and registered_epoch(place.effect) is not None and not is_refused(place)


def is_to_be_fenced(thread: ControllerThread) -> bool:
    """Whether its next write will be refused: a newer controller was elected, and writes are fenced
    (2.1); or its session has expired."""
    core = thread.controller.core
    newest = newest_controller_epoch(thread.zookeeper).epoch
    deposed = newest > core.context.epoch and core.release.since("2.1")
    return deposed or thread.port.embedded.session not in thread.zookeeper.sessions
