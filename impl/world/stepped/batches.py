"""The `BATCHES` grain: suspends a controller that handles a topic before each of its batches.

Between two batches its process may die, its session may expire, and other steps may happen. A
suspension point is recognised by its effect and the frames of the event; the core has no hooks.
"""

from __future__ import annotations

import re
from typing import Any

from impl.core.broker_changes import BrokerChanges
from impl.core.deletion import DeletionManager
from impl.core.event_controller import EventController
from impl.core.partition_machine import PartitionMachine
from impl.core.reassigner import Reassigner
from impl.core.replica_machine import ReplicaMachine
from impl.core.states import ReplicaState
from impl.sim.effects import Effect, JournalReport, SendRequests, ZkOperation
from impl.sim.event_run import ControllerThread, SuspensionPoint
from impl.sim.suspension_points import STATE_NODE, frames_of, is_registered, is_to_be_fenced
from impl.world.stepped.controller_run import HANDLERS, Grain, writes_state
from impl.world.stepped.replica import ForgetfulReplica
from impl.znodes import paths
from impl.znodes.client import ZnodeClient
from impl.znodes.retrying_client import RetryingZnodeClient
from impl.zookeeper import BadVersion, Delete

PARTITIONS = re.compile(re.escape(paths.TOPICS) + r"/[^/]+/partitions")


def name_of(procedure: Any) -> str:
    """The name of a procedure's frames."""
    name: str = procedure.__qualname__
    return name


CREATES = name_of(EventController.create_partitions)
CHANGED = name_of(BrokerChanges.changed)
FAILED = name_of(BrokerChanges.failed)
STARTED = name_of(BrokerChanges.started)
SHUTS_DOWN = name_of(BrokerChanges.shut_down)
MOVES = name_of(BrokerChanges.move_leaders)
STOPS_FOLLOWERS = name_of(BrokerChanges.stop_followers)
RESUMES = name_of(DeletionManager.resume)
RETRIES = name_of(DeletionManager.try_again)
STOPS = name_of(DeletionManager._stop_replicas)  # a frame of it, not a call
BEGINS_MOVES = name_of(Reassigner.begin_all)
REPLICAS_START = name_of(ReplicaMachine.startup)
PARTITIONS_START = name_of(PartitionMachine.startup)
TRIES_TO_ELECT = name_of(PartitionMachine.trigger_online)
PARTITIONS_CHANGE = name_of(PartitionMachine.handle)
REPLICAS_CHANGE = name_of(ReplicaMachine.handle)
REMOVES_NODES = name_of(ZnodeClient.delete_topic)
DELETES_BELOW = name_of(RetryingZnodeClient.fenced_delete_below)

# What a place is


def is_return(place: SuspensionPoint | None) -> bool:
    """Whether bounced brokers, which counted as failed, are about to be added as live."""
    effect = None if place is None else place.effect
    return isinstance(effect, JournalReport) and effect.event == "live_brokers_added"


def returned(place: SuspensionPoint) -> list[int]:
    """The brokers that are about to be added again, where ``is_return``."""
    assert isinstance(place.effect, JournalReport), "brokers are about to be known again"
    brokers: list[int] = place.effect.arguments[0]
    return brokers


def is_deleting_partition_znodes(place: SuspensionPoint | None) -> bool:
    """Whether the znodes of a topic's partitions are being deleted, all or the next one."""
    effect = None if place is None else place.effect
    if not isinstance(effect, ZkOperation):
        return False
    deleted = [op.path for op in effect.ops if isinstance(op, Delete)]
    return is_listing(effect) or any(path.startswith(f"{paths.TOPICS}/") for path in deleted)


def is_listing(effect: Effect) -> bool:
    """Whether the effect lists the znodes of a topic's partitions."""
    if not isinstance(effect, ZkOperation) or effect.operation != "children":
        return False
    return PARTITIONS.fullmatch(effect.path) is not None


# Where it is suspended


def is_suspended(thread: ControllerThread, place: SuspensionPoint) -> bool:
    """Whether a batch begins here, or a refused state write is about to be retried."""
    effect = place.effect
    if isinstance(effect, JournalReport):
        return not place.is_done and _begins(thread, effect)
    if isinstance(effect, SendRequests):
        frames = frames_of(thread)
        if place.is_done:  # replicas whose deletion had failed have gone offline
            return RETRIES in frames
        return STOPS_FOLLOWERS in frames and REPLICAS_CHANGE not in frames
    assert isinstance(effect, ZkOperation)
    if effect.path == paths.CONTROLLER_EPOCH and effect.operation in ("set_data", "create"):
        return is_registered(place)  # up to 2.0 the epoch's write ends a registration
    if effect.operation == "multi":
        return _has_answered(thread, effect, place) if place.is_done else _removes(thread, effect)
    return place.is_done and is_listing(effect) and _has_states(thread, effect.path)


def _begins(thread: ControllerThread, report: JournalReport) -> bool:
    if report.event == "step":
        return report == HANDLERS
    if report.event == "deletions_handled":
        return True
    if report.event == "live_brokers_added":
        return bool(frames_of(thread)[CHANGED].f_locals["bounced"])
    if report.event == "partitions_change":
        return _partitions_begin(thread)
    return report.event == "replicas_change" and _replicas_begin(thread, report.arguments[1])


def _partitions_begin(thread: ControllerThread) -> bool:
    frames = frames_of(thread)
    if CHANGED in frames:
        return TRIES_TO_ELECT in frames and _stays(thread)
    return CREATES in frames or PARTITIONS_START in frames or MOVES in frames


def _replicas_begin(thread: ControllerThread, target: ReplicaState) -> bool:
    frames = frames_of(thread)
    if RESUMES in frames:
        return STOPS in frames and target is not ReplicaState.DELETION_INELIGIBLE
    if REPLICAS_START in frames:
        return target is ReplicaState.ONLINE
    if FAILED in frames:
        return target is ReplicaState.OFFLINE and _stays(thread)
    return CREATES in frames


def _stays(thread: ControllerThread) -> bool:
    """The topic exists and is not to be deleted, so that broker changes concern it."""
    context = thread.controller.core.context
    return bool(context.assignments) and not context.queued_for_deletion


def _removes(thread: ControllerThread, effect: ZkOperation) -> bool:
    """Before the last nodes of a topic go, and before its config and the request do; and before a
    deposed controller is fenced at the end of its failover (2.1 to 2.3)."""
    if BEGINS_MOVES in frames_of(thread):
        return is_to_be_fenced(thread)
    for op in effect.ops:
        if not isinstance(op, Delete):
            continue
        if PARTITIONS.fullmatch(op.path) or op.path.startswith(f"{paths.CONFIG}/"):
            return True
        if op.path.rpartition("/")[0] == paths.TOPICS:  # alone, if it had no children
            return "name" not in frames_of(thread)[DELETES_BELOW].f_locals
    return False


def _has_answered(thread: ControllerThread, effect: ZkOperation, place: SuspensionPoint) -> bool:
    """ZooKeeper registered it, refused its write of a state, or removed a partition of some."""
    if not isinstance(place.answer, list):
        return False
    if is_registered(place):
        return True
    if writes_state(place):
        return isinstance(place.answer[-1], BadVersion)
    return any(
        isinstance(op, Delete)
        and PARTITIONS.fullmatch(parent := op.path.rpartition("/")[0])
        and _has_states(thread, parent)
        for op in effect.ops
    )


def _has_states(thread: ControllerThread, listing: str) -> bool:
    """A topic is removed, and a partition below the node still has its state."""
    below = f"{listing}/"
    return thread.frame_of(DeletionManager._complete) is not None and any(
        path.startswith(below) and STATE_NODE.fullmatch(path) for path in thread.zookeeper.nodes
    )


BATCHES = Grain("deletion is", "1.1", is_suspended, True, ForgetfulReplica)
"""A topic's life: what there is of a log is only whether it is there."""
