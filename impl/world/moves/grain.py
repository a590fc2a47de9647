"""Where the event of a controller that moves a partition is suspended: effects of `impl.core`.

Before a rewrite of the topic's znode, of the request, and of the partition's state; after a read of
the state that told something new; where a reassignment is triggered or has caught up; after a round
of requests that ends a step of a reassignment which nothing else ends; and after the registration
at ``/controller``. A read of the state and the write that follows it are one where the read tells
nothing new.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FrameType
from typing import Any

from impl.core.api import ControllerApi
from impl.core.controller_parts import ControllerCore
from impl.core.partition_machine import PartitionMachine
from impl.core.reassigner import Reassigner
from impl.core.replica_machine import ReplicaMachine
from impl.core.states import ReplicaState
from impl.sim.effects import Ask, Report, Send
from impl.sim.event_run import ControllerThread, Place
from impl.sim.places import is_registered, state_read, states_written
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition, paths
from impl.znodes.states import decode_state
from impl.zookeeper import SetData

MOVED = TopicPartition("t", 0)
"""The partition that moves."""

OTHER = TopicPartition("u", 0)
"""Another one, which may move in the same request; where its move is suspended nobody asks."""

STATE = paths.state(*MOVED)
TOPIC = paths.topic(MOVED.topic)

FIRST_STEP = "Registering handlers"
"""What a controller reports first when it takes up the work."""


def finishing(thread: ControllerThread) -> bool:
    """The event is completing the reassignment: its targets were in the ISR."""
    return any(_is_of_moved(thread, one) for one in (Reassigner._finish, Reassigner._complete))


def _is_of_moved(thread: ControllerThread, procedure: Callable[..., Any]) -> bool:
    """The event is in a procedure about the partition that moves."""
    frame = thread.frame_of(procedure)
    return frame is not None and frame.f_locals["partition"] == MOVED


def going_offline(thread: ControllerThread) -> FrameType | None:
    """The frame in which replicas go offline, None where none do."""
    frame = thread.frame_of(ReplicaMachine._move)
    if frame is None or frame.f_locals["target"] is not ReplicaState.OFFLINE:
        return None
    return frame


def writes_state(place: Place) -> bool:
    """The partition's state is written, or was."""
    return STATE in states_written(place.effect)


def reads_state(place: Place) -> bool:
    """The partition's state is read, or was."""
    return state_read(place.effect) == STATE


def told_of_state(place: Place) -> LeaderIsrAndControllerEpoch | None:
    """The state that a read or a write has told, None where it told none."""
    if not place.is_done or isinstance(place.answer, Exception):
        return None
    if reads_state(place):
        return decode_state(*MOVED, place.answer.data, place.answer.version)
    effect = place.effect
    if isinstance(effect, Ask) and effect.operation == "multi":
        for op, outcome in zip(effect.ops, place.answer, strict=True):
            if isinstance(op, SetData) and op.path == STATE and isinstance(outcome, int):
                return decode_state(*MOVED, op.data, outcome)
    return None


def suspends(thread: ControllerThread, place: Place) -> bool:
    """The event is suspended here, whatever a read of the state has told."""
    effect = place.effect
    if isinstance(effect, Report):
        return not place.is_done and _is_a_report(thread, effect)
    if isinstance(effect, Send):
        return place.is_done and _ends_a_step(thread)
    assert isinstance(effect, Ask), "the core awaits effects alone"
    return _registers(place) if place.is_done else _is_about_to_write(thread, effect)


def _is_a_report(thread: ControllerThread, effect: Report) -> bool:
    match effect.event:
        case "step":
            return bool(effect.arguments[0] == FIRST_STEP)
        case "reassignment_triggered" | "reassignment_caught_up":
            return bool(effect.arguments[0] != OTHER)
        case "sends_metadata":
            tells = thread.frame_of(ControllerCore.update_metadata_for)
            return tells is not None and finishing(thread)
    return False


def _ends_a_step(thread: ControllerThread) -> bool:
    """A leader was moved and nobody has to go, or whoever has to go is offline."""
    machine = thread.frame_of(ReplicaMachine.handle)
    if machine is not None:
        stops = _is_of_moved(thread, Reassigner._stop)
        return stops and machine.f_locals["target"] is ReplicaState.OFFLINE
    if not _is_of_moved(thread, Reassigner._move_leader):
        return False
    finish = thread.frame_of(Reassigner._finish)
    if finish is not None:
        return not finish.f_locals["out"]
    complete = thread.frame_of(Reassigner._complete)
    return complete is not None and not complete.f_locals["assignment"].removing


def _registers(place: Place) -> bool:
    """In one with `/controller` (2.1); before, the epoch was counted by a write of its own."""
    effect = place.effect
    return isinstance(effect, Ask) and effect.operation == "multi" and is_registered(place)


def _is_about_to_write(thread: ControllerThread, effect: Ask) -> bool:
    if effect.operation != "get":
        return False
    if effect.path == STATE:
        return is_before_write(thread)
    if effect.path == TOPIC and thread.frame_of(Reassigner._write_assignment):
        # What is asked of the controller itself is answered when the znode is written.
        return finishing(thread) or thread.frame_of(ControllerApi.alter_reassignments) is None
    drops = effect.path == paths.REASSIGN_PARTITIONS and thread.frame_of(Reassigner._drop)
    return bool(drops) and finishing(thread)


def is_before_write(thread: ControllerThread) -> bool:
    """The partition's state is read in order to be written."""
    looks = (Reassigner.caught_up, ControllerCore.read_states)
    return not any(thread.frame_of(one) for one in looks)


def electing(thread: ControllerThread) -> FrameType | None:
    """The frame in which leaders are elected, None where none are."""
    return thread.frame_of(PartitionMachine._elect_once)
