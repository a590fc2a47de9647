"""Reads the state of a controller's event thread, in the terms of the model's `cluster`.

The event is suspended at an effect, in the middle of Kafka's procedures. Its remaining work is read
from their frames: the loops that they are in, what they have read, and what they have written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from impl.core.leader_election import leads_as_preferred
from impl.core.states import PartitionState, ReplicaState
from impl.sim.effects import JournalReport, SendRequests, ZkOperation
from impl.sim.event_run import ControllerThread, SuspensionPoint
from impl.sim.suspension_points import (
    Frames,
    frames_of,
    is_registered,
    is_to_be_fenced,
    reported,
    state_as_read,
    state_read,
    states_written,
)
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition, paths
from impl.zookeeper.znode import Delete

REGISTERED = "registered"
"""ZooKeeper has executed a registration as the controller, and the answer is on its way."""

REPORTS = {
    "not_elected": "finds_nobody",
    "newer_controller": "finds_newer",
    "not_in_isr": "finds_removed",
    "shut_down": "answers",
}
"""Reports at which an event is suspended -> what is next there."""


def suspends(thread: ControllerThread, place: SuspensionPoint) -> bool:
    """Whether an event of a controller is suspended at this place, at the grain of `cluster`."""
    effect = place.effect
    if isinstance(effect, JournalReport):
        if place.is_done:
            return False
        if effect.event in REPORTS:
            return not _is_left_alone(thread)
        return effect.event in ("log_line", REPLICAS_CHANGE) and bool(_label(thread, place))
    if place.is_done and not isinstance(effect, ZkOperation):
        return False
    return bool(_label(thread, place))


def _label(thread: ControllerThread, place: SuspensionPoint) -> str:
    """What comes next at a place; empty where nothing of the model begins."""
    effect = place.effect
    if isinstance(effect, ZkOperation):
        if place.is_done:
            return REGISTERED if is_registered(place) else ""
        return _before_zookeeper_operation(thread, effect, frames_of(thread))
    if isinstance(effect, SendRequests):
        return _before_requests(thread, frames_of(thread))
    assert isinstance(effect, JournalReport), (
        "an effect is a question, a round of requests, or a report"
    )
    if effect.event == REPLICAS_CHANGE:
        return _before_empty_batch(effect, frames_of(thread))
    if effect.event == "newer_controller" and ELECTION not in frames_of(thread):
        return "leaves_replica"
    return REPORTS.get(effect.event) or _before_next_brokers(thread)


def _before_zookeeper_operation(thread: ControllerThread, effect: ZkOperation, at: Frames) -> str:
    if BEGINS in at:
        looks = effect.operation == "get" and effect.path == paths.REASSIGN_PARTITIONS
        return "rewrites" if looks and is_to_be_fenced(thread) else ""
    if effect.operation == "multi":
        if states_written(effect):
            return "elects" if ELECTION in at else "removes"
        for op in effect.ops:
            if isinstance(op, Delete) and op.path == paths.PREFERRED_ELECTION:
                return "cleans" if at[PREFERRED].f_locals["there"] else ""
        return ""
    if FAILOVER in at and effect.path == paths.CONTROLLER:
        return "reads_context" if effect.operation == "get" else ""
    if FAILOVER in at and effect.operation == "exists" and PREFERRED in at:
        return "looks"
    in_machine = ELECTION in at or REPLICAS in at
    reads = in_machine and state_read(effect) and not _is_left_alone(thread)
    return "reads_state" if reads else ""


def _is_left_alone(thread: ControllerThread) -> bool:
    """A preferred leader that leads already: up to 1.0 a controller that looks at a request still
    reads the state, and makes nothing of it."""
    at, controller = frames_of(thread), thread.controller
    if "PartitionMachine._elect_once" not in at or PREFERRED not in at:
        return False
    partition, context = (
        at["PartitionMachine._elect_once"].f_locals["partition"],
        controller.core.context,
    )
    known = context.leadership.get(partition)
    leader = None if known is None else known.leader
    return leads_as_preferred(context.replicas(partition), leader, controller.core.release)


PARTITIONS_CHANGE, REPLICAS_CHANGE = "partitions_change", "replicas_change"
"""What a state machine reports when it begins: which, and to which state."""
PREFERRED, REBALANCE = "EventController.preferred_election", "EventController.rebalance"
FAILOVER = "EventController.fail_over"
ELECTION, REPLICAS = "PartitionMachine.handle", "ReplicaMachine.handle"
CHANGED, STARTED, FAILED = "BrokerChanges.changed", "BrokerChanges.started", "BrokerChanges.failed"
OFFLINE, LEAVING = "BrokerChanges.replicas_offline", "BrokerChanges.shut_down"
ANSWERED = "EventController.leader_and_isr_answered"
WRITES = "ZnodeClient.update_states"
BEGINS = "Reassigner.begin_all"


def _before_requests(thread: ControllerThread, at: Frames) -> str:
    """What the batch is that is about to go; empty where it goes with what was done before."""
    if ELECTION in at:
        partitions, target = reported(thread, PARTITIONS_CHANGE)
        unasked = OFFLINE in at or LEAVING in at
        if target is not PartitionState.ONLINE:
            return ""
        return "" if unasked and not partitions else "tells"
    if REPLICAS in at:
        _, target = reported(thread, REPLICAS_CHANGE)
        if target is ReplicaState.OFFLINE:
            return "tells"
        if target is ReplicaState.ONLINE:
            return "restores" if FAILOVER in at else "instates" if STARTED in at else ""
        return ""
    if STARTED in at:
        round_of = at["ControllerParts.update_metadata"].f_locals["brokers"]
        return "" if round_of is at[STARTED].f_locals["brokers"] else "announces_new"
    if OFFLINE in at:
        return "notifies"
    if LEAVING in at:
        return "stops"
    return "announces" if FAILOVER in at else ""


def _before_next_brokers(thread: ControllerThread) -> str:
    """A broker change goes on with those that bounced, or died, after others."""
    stack = thread.stack()
    if len(stack) < 2 or stack[-2].f_code.co_qualname != FAILED:
        return ""
    changed = next((one for one in stack if one.f_code.co_qualname == CHANGED), None)
    if changed is None:
        return ""
    bounced = stack[-2].f_locals["brokers"] is changed.f_locals["bounced"]
    before = changed.f_locals["new"] or (not bounced and changed.f_locals["bounced"])
    return "compares" if before else ""


def _before_empty_batch(report: JournalReport, at: Frames) -> str:
    """Brokers died, or started, that have no replica: their batch is empty. After an election, to
    which such a broker gave no cause, none is made."""
    replicas, target = report.arguments
    if replicas:
        return ""
    if OFFLINE in at and target is ReplicaState.OFFLINE:
        return "" if at[OFFLINE].f_locals["leaderless"] else "tells"
    return "instates" if STARTED in at and target is ReplicaState.ONLINE else ""


# What is left to be done


@dataclass
class EventProgress:
    """What an event has done and still has to do; nothing without an event.

    ``read`` and ``written`` are zkVersions by partition; ``found`` are the partitions that the
    batch is about; ``going`` the brokers whose replicas are to go offline, by partition;
    ``stopped`` the partitions for which a broker that shuts down is sent only StopReplica.
    """

    label: str = ""
    stage: str = "idle"
    partition: TopicPartition | None = None
    member: int = 0
    due: set[TopicPartition] = field(default_factory=set)
    read: dict[TopicPartition, int] = field(default_factory=dict)
    written: dict[TopicPartition, int] = field(default_factory=dict)
    found: set[TopicPartition] = field(default_factory=set)
    elected: set[TopicPartition] = field(default_factory=set)
    going: dict[TopicPartition, set[int]] = field(default_factory=dict)
    stopped: set[TopicPartition] = field(default_factory=set)
    started: tuple[int, ...] = ()
    failing: tuple[int, ...] = ()
    bounced: tuple[int, ...] = ()
    dead: tuple[int, ...] = ()
    epochs: dict[int, int] = field(default_factory=dict)
    subject: int = 0
    unbalanced: tuple[int, ...] = ()


def progress(thread: ControllerThread) -> EventProgress:
    """The model's task in which a controller's thread is suspended."""
    place = thread.place
    if place is None:
        return EventProgress()
    at = frames_of(thread)
    now = EventProgress(_label(thread, place))
    now.stage = _stage(now.label, at)
    if OFFLINE in at:
        now.going = _by_partition(at[OFFLINE].f_locals["replicas"])
    if LEAVING in at:
        _leaving(now, at)
    if ANSWERED in at and now.label != "notifies":
        now.subject = at[ANSWERED].f_locals["broker"]
    if CHANGED in at:
        _changed(now, at)
    if ELECTION in at and reported(thread, PARTITIONS_CHANGE)[1] is PartitionState.ONLINE:
        now.found = set(thread.controller.core.batch.metadata)
        _electing(now, at, thread)
        if REBALANCE in at:
            now.unbalanced = _later(at[REBALANCE].f_locals)
    elif REPLICAS in at and reported(thread, REPLICAS_CHANGE)[1] is ReplicaState.OFFLINE:
        now.found = set(thread.controller.core.batch.metadata)
        _removing(now, at, thread)
    elif now.label in ("notifies", "answers"):
        now.going = {}
    return now


def _by_partition(replicas: Any) -> dict[TopicPartition, set[int]]:
    found: dict[TopicPartition, set[int]] = {}
    for partition, broker in replicas:
        found.setdefault(partition, set()).add(broker)
    return found


def _later(rebalance: Mapping[str, Any]) -> tuple[int, ...]:
    """The preferred brokers whose partitions come after those at hand."""
    groups = rebalance["due"]
    now = next(one for one, group in groups.items() if group is rebalance["partitions"])
    return tuple(one for one in groups if one > now)


def _leaving(now: EventProgress, at: Frames) -> None:
    shut_down = at[LEAVING].f_locals
    now.subject = shut_down["broker"]
    if now.label != "answers":
        now.going = {one: {now.subject} for one in shut_down["followed"]}


def _changed(now: EventProgress, at: Frames) -> None:
    """What a broker change has still to do: new brokers first, then the bounced, then the dead."""
    change = at[CHANGED].f_locals
    new, bounced, dead = change["new"], change["bounced"], change["dead"]
    now.epochs = {one: change["epochs"][one] for one in bounced}
    compares = now.label == "compares"
    if STARTED in at:
        brokers = at[STARTED].f_locals["brokers"]
        if ELECTION not in at:
            now.started = tuple(brokers)
        now.bounced, now.dead = tuple(bounced if brokers is new else ()), tuple(dead)
        return
    failing = at[FAILED].f_locals["brokers"]
    now.failing = tuple(failing)
    if failing is bounced:
        now.dead = tuple(dead)
        now.bounced, now.started = (tuple(bounced), ()) if compares else ((), tuple(bounced))
    elif compares:
        now.dead = tuple(dead)


def _electing(now: EventProgress, at: Frames, thread: ControllerThread) -> None:
    """One pass: every state is read, then what was chosen is written."""
    once = at.get("PartitionMachine._elect_once")
    if once is None:
        return
    passed, writes = once.f_locals["partitions"], once.f_locals["writes"]
    now.due = _unsettled(now, at, passed, writes, once.f_locals.get("partition"))
    if _reports(thread):
        _is_read(now, thread)
    now.found |= {*now.written}
    now.elected = {*now.written}
    if now.label == "elects":
        now.member = writes[now.partition].leader


def _unsettled(
    now: EventProgress,
    at: Frames,
    passed: list[TopicPartition],
    writes: Mapping[TopicPartition, LeaderIsrAndControllerEpoch],
    current: TopicPartition | None,
) -> set[TopicPartition]:
    """Those of a pass that are not done with: `read` and `written` are filled on the way."""
    if WRITES in at:
        result = at[WRITES].f_locals["result"]
        now.partition = at[WRITES].f_locals["partition"]
        now.written = {one: state.zk_version for one, state in result.done.items()}
        settled = {*result.done, *result.failed}
        now.read = {
            one: state.zk_version
            for one, state in writes.items()
            if one not in settled and one not in result.retry
        }
        return {one for one in writes if one not in settled}
    now.partition = current
    now.read = {one: state.zk_version for one, state in writes.items()}
    reached = False
    left = set[TopicPartition]()
    for one in passed:
        reached = reached or one == current
        if reached or one in writes:
            left.add(one)
    return left


def _reports(thread: ControllerThread) -> bool:
    return thread.place is not None and isinstance(thread.place.effect, JournalReport)


def _is_read(now: EventProgress, thread: ControllerThread) -> None:
    """The state of the partition at hand is read, and what follows from it is reported."""
    assert now.partition is not None, "a report is about a partition"
    now.read[now.partition] = state_as_read(thread).version


def _removing(now: EventProgress, at: Frames, thread: ControllerThread) -> None:
    """Broker by broker: those that come later wait, of the one at hand the rest of a pass."""
    wanted = _by_partition(reported(thread, REPLICAS_CHANGE)[0])
    now.going = {}
    once = at.get("ReplicaMachine._remove_once")
    if once is not None:
        _removing_of_one(now, at, once, wanted)
        if _reports(thread):
            _is_read(now, thread)
    now.stopped = {
        one
        for one, brokers in wanted.items()
        if now.subject in brokers
        and now.subject not in now.going.get(one, ())
        and one not in now.found
    }


def _removing_of_one(
    now: EventProgress, at: Frames, once: FrameType, wanted: Mapping[TopicPartition, set[int]]
) -> None:
    broker, done = once.f_locals["broker"], once.f_locals["done"]
    passed, writes = once.f_locals["partitions"], once.f_locals["writes"]
    left = _unsettled(now, at, passed, writes, once.f_locals.get("partition"))
    now.written = {one: state.zk_version for one, state in done.items()} | now.written
    now.found |= {*now.written}
    for one, brokers in wanted.items():
        later = {each for each in brokers if each > broker}
        now.going[one] = later | ({broker} if broker in brokers and one in left else set())
    now.member = broker


STAGE_OF = {
    "": "idle",
    "reads_context": "starting",
    "announces": "announcing",
    "restores": "restoring",
    "looks": "looking",
    "notifies": "notifying",
    "announces_new": "announcing_new",
    "instates": "instating",
    "compares": "comparing",
    "cleans": "cleaning",
    "rewrites": "rewriting",
    "stops": "stopping",
    "answers": "answering",
}


def _stage(label: str, at: Frames) -> str:
    """The model's stage of a thread whose next act is this."""
    if label in STAGE_OF:
        return STAGE_OF[label]
    if label == REGISTERED:
        return "idle"
    elects = ELECTION in at
    if REBALANCE in at:
        return "rebalancing"
    if PREFERRED in at:
        return "preferring"
    if LEAVING in at:
        return "moving" if elects else "retiring"
    if OFFLINE in at:
        leaderless = at[OFFLINE].f_locals["leaderless"]
        if elects:
            return "electing" if leaderless else "retrying"
        return "removing" if leaderless else "removing_followers"
    if FAILOVER in at:
        return "onlining" if elects else "offlining"
    return "electing"


TRANSITIONS: Mapping[str, tuple[str, ...]] = {
    REGISTERED: ("broker_learns_it_won", "broker_loses_controller_election"),
    "reads_context": ("controller_reads_context", "controller_write_is_fenced"),
    "announces": ("controller_sends_initial_update_metadata",),
    "restores": ("controller_starts_replica_state_machine",),
    "looks": (
        "controller_begins_preferred_election", "controller_finds_no_request",
        "controller_write_is_fenced"),
    "reads_state": ("controller_reads_state",),
    "elects": (
        "controller_elects_leader", "controller_elects_preferred", "controller_moves_leader",
        "controller_write_conflicts", "controller_write_is_fenced",
    ),
    "finds_nobody": (
        "controller_finds_no_leader", "controller_cannot_elect_preferred",
        "controller_finds_no_other_isr_member",
    ),
    "finds_newer": ("controller_finds_a_newer_controller",),
    "leaves_replica": ("controller_skips_isr_removal",),
    "removes": (
        "controller_removes_replica", "controller_write_conflicts", "controller_write_is_fenced",
    ),
    "finds_removed": ("controller_finds_replica_not_in_isr",),
    "tells": (
        "controller_sends_election_batch", "controller_sends_removal_batch",
        "controller_sends_preferred_batch", "controller_sends_shutdown_batch",
    ),
    "notifies": ("controller_sends_update_metadata_for_dead_brokers",),
    "announces_new": ("controller_sends_update_metadata_for_new_brokers",),
    "instates": ("controller_brings_replicas_online",),
    "compares": ("controller_sees_bounced_brokers", "controller_sees_dead_brokers"),
    "cleans": ("controller_deletes_preferred_request", "controller_write_is_fenced"),
    "rewrites": ("controller_write_is_fenced",),
    "stops": ("controller_stops_follower",),
    "answers": ("controller_answers_shutdown",),
}  # fmt: skip
"""What is next at a place -> the transitions of the model that it may be."""

Known = tuple[tuple[str, ...], dict[str, int]]


def next_of(thread: ControllerThread) -> Known:
    """The transitions that the next action of a suspended event may be, and its subject."""
    now = progress(thread)
    about: dict[str, int] = {}
    if now.partition is not None:
        about["partition"] = now.partition.partition
    if now.member:
        about["leader"] = about["replica"] = now.member
    return TRANSITIONS[now.label], about
