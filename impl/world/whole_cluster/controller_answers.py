"""Compares controllers' responses to leaders and administrators with the registered state.

AlterIsr (KIP-497), AlterPartitionReassignments and ListPartitionReassignments (KIP-455) and
ElectLeaders (KIP-460): each response says what was done, or why not, and is compared with ZooKeeper
right after it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import Any

from impl.core.api import PREFERRED_TYPE, AlteredIsrs
from impl.core.cluster_context import ClusterContext
from impl.core.event_controller import EventController
from impl.error_codes import NONE, NOT_CONTROLLER
from impl.releases import Release
from impl.world.whole_cluster.node import ClusterNode
from impl.world.whole_cluster.whole_cluster import WholeCluster
from impl.znodes import LeaderIsrAndControllerEpoch, ReplicaAssignment, TopicPartition
from impl.zookeeper.port import wait

NOT_DONE = "UNKNOWN_SERVER_ERROR"
"""ZooKeeper did not let it: nothing more is said."""


@dataclass(frozen=True, slots=True)
class AlterIsrAnswered:
    """AlterIsr: the requested ISRs, the error of the response (None: no response), and the results.

    ``whole``: the expected error of the response (``expected_controller_error``). ``needed``: the
    expected error of each, see ``refused_isrs``.
    """

    wanted: Mapping[TopicPartition, LeaderIsrAndControllerEpoch]
    error: str | None
    answers: AlteredIsrs
    whole: str
    needed: Mapping[TopicPartition, str]

    @property
    def response_mismatch(self) -> str:
        """How the error of the whole response is wrong; empty if it is right."""
        if self.error != self.whole:
            return f"{self.error} to a leader, and not {self.whole}"
        if self.error == "NONE" and {*self.wanted} != {*self.answers}:
            return f"for {sorted(self.answers)} to a leader that asks for {sorted(self.wanted)}"
        for one, error in self.needed.items() if self.error == NONE else ():
            if self.answers[one].error != error:
                return f"{self.answers[one].error} to a leader of {one}, and not {error}"
        return ""

    def mismatches(self, there: Registered) -> Iterator[str]:
        """The differences between the results and the registered state, in words."""
        if self.error != "NONE":
            return
        for one, wanted in self.wanted.items():
            answer, state = self.answers[one], there.state(one)
            if answer.error == NOT_DONE or state is None:
                continue
            about = f"{answer.error} to a leader of {one} that wants {wanted}"
            if answer.error == NONE:
                same = answer.state is not None and _is(answer.state) == _is(wanted)
                if not same or state.zk_version < (answer.state or state).zk_version:
                    yield f"{about}, with {answer.state}, though {state} is registered"
            elif one not in self.needed and answer.error != "INVALID_UPDATE_VERSION":
                yield f"{about}, though leader epoch {state.leader_epoch} is registered"
            elif one not in self.needed and wanted.zk_version == state.zk_version:
                yield f"{about}, though version {state.zk_version} is registered"


@dataclass(frozen=True, slots=True)
class AlterReassignmentsAnswered:
    """AlterPartitionReassignments: by partition the target, None to cancel; and the error.

    ``needed``: the expected error of each, see ``refused_moves``; ``failed``: those that were
    begun, and failed.
    """

    targets: Mapping[TopicPartition, list[int] | None]
    error: str
    whole: str
    needed: Mapping[TopicPartition, str]
    answers: Mapping[TopicPartition, str]
    failed: Set[TopicPartition] = frozenset()

    @property
    def response_mismatch(self) -> str:
        """How the error of the whole response is wrong; empty if it is right."""
        if self.error != self.whole:
            return f"{self.error} to whoever wants moves, and not {self.whole}"
        for one, error in self.needed.items() if self.error == NONE else ():
            said = self.answers.get(one)
            wanted = NOT_DONE if error == NONE and one in self.failed else error
            if said != wanted and (wanted != NONE or said != NOT_DONE):
                return f"{said} to whoever wants {one} on {self.targets[one]}, and not {wanted}"
        return ""

    def mismatches(self, there: Registered) -> Iterator[str]:
        """The differences between the results and the registered state, in words."""
        for one, target in self.targets.items() if self.error == NONE else ():
            error, assignment = self.answers[one], there.assignment(one)
            about = f"{error} to whoever wants {one} on {target}"
            if error == NOT_DONE:
                if there.state(one) is not None:
                    yield f"{about}, though ZooKeeper refused nothing"
            elif error == "UNKNOWN_TOPIC_OR_PARTITION":
                if assignment is not None and one.topic not in there.queued:
                    yield f"{about}, though it is on {assignment.replicas}"
            elif error == "NO_REASSIGNMENT_IN_PROGRESS":
                if target is not None or (assignment and assignment.is_being_reassigned):
                    yield f"{about}, though {assignment} is registered"
            elif assignment is None and error == NONE:
                yield f"{about}, though there is no such partition"
            elif (
                error == NONE and target is not None and assignment is not None
                and assignment.target != tuple(target)
            ):  # fmt: skip
                yield f"{about}, though {assignment} is registered"


@dataclass(frozen=True, slots=True)
class ListReassignmentsAnswered:
    """ListPartitionReassignments, of the requested partitions ``asked``, None for all of them."""

    asked: Collection[TopicPartition] | None
    error: str
    whole: str
    moving: Mapping[TopicPartition, ReplicaAssignment]

    @property
    def response_mismatch(self) -> str:
        """How the error of the whole response is wrong; empty if it is right."""
        if self.error != self.whole:
            return f"{self.error} to whoever lists moves, and not {self.whole}"
        return ""

    def mismatches(self, there: Registered) -> Iterator[str]:
        """The differences between the results and the registered state, in words."""
        moving = there.moving()
        if self.asked is not None:
            moving = {one: moving[one] for one in self.asked if one in moving}
        if dict(self.moving) != moving:
            yield f"{dict(self.moving)} as moves, though {moving} are registered"


@dataclass(frozen=True, slots=True)
class ElectLeadersAnswered:
    """ElectLeaders: ``kind`` of election, ``needed`` (see the function), the results, and the live
    replicas (see ``able_to_lead``)."""

    kind: str
    error: str
    whole: str
    needed: Mapping[TopicPartition, str]
    answers: Mapping[TopicPartition, str]
    able: Mapping[TopicPartition, Set[int]] = field(default_factory=dict)

    @property
    def response_mismatch(self) -> str:
        """How the response lacks a partition, has a wrong error, or is empty; else empty."""
        if self.error != self.whole:
            return f"{self.error} to whoever wants leaders, and not {self.whole}"
        if self.error != NONE:
            return ""
        if {*self.needed} != {*self.answers}:
            return f"for {sorted(self.answers)} to whoever wants leaders of {sorted(self.needed)}"
        for one, error in self.needed.items():
            if error != self.answers[one] and (error or self.answers[one] in _NO_ELECTION):
                return f"{self.answers[one]} to whoever wants a leader of {one}, and not {error}"
        return ""

    def mismatches(self, there: Registered) -> Iterator[str]:
        """The differences between the results and the registered state, in words."""
        for one, error in self.answers.items():
            state, assignment = there.state(one), there.assignment(one)
            about = f"{error} to whoever wants a leader ({self.kind}) of {one}"
            if error == "UNKNOWN_TOPIC_OR_PARTITION":
                if assignment is not None and state is not None:
                    yield f"{about}, though {state} is registered"
            elif error == "INVALID_TOPIC_EXCEPTION":
                if one.topic not in there.queued:
                    yield f"{about}, though the topic stays"
            elif state is not None and assignment is not None:
                preferred = state.leader == assignment.replicas[0]
                code = "PREFERRED_LEADER" if self.kind == PREFERRED_TYPE else "ELIGIBLE_LEADERS"
                leads = preferred if self.kind == PREFERRED_TYPE else state.leader >= 0
                if leads == error.endswith("_NOT_AVAILABLE") or error not in (
                    NONE,
                    "ELECTION_NOT_NEEDED",
                    f"{code}_NOT_AVAILABLE",
                ):
                    yield f"{about}, though {state} is registered"
                able, is_usual = self.able.get(one), {*state.isr} <= {*assignment.replicas}
                if self.kind != PREFERRED_TYPE and not leads and able and is_usual:
                    yield f"{about}, though its replicas {sorted(able)} live"


_NO_ELECTION = ("UNKNOWN_TOPIC_OR_PARTITION", "INVALID_TOPIC_EXCEPTION", "ELECTION_NOT_NEEDED")


def expected_controller_error(
    controller: EventController, broker: int | None = None, broker_epoch: int = 0
) -> str:
    """The expected error of a whole response, NONE if the request is carried out.

    A ``broker`` that sends it has to be registered with ``broker_epoch``.
    """
    if not controller.active:
        return NOT_CONTROLLER
    if broker is None:
        return NONE
    known = controller.core.context.broker_epochs.get(broker)
    return NONE if known == broker_epoch else "STALE_BROKER_EPOCH"


def able_to_lead(
    context: ClusterContext, partitions: Iterable[TopicPartition]
) -> dict[TopicPartition, Set[int]]:
    """The live replicas of each partition that a controller knows."""
    live = {*context.broker_epochs} - context.shutting_down
    found = dict[TopicPartition, Set[int]]()
    for one in partitions:
        known = context.assignments.get(one.topic, {}).get(one.partition)
        offline = {at for at, lost in context.offline_directories.items() if one in lost}
        found[one] = live.intersection(known.replicas if known else ()) - offline
    return found


def needed(
    context: ClusterContext, release: Release, kind: str, asked: Iterable[TopicPartition] | None
) -> dict[TopicPartition, str]:
    """The partitions that ElectLeaders has to answer for, each with the error with which a
    controller that knows ``context`` refuses the election; empty if it has to try. For None: all
    partitions, since 2.4 those that need an election. Up to 2.3 one that needs none is done."""
    found = dict[TopicPartition, str]()
    known = {
        TopicPartition(topic, number): one.replicas
        for topic, numbers in context.assignments.items()
        for number, one in numbers.items()
    }
    live = {*context.broker_epochs} - context.shutting_down
    for one in known if asked is None else asked:
        replicas, state = known.get(one, ()), context.leadership.get(one)
        leader = -1 if state is None else state.leader
        is_led = leader in (replicas[:1] if kind == PREFERRED_TYPE else live)
        if not replicas:
            found[one] = "UNKNOWN_TOPIC_OR_PARTITION"
        elif one.topic in context.queued_for_deletion:
            found[one] = "INVALID_TOPIC_EXCEPTION"
        elif not is_led:
            found[one] = ""
        elif not release.since("2.4"):
            found[one] = NONE
        elif asked is not None:
            found[one] = "ELECTION_NOT_NEEDED"
    return found


def refused_isrs(
    context: ClusterContext, wanted: Mapping[TopicPartition, LeaderIsrAndControllerEpoch]
) -> dict[TopicPartition, str]:
    """The error with which a controller that knows ``context`` refuses an ISR, NONE where that ISR
    is registered already; without an entry where ZooKeeper decides."""
    found = dict[TopicPartition, str]()
    for one, state in wanted.items():
        known = context.leadership.get(one)
        if known is None:
            found[one] = "UNKNOWN_TOPIC_OR_PARTITION"
        elif state.leader_epoch < known.leader_epoch:
            found[one] = "FENCED_LEADER_EPOCH"
        elif _is(state) == _is(known):
            found[one] = NONE
    return found


def refused_moves(
    context: ClusterContext, targets: Mapping[TopicPartition, list[int] | None]
) -> dict[TopicPartition, str]:
    """The error with which a controller that knows ``context`` refuses each move, NONE if none.

    Whether the partition exists is checked last.
    """
    found = dict[TopicPartition, str]()
    live = {*context.broker_epochs} - context.shutting_down
    for one, target in targets.items():
        known = context.assignments.get(one.topic, {}).get(one.partition, ReplicaAssignment(()))
        old = {*known.replicas} - {*known.adding}
        is_there = known.replicas and one.topic not in context.queued_for_deletion
        if target is None and not (known.adding or known.removing):
            found[one] = "NO_REASSIGNMENT_IN_PROGRESS"
        elif target is not None and (
            not target or len({*target}) < len(target) or not live | old >= {*target}
        ):
            found[one] = "INVALID_REPLICA_ASSIGNMENT"
        else:
            found[one] = NONE if is_there else "UNKNOWN_TOPIC_OR_PARTITION"
    return found


Answered = (
    AlterIsrAnswered | AlterReassignmentsAnswered | ListReassignmentsAnswered | ElectLeadersAnswered
)


class Registered:
    """The registered state in ZooKeeper."""

    def __init__(self, world: WholeCluster) -> None:
        self.admin = world.admin
        self.queued = {*wait(world.admin.deletions())}

    def state(self, one: TopicPartition) -> LeaderIsrAndControllerEpoch | None:
        """A partition's state."""
        return wait(self.admin.state(one))

    def assignment(self, one: TopicPartition) -> ReplicaAssignment | None:
        """A partition's replicas."""
        topic = wait(self.admin.topic(one.topic))
        return None if topic is None else topic.partitions.get(one.partition)

    def moving(self) -> dict[TopicPartition, ReplicaAssignment]:
        """The partitions that are being reassigned."""
        found = {}
        for topic in wait(self.admin.topics()):
            there = wait(self.admin.topic(topic))
            for number, assignment in there.partitions.items() if there else ():
                if assignment.is_being_reassigned:
                    found[TopicPartition(topic, number)] = assignment
        return found


def wrong_answer(world: WholeCluster, node: ClusterNode, done: Answered) -> str:
    """How a response differs from the registered state; empty if it does not.

    Nothing is expected of a controller that does not know that it is deposed, whose writes
    ZooKeeper has refused, or that was elected right after the response.
    """
    if done.response_mismatch or done.whole == NOT_CONTROLLER:
        return done.response_mismatch
    counted = wait(world.admin.controller_epoch())
    newest = counted is not None and node.controller.core.context.epoch == counted.epoch
    if not newest or not node.controller.active or not node.alive or node.was_denied:
        return ""
    return next(done.mismatches(Registered(world)), "")


def _is(state: LeaderIsrAndControllerEpoch) -> Any:
    return state.leader, state.leader_epoch, state.isr
