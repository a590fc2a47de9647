"""The next task of a controller in `topics`, derived from where its event is suspended.

A task of the model is the start or the middle of a batch. It is recognized by the stack frames of
the suspended event, and by the effect that it waits for.
"""

from __future__ import annotations

from impl.core.states import PartitionState, ReplicaState
from impl.sim.effects import ZkOperation
from impl.sim.suspension_points import Frames, frames_of, is_registered
from impl.world.stepped import batches
from impl.world.stepped.controller_run import ControllerRun
from impl.znodes import paths

CREATION = {
    (batches.PARTITIONS_CHANGE, PartitionState.NEW): "makes_partitions",
    (batches.REPLICAS_CHANGE, ReplicaState.NEW): "makes_replicas",
    (batches.PARTITIONS_CHANGE, PartitionState.ONLINE): "elects_new",
    (batches.REPLICAS_CHANGE, ReplicaState.ONLINE): "enlists",
}
"""State machine and target of a batch of a creation."""

CAMPAIGN = "campaign"
"""No task yet: the broker does not know whether it has been elected."""


def task_of(run: ControllerRun) -> str | None:
    """The model's name of what the controller is about to do; None if it is not the controller."""
    if run.place is None:
        return "waits" if run.controller.active else None
    if is_registered(run.place):
        return CAMPAIGN
    frames = frames_of(run)
    if batches.RESUMES in frames:
        return _in_deletion(run, frames)
    if batches.CREATES in frames:
        return next(
            name
            for (machine, target), name in CREATION.items()
            if machine in frames and frames[machine].f_locals["target"] is target
        )
    if batches.CHANGED in frames:
        return _in_change(run, frames)
    if batches.SHUTS_DOWN in frames:
        return "moves_leaders" if batches.MOVES in frames else "stops_followers"
    if batches.BEGINS_MOVES in frames:
        return "rewrites"
    if batches.REPLICAS_START in frames:
        return "starts_replicas"
    return "starts_partitions" if batches.PARTITIONS_START in frames else "reads_zookeeper"


def _in_deletion(run: ControllerRun, frames: Frames) -> str:
    assert run.place is not None
    if batches.REMOVES_NODES in frames:
        effect = run.place.effect
        ops = effect.ops if isinstance(effect, ZkOperation) else ()
        is_config = any(op.path.startswith(f"{paths.CONFIG}/") for op in ops)
        return "removes_request" if is_config else "unregisters"
    if batches.STOPS not in frames:
        return "resumes"
    target = frames[batches.REPLICAS_CHANGE].f_locals["target"]
    return "stops" if target is ReplicaState.OFFLINE else "deletes"


def _in_change(run: ControllerRun, frames: Frames) -> str:
    if batches.is_return(run.place):
        return "starts_returned"
    if batches.TRIES_TO_ELECT not in frames:
        return "takes_offline"
    return "elects_for_failed" if batches.FAILED in frames else "elects_for_started"


def gone(frames: Frames) -> int:
    """The broker that failed or shuts down, in the controller's present event; or 0."""
    if batches.SHUTS_DOWN in frames:
        return int(frames[batches.SHUTS_DOWN].f_locals["broker"])
    if batches.FAILED in frames and batches.RESUMES not in frames:
        return int(frames[batches.FAILED].f_locals["brokers"][0])
    return 0


def returns(frames: Frames) -> tuple[int, int]:
    """The broker that failed and registered again, and its new broker epoch; or 0, 0."""
    if batches.CHANGED not in frames or batches.STARTED in frames:
        return 0, 0
    change = frames[batches.CHANGED].f_locals
    bounced = change["bounced"]
    return (bounced[0], change["epochs"][bounced[0]]) if bounced else (0, 0)
