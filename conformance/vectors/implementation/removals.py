"""Answers about deletions that end on disks, by a simulated cluster of brokers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from conformance.vectors import remaining
from conformance.vectors.questions import Answer, Question, given, release, under
from conformance.vectors.remaining import Remaining
from impl.core.controller_parts import ControllerConfig
from impl.sim.simulation import Step
from impl.world.whole_cluster.steps import whole_cluster
from impl.world.whole_cluster.whole_cluster import WholeCluster
from impl.znodes import ReplicaAssignment, TopicPartition, TopicZnode, encode_topic, paths
from impl.znodes.topics import topic_version
from impl.zookeeper.port import wait

TOPIC = "t0"
PATIENCE = 1_500
"""Steps after which nothing more is expected to happen."""

QUIET = ("hw_is_checkpointed", "logs_are_kept_small", "producer_appends",
         "leaders_are_rebalanced", "topic_is_created")  # fmt: skip
STANDS_FOR_TIME = ("broker_starts", "dead_session_expires")


def deleting(question: Question) -> WholeCluster:
    """A cluster with the question's topic, in which topics may be deleted.

    The brokers that it names are numbered from 1 on (``places``).
    """
    place = places(question)
    assignment = {
        int(at): [place[one] for one in ids] for at, ids in given(question)["assignment"].items()
    }
    world = whole_cluster(
        len(place), 1, len(assignment), max(map(len, assignment.values())), str(release(question)),
        config=ControllerConfig(delete_topics=True), assignment=assignment,
    )  # fmt: skip
    settle(world)
    return world


def places(question: Question) -> dict[int, int]:
    """Broker of a question -> its number in the world."""
    every = [one for ids in given(question)["assignment"].values() for one in ids]
    return {one: number for number, one in enumerate(dict.fromkeys(every), 1)}


def settle(world: WholeCluster) -> None:
    """Runs everything that is under way, in turns, until the cluster reports nothing new."""
    busy = [
        name
        for name, kind in world.kinds.items()
        if kind.fault is None and name not in (*QUIET, *STANDS_FOR_TIME)
    ]
    for _ in range(PATIENCE // len(busy)):
        for name in busy:
            for args in world.kinds[name].possible(world):
                step = Step(name, args)
                if world.why_not(step) is None:
                    world.do(step)


def left(world: WholeCluster) -> Remaining:
    """What is left of the topic."""
    nodes = world.zookeeper.nodes
    held = {one for node in world.nodes.values() for one in node.logs.partitions}
    logs = {number for topic, number in held if topic == TOPIC}
    return Remaining({
        remaining.TOPIC: paths.topic(TOPIC) in nodes,
        remaining.REQUEST: paths.deletion(TOPIC) in nodes,
        remaining.LOGS: bool(logs),
        remaining.ADDED_LOGS: any(number >= world.partitions for number in logs),
    })  # fmt: skip


def stop(world: WholeCluster, broker: int) -> None:
    """Stops a broker, and lets all others notice."""
    world.do(Step("broker_crashes", (broker,)))
    world.do(Step("dead_session_expires", (broker,)))
    settle(world)


def start(world: WholeCluster, broker: int) -> None:
    """Starts a broker again."""
    world.do(Step("broker_starts", (broker,)))
    settle(world)


def delete(question: Question) -> dict[str, Any]:
    """A topic is deleted while only some brokers are up: what is left while some are down, and at
    the end."""
    asked, place = given(question), places(question)
    world = deleting(question)
    down = [number for one, number in place.items() if one not in asked["live"]]
    for number in place.values() if asked["lost"] else down:
        stop(world, number)
    for number in asked["lost"]:  # an earlier controller has begun to remove the topic's znodes
        _remove(world, paths.partition(TOPIC, number))
    world.do(Step("topic_is_deleted", (0,)))
    settle(world)
    if asked["added"]:
        _grow(world, [[place[one] for one in ids] for ids in asked["added"].values()])
    if asked["failsOver"]:
        active = next(number for number, node in world.running() if node.controller.active)
        stop(world, active)
        start(world, active)
    for number in place.values() if asked["lost"] else ():
        if number not in down:
            start(world, number)
    before = left(world)
    for number in [place[one] for one in asked["thenStart"] if one in place]:
        start(world, number)
    answer = {"eventually": left(world), "before": before}
    return answer | _created_again(world, place) if asked["again"] else answer


def _remove(world: WholeCluster, path: str) -> None:
    below = [one for one in world.zookeeper.nodes if one.startswith(f"{path}/")]
    for one in (*sorted(below, key=len, reverse=True), path):
        wait(world.admin.port.delete(one))


def _grow(world: WholeCluster, added: Sequence[Sequence[int]]) -> None:
    """The topic's znode is rewritten with more partitions, if it is there."""
    topic = wait(world.admin.topic(TOPIC))
    if topic is not None:
        more = dict(enumerate(map(ReplicaAssignment, map(tuple, added)), len(topic.partitions)))
        grown = TopicZnode({**topic.partitions, **more})
        text = encode_topic(grown, min(topic_version(world.release), 2))
        wait(world.admin.port.set_data(paths.topic(TOPIC), text))
        settle(world)


def _created_again(world: WholeCluster, place: Mapping[int, int]) -> dict[str, Any]:
    """A topic of that name is created: the state of its first partition, of the case's brokers."""
    world.do(Step("topic_is_created", (0,)))
    settle(world)
    state = wait(world.admin.state(TopicPartition(TOPIC, 0)))
    if state is None:
        return {"recreated": False}
    broker = {number: one for one, number in place.items()}
    return {
        "recreated": True,
        "result": True,
        "logsCreated": left(world)[remaining.LOGS],
        "leader": broker[state.leader],
        "isr": [broker[number] for number in state.isr],
        "leaderEpoch": state.leader_epoch,
    }


ANSWERS: dict[tuple[str, str], Answer] = under(
    "topic_deletion",
    delete=delete,
    addPartitionsDuringDelete=delete,
    recreateAfterDelete=delete,
)
