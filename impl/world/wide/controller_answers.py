"""What controllers answer to leaders and administrators, beside what is registered then.

AlterIsr (KIP-497), AlterPartitionReassignments and ListPartitionReassignments (KIP-455) and
ElectLeaders (KIP-460): each answer says what has been done, or why not, of what ZooKeeper holds
right after it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from impl.core.api import PREFERRED_TYPE, AlteredIsrs
from impl.world.wide.node import WideBroker
from impl.world.wide.world import WideWorld
from impl.znodes import LeaderIsrAndControllerEpoch, ReplicaAssignment, TopicPartition
from impl.zookeeper.port import wait

NOT_DONE = "UNKNOWN_SERVER_ERROR"
"""ZooKeeper did not let it: nothing more is said."""


@dataclass(frozen=True, slots=True)
class IsrsAnswered:
    """AlterIsr: what a leader wanted, the error of it all (None: no answer), and the answers.

    ``was_active``: whoever was asked believed that it is the controller.
    """

    wanted: Mapping[TopicPartition, LeaderIsrAndControllerEpoch]
    error: str | None
    answers: AlteredIsrs
    was_active: bool

    @property
    def whole_is_wrong(self) -> str:
        """Nothing is answered, or not by whoever it is; empty if all is well."""
        if self.error is None or (self.error == "NOT_CONTROLLER") == self.was_active:
            return f"{self.error} to a leader, as {'the' if self.was_active else 'no'} controller"
        if self.error == "NONE" and {*self.wanted} != {*self.answers}:
            return f"for {sorted(self.answers)} to a leader that asks for {sorted(self.wanted)}"
        return ""

    def wrong(self, there: Registered) -> Iterator[str]:
        """What does not go together."""
        if self.error != "NONE":
            return
        for one, wanted in self.wanted.items():
            answer, state = self.answers[one], there.state(one)
            if answer.error == NOT_DONE or state is None:
                continue
            fenced = wanted.leader_epoch < state.leader_epoch
            about = f"{answer.error} to a leader of {one} that wants {wanted}"
            if answer.error == "NONE":
                same = answer.state is not None and _is(answer.state) == _is(wanted)
                if not same or state.zk_version < (answer.state or state).zk_version:
                    yield f"{about}, with {answer.state}, though {state} is registered"
            elif fenced != (answer.error == "FENCED_LEADER_EPOCH"):
                yield f"{about}, though leader epoch {state.leader_epoch} is registered"
            elif not fenced and wanted.zk_version == state.zk_version:
                yield f"{about}, though version {state.zk_version} is registered"


@dataclass(frozen=True, slots=True)
class MovesAnswered:
    """AlterPartitionReassignments: by partition the target, None to cancel; and the error."""

    targets: Mapping[TopicPartition, list[int] | None]
    answers: Mapping[TopicPartition, str]

    def wrong(self, there: Registered) -> Iterator[str]:
        """What does not go together."""
        for one, target in self.targets.items():
            error, assignment = self.answers[one], there.assignment(one)
            if error == NOT_DONE:
                continue
            about = f"{error} to whoever wants {one} on {target}"
            if error == "UNKNOWN_TOPIC_OR_PARTITION":
                if assignment is not None and one.topic not in there.queued:
                    yield f"{about}, though it is on {assignment.replicas}"
            elif assignment is None:
                yield f"{about}, though there is no such partition"
            elif error == "NO_REASSIGNMENT_IN_PROGRESS":
                if target is not None or assignment.is_being_reassigned:
                    yield f"{about}, though {assignment} is registered"
            elif error == "INVALID_REPLICA_ASSIGNMENT":
                if target is None or there.brokers.issuperset(target):
                    yield f"{about}, though these are alive"
            elif target is not None and assignment.target != tuple(target):
                yield f"{about}, though {assignment} is registered"


@dataclass(frozen=True, slots=True)
class MovesListed:
    """ListPartitionReassignments."""

    moving: Mapping[TopicPartition, ReplicaAssignment]

    def wrong(self, there: Registered) -> Iterator[str]:
        """What does not go together."""
        if dict(self.moving) != there.moving():
            yield f"{dict(self.moving)} as moves, though {there.moving()} are registered"


@dataclass(frozen=True, slots=True)
class LeadersAnswered:
    """ElectLeaders: ``kind`` of election, and the answer for each partition."""

    kind: str
    asked: tuple[TopicPartition, ...]
    answers: Mapping[TopicPartition, str]

    def wrong(self, there: Registered) -> Iterator[str]:
        """What does not go together."""
        if {*self.asked} != {*self.answers}:
            yield f"for {sorted(self.answers)} to whoever wants leaders of {sorted(self.asked)}"
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
                leads = preferred if self.kind == PREFERRED_TYPE else state.leader >= 0
                if leads == error.endswith("_NOT_AVAILABLE"):
                    yield f"{about}, though {state} is registered"


Answered = IsrsAnswered | MovesAnswered | MovesListed | LeadersAnswered


class Registered:
    """What ZooKeeper holds."""

    def __init__(self, world: WideWorld) -> None:
        self.admin = world.admin
        self.queued = {*wait(world.admin.deletions())}
        self.brokers = {*wait(world.admin.brokers())}

    def state(self, one: TopicPartition) -> LeaderIsrAndControllerEpoch | None:
        """A partition's state."""
        return wait(self.admin.state(one))

    def assignment(self, one: TopicPartition) -> ReplicaAssignment | None:
        """A partition's replicas."""
        topic = wait(self.admin.topic(one.topic))
        return None if topic is None else topic.partitions.get(one.partition)

    def moving(self) -> dict[TopicPartition, ReplicaAssignment]:
        """The partitions whose replicas are about to change."""
        found = {}
        for topic in wait(self.admin.topics()):
            there = wait(self.admin.topic(topic))
            for number, assignment in there.partitions.items() if there else ():
                if assignment.is_being_reassigned:
                    found[TopicPartition(topic, number)] = assignment
        return found


def wrong_answer(world: WideWorld, node: WideBroker, done: Answered) -> str:
    """What an answer says that is not so; empty if all is.

    Of a controller that is deposed and does not know it, or whose memory ZooKeeper has kept from
    being written, nothing is expected.
    """
    if isinstance(done, IsrsAnswered) and done.whole_is_wrong:
        return done.whole_is_wrong
    counted = wait(world.admin.controller_epoch())
    newest = counted is not None and node.controller.core.context.epoch == counted.epoch
    if not newest or not node.controller.active or not node.alive or node.was_denied:
        return ""
    return next(done.wrong(Registered(world)), "")


def _is(state: LeaderIsrAndControllerEpoch) -> Any:
    return state.leader, state.leader_epoch, state.isr
