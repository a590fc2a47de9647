"""The `WRITES` grain: the effects at which a controller that moves a partition is suspended.

These are: before a rewrite of the topic's znode, of the request, and of the partition's state;
after a read of a changed state; where a reassignment is triggered or has caught up; after the last
round of requests of a reassignment step that nothing else ends; and after the registration at
``/controller``. A read of an unchanged state and the write after it are one step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any

from impl.core.api import ControllerApi
from impl.core.broker_changes import BrokerChanges
from impl.core.controller_parts import ControllerParts
from impl.core.event_controller import EventController
from impl.core.partition_machine import OFFLINE, PartitionMachine
from impl.core.reassigner import Reassigner
from impl.core.replica_machine import ReplicaMachine
from impl.core.states import ReplicaState
from impl.sim.effects import JournalReport, SendRequests, ZkOperation
from impl.sim.event_run import ControllerThread, SuspensionPoint
from impl.sim.suspension_points import (
    is_registered,
    is_to_be_fenced,
    newest_controller_epoch,
    state_read,
)
from impl.world.stepped.controller_run import (
    FIRST,
    HANDLERS,
    ControllerRun,
    Grain,
    is_next_event,
    writes_state,
)
from impl.world.stepped.replica import SteppedReplica
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition, paths
from impl.znodes.states import decode_state
from impl.zookeeper import SetData

OTHER = TopicPartition("u", 0)
"""Another one, which may move in the same request; where its move is suspended nobody asks."""

STATE = paths.state(*FIRST)
TOPIC = paths.topic(FIRST.topic)


def finishing(thread: ControllerThread) -> bool:
    """Whether the event is completing the reassignment: its targets were in the ISR."""
    return any(_is_of_moved(thread, one) for one in (Reassigner._finish, Reassigner._complete))


def _is_of_moved(thread: ControllerThread, procedure: Callable[..., Any]) -> bool:
    """The event is in a procedure about the partition that moves."""
    frame = thread.frame_of(procedure)
    return frame is not None and frame.f_locals["partition"] == FIRST


def going_offline(thread: ControllerThread) -> FrameType | None:
    """The frame in which replicas go offline, None where none do."""
    frame = thread.frame_of(ReplicaMachine._move)
    if frame is None or frame.f_locals["target"] is not ReplicaState.OFFLINE:
        return None
    return frame


def reads_state(place: SuspensionPoint) -> bool:
    """Whether the effect reads, or has read, the partition's state."""
    return state_read(place.effect) == STATE


def state_returned_by(place: SuspensionPoint) -> LeaderIsrAndControllerEpoch | None:
    """The state that a read or a write returned, None where it returned none."""
    if not place.is_done or isinstance(place.answer, Exception):
        return None
    if reads_state(place):
        return decode_state(*FIRST, place.answer.data, place.answer.version)
    effect = place.effect
    if isinstance(effect, ZkOperation) and effect.operation == "multi":
        for op, outcome in zip(effect.ops, place.answer, strict=True):
            if isinstance(op, SetData) and op.path == STATE and isinstance(outcome, int):
                return decode_state(*FIRST, op.data, outcome)
    return None


def is_triggered(place: SuspensionPoint | None) -> bool:
    """Whether a reassignment is about to be begun or refused."""
    effect = None if place is None else place.effect
    return isinstance(effect, JournalReport) and effect.event == "reassignment_triggered"


def last_state_returned(places: Iterable[SuspensionPoint]) -> LeaderIsrAndControllerEpoch | None:
    """The state that the last read or write among places returned, None if there was none."""
    return next(
        (reported for place in places if (reported := state_returned_by(place)) is not None), None
    )


def suspends(run: ControllerRun, place: SuspensionPoint) -> bool:
    """Whether the event is suspended here; it ends here if another event follows."""
    if is_next_event(run):
        return True
    if not reads_state(place):
        return not writes_state(place) and _is_suspended(run, place)
    if place.is_done:
        return _tells_news(run, place)
    return not _was_refused(run) and _is_suspended(run, place)


def _was_refused(run: ControllerRun) -> bool:
    """A write of the state was refused right before: that and the read that follows are one."""
    asked = next((one for one in reversed(run.passed) if isinstance(one.effect, ZkOperation)), None)
    return asked is not None and writes_state(asked) and state_returned_by(asked) is None


def _tells_news(run: ControllerRun, place: SuspensionPoint) -> bool:
    """A read returned another state than the one known before, and is followed by a write, which
    may come too late by then.

    A deposed controller's is fenced in any case. Where it was looked whether the targets have
    caught up nothing is written, nor where nobody can be elected, nor where a replica that goes
    offline is out of the ISR. When brokers come and go, what is read is news always.
    """
    state, context = state_returned_by(place), run.controller.core.context
    if state is None or not is_before_write(run):
        return False
    offline = going_offline(run)
    if in_change(run):
        if offline is not None:
            return offline.f_locals["broker"] in state.isr
        return electing(run) is None or would_elect(run, state) is not None
    known = last_state_returned(reversed(run.passed)) or run.known
    if known is not None and known.zk_version == state.zk_version:
        return False
    if newest_controller_epoch(run.zookeeper).epoch > context.epoch:
        return False
    if offline is not None:
        return offline.f_locals["broker"] in state.isr
    return electing(run) is None or would_elect(run, state) is not None


def _is_suspended(thread: ControllerThread, place: SuspensionPoint) -> bool:
    effect = place.effect
    if isinstance(effect, JournalReport):
        return not place.is_done and _is_a_report(thread, effect)
    if isinstance(effect, SendRequests):
        return place.is_done and _ends_a_step(thread)
    assert isinstance(effect, ZkOperation), "the core awaits effects alone"
    return _registers(place) if place.is_done else _is_about_to_write(thread, effect)


def _is_a_report(thread: ControllerThread, effect: JournalReport) -> bool:
    match effect.event:
        case "step":
            return effect == HANDLERS
        case "reassignment_triggered" | "reassignment_caught_up":
            return bool(effect.arguments[0] != OTHER)
        case "sends_metadata":
            tells = thread.frame_of(ControllerParts.update_metadata_for)
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


def _registers(place: SuspensionPoint) -> bool:
    """Whether the epoch is written: since 2.1 in one multi with `/controller`, before by itself."""
    effect = place.effect
    counts = isinstance(effect, ZkOperation) and effect.operation in ("multi", "set_data", "create")
    return counts and is_registered(place)


def _is_about_to_write(thread: ControllerThread, effect: ZkOperation) -> bool:
    if any(isinstance(op, SetData) and op.path == TOPIC for op in effect.ops):
        # What is asked of the controller itself is answered when the znode is written.
        return finishing(thread) or thread.frame_of(ControllerApi.alter_reassignments) is None
    if effect.operation != "get":
        return False
    if effect.path == STATE:
        return is_before_write(thread) and not in_change(thread) and not _changes_nothing(thread)
    if effect.path != paths.REASSIGN_PARTITIONS or thread.frame_of(Reassigner.drop) is None:
        return False
    return finishing(thread) or (rewriting(thread) and is_to_be_fenced(thread))


def _changes_nothing(thread: ControllerThread) -> bool:
    """A new controller looks for a leader and there is none, or takes the dead out of an ISR in
    which they are not: by the state as it is nothing will be written."""
    node = thread.zookeeper.nodes.get(STATE)
    if thread.frame_of(EventController.fail_over) is None or node is None:
        return False
    state, offline = decode_state(*FIRST, node.data, node.version), going_offline(thread)
    if offline is not None and thread.frame_of(ReplicaMachine.startup) is not None:
        return offline.f_locals["broker"] not in state.isr
    return electing(thread) is not None and would_elect(thread, state) is None


def rewriting(thread: ControllerThread) -> bool:
    """Whether the request znode is rewritten because its reassignment began, without a refusal."""
    frame = thread.frame_of(Reassigner._leave)
    return frame is not None and not frame.f_locals["refused"]


def is_before_write(thread: ControllerThread) -> bool:
    """Whether the partition's state is read in order to be written."""
    looks = (Reassigner.caught_up, ControllerParts.read_states)
    return not any(thread.frame_of(one) for one in looks)


def in_change(thread: ControllerThread) -> bool:
    """Whether the event handles brokers that came or went."""
    return thread.frame_of(BrokerChanges.changed) is not None


def electing(thread: ControllerThread) -> FrameType | None:
    """The frame in which leaders are elected, None where none are."""
    return thread.frame_of(PartitionMachine._elect_once)


def would_elect(thread: ControllerThread, state: LeaderIsrAndControllerEpoch) -> int | None:
    """The leader that an electing controller would choose by a state; None if none."""
    frame = electing(thread)
    if frame is None:
        return None
    strategy = frame.f_locals["strategy"] or OFFLINE
    elected = thread.controller.core.partitions.choose(FIRST, state, strategy)
    return None if elected is None else elected.leader


WRITES = Grain("moves are", "0.10", suspends, False, SteppedReplica, tells=state_returned_by)
"""A partition that moves: each write of a controller may come too late, or its answer be lost.

Before 2.2 requests carried no broker epoch, and before 2.3 replicas on dead brokers stayed where
they were.
"""
