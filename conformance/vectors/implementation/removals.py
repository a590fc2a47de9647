"""Answers about deletions that end on disks: a whole cluster of brokers plays them."""

from __future__ import annotations

from typing import Any

from conformance.vectors.questions import Answer, Question, given, release, under
from impl.core.controller_parts import ControllerConfig
from impl.sim.world_of_steps import Step
from impl.world.wide import WideWorld
from impl.world.wide.wide_steps import wide_world
from impl.znodes import ReplicaAssignment, TopicPartition, TopicZnode, encode_topic, paths
from impl.znodes.topics import topic_version
from impl.zookeeper.port import wait

TOPIC = "t0"
PATIENCE = 1_500
"""Steps after which nothing more is expected to happen."""

QUIET = ("hw_is_checkpointed", "logs_are_kept_small", "producer_appends",
         "leaders_are_rebalanced", "topic_is_created")  # fmt: skip
STANDS_FOR_TIME = ("broker_starts", "dead_session_expires")


def deleting(question: Question, brokers: int) -> WideWorld:
    """A cluster with one partition on all of its brokers, in which topics may be deleted."""
    config = ControllerConfig(delete_topics=True)
    world = wide_world(brokers, 1, 1, brokers, str(release(question)), config=config)
    settle(world)
    return world


def settle(world: WideWorld) -> None:
    """Let everything happen that is under way, in turns, until the cluster says nothing new."""
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


def still_there(world: WideWorld) -> list[str]:
    """What is left of the topic, named as the cases name it."""
    nodes = world.zookeeper.nodes
    logs = {one for node in world.nodes.values() for one in node.logs.partitions}
    left = []
    if paths.topic(TOPIC) in nodes:
        left.append("topic znode")
    if paths.deletion(TOPIC) in nodes:
        left.append("delete znode")
    if any(topic == TOPIC for topic, _ in logs):
        left.append("logs")
    return left


def stop(world: WideWorld, broker: int) -> None:
    """A broker goes, and everybody gets to know."""
    world.do(Step("broker_crashes", (broker,)))
    world.do(Step("dead_session_expires", (broker,)))
    settle(world)


def delete(question: Question) -> dict[str, Any]:
    """A topic on some brokers, those in ``live`` up, is deleted: what is gone when all is still."""
    asked = given(question)
    ids = list(asked["assignment"])
    world = deleting(question, len(ids))
    for place, broker in enumerate(ids, 1):
        if broker not in asked["live"]:
            stop(world, place)
    world.do(Step("topic_is_deleted", (0,)))
    settle(world)
    for place, broker in enumerate(ids, 1):
        if broker in asked["thenStart"] and broker not in asked["live"]:
            world.do(Step("broker_starts", (place,)))
            settle(world)
    left = still_there(world)
    if not left:
        return {"eventually": "topic znode, delete znode and all logs gone"}
    return {"eventually": f"{', '.join(left)} stay"}


def add_partitions_during_delete(question: Question) -> dict[str, Any]:
    """While a follower is down a topic is to be deleted, and grows; then the follower is back."""
    world = deleting(question, 3)
    follower = 3
    stop(world, follower)
    world.do(Step("topic_is_deleted", (0,)))
    settle(world)
    grown = TopicZnode({number: ReplicaAssignment((1, 2, 3)) for number in range(2)})
    text = encode_topic(grown, min(topic_version(world.release), 2))
    wait(world.admin.port.set_data(paths.topic(TOPIC), text))
    settle(world)
    world.do(Step("broker_starts", (follower,)))
    settle(world)
    added = TopicPartition(TOPIC, 1)
    held = any(added in node.logs.partitions for node in world.nodes.values())
    deleted = "topic fully deleted" if not still_there(world) else "topic still there"
    logs = "logs of the added partition" if held else "no logs of the added partition"
    return {"afterRestart": f"{deleted}, {logs}"}


ANSWERS: dict[tuple[str, str], Answer] = under(
    "topic_deletion",
    delete=delete,
    addPartitionsDuringDelete=add_partitions_during_delete,
)
