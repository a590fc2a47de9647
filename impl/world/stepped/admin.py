"""Topics that administrators write into ZooKeeper, without validation."""

from __future__ import annotations

from impl.sim.simulation import Arguments, refusable
from impl.world.processes import once
from impl.world.stepped.controller_run import TOPIC
from impl.world.stepped.stepped_cluster import SteppedCluster, Unmet, each_list
from impl.znodes import paths
from impl.znodes.topics import ReplicaAssignment, TopicZnode, encode_topic, topic_version
from impl.zookeeper.port import wait


def each_list_and_count(world: SteppedCluster) -> Arguments:
    """(first, second, third, partitions)."""
    counts = range(1, len(world.partitions) + 1)
    return ((*ids, count) for ids in each_list(world) for count in counts)


def each_partition_and_list(world: SteppedCluster) -> Arguments:
    """(partition, first, second, third)."""
    return ((number, *ids) for number in world.partitions for ids in each_list(world))


def _admin_creates_topic_unmet(world: SteppedCluster, *args: int) -> Unmet:
    if world.registered_lists():
        return "there is no topic of that name"
    *ids, count = args
    if tuple(ids) not in world.lists:
        return "the list names brokers, each once"
    return None if 1 <= count <= len(world.partitions) else "it has so many partitions"


def admin_creates_topic(
    world: SteppedCluster, first: int, second: int, third: int, count: int
) -> None:
    """Its replica lists are written, each rotated by one against the previous list.

    Existing replicas of that name, and requests in flight for it, belong to an earlier topic.
    """
    ids = [one for one in (first, second, third) if one]
    wait(world.admin.create_topic(TOPIC, {
        number: [*ids[number % len(ids):], *ids[: number % len(ids)]] for number in range(count)
    }))  # fmt: skip
    world.created += 1


def _admin_adds_partition_unmet(world: SteppedCluster, number: int, *args: int) -> Unmet:
    lists = world.registered_lists()
    if not lists:
        return "the topic exists"
    if number != len(lists):
        return "it is the next partition"
    ids = [one for one in args if one]
    if len({*ids}) < len(ids):
        return "no broker is named twice"
    return None if len(ids) == len(lists[0]) else "it has as many replicas"


def admin_adds_partition(
    world: SteppedCluster, number: int, first: int, second: int, third: int
) -> None:
    """The topic's znode is written with one more partition."""
    lists = world.registered_lists() | {number: tuple(one for one in (first, second, third) if one)}
    node = TopicZnode({one: ReplicaAssignment(ids) for one, ids in lists.items()})
    text = encode_topic(node, min(topic_version(world.release), 2))
    wait(world.admin.port.set_data(paths.topic(TOPIC), text))


def _admin_deletes_topic_unmet(world: SteppedCluster) -> Unmet:
    if not world.registered_lists():
        return "the topic exists"
    return "no deletion is requested" if wait(world.admin.deletions()) else None


def admin_deletes_topic(world: SteppedCluster) -> None:
    """A deletion is requested."""
    wait(world.admin.request_deletion(TOPIC))


KINDS = (
    refusable(
        admin_creates_topic,
        each_list_and_count,
        _admin_creates_topic_unmet,
        "first second third count",
    ),
    refusable(
        admin_adds_partition,
        each_partition_and_list,
        _admin_adds_partition_unmet,
        "number first second third",
    ),
    refusable(admin_deletes_topic, once, _admin_deletes_topic_unmet, ""),
)
