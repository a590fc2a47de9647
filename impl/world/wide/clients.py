"""Steps of producers, and of operators with Kafka's tools."""

from __future__ import annotations

from collections.abc import Iterable

from impl.log.record import StoredRecord
from impl.log.record_batch import encode_batch
from impl.world.wide.replicas import Waiting
from impl.world.wide.world import WideKind, WideWorld
from impl.znodes import TopicPartition, encode_reassignment, paths
from impl.zookeeper.port import wait

Args = Iterable[tuple[int, ...]]
AT = ("broker", "topic", "partition")
ENOUGH_WAITING = 2
"""A leader with so many producers that wait for its ISR gets no more of them."""


def _leaders(world: WideWorld) -> Args:
    return [
        (number, int(one.partition.topic[1:]), one.partition.partition)
        for number, node in world.running()
        for one in node.replicas.hosted.values()
        if one.leads and len(one.waiting) < ENOUGH_WAITING
    ]


def producer_appends(world: WideWorld, broker: int, topic: int, partition: int) -> None:
    """A record with acks=all; its producer waits."""
    replica = world.nodes[broker].replicas.hosted[TopicPartition(f"t{topic}", partition)]
    record, world.next_record = world.next_record, world.next_record + 1
    value = record.to_bytes(8, "big")
    batch = encode_batch([StoredRecord(0, world.now_ms(), None, value)])
    appended = replica.stored.append_as_leader(batch, replica.leader_epoch)
    replica.advance(world.now_ms())
    replica.waiting.append(Waiting(appended.last_offset + 1, replica.reign, record))


def _heard(world: WideWorld) -> Args:
    return [
        (number, int(one.partition.topic[1:]), one.partition.partition)
        for number, node in world.running()
        for one in node.replicas.hosted.values()
        if one.waiting and one.leads and one.hw >= one.waiting[0].end
    ]


def producer_hears(world: WideWorld, broker: int, topic: int, partition: int) -> None:
    """The first that waits hears that its record is committed."""
    one = TopicPartition(f"t{topic}", partition)
    replica = world.nodes[broker].replicas.hosted[one]
    done = replica.waiting.pop(0)
    told = world.told
    if world.born(one.topic) != replica.born:
        return  # a topic of that name is another one by now
    held = told.at.setdefault(one, {})
    held[done.end - 1] = done.record
    told.acknowledged += 1
    while held and next(iter(held)) < replica.log_start:  # retention: nobody is owed those
        del held[next(iter(held))]


# Operators


def _missing(world: WideWorld) -> Args:
    nodes = world.zookeeper.nodes
    return [(one,) for one in range(world.topics) if paths.topic(f"t{one}") not in nodes]


def topic_is_created(world: WideWorld, topic: int) -> None:
    """Created again: it owes nothing of its earlier life."""
    for one in [one for one in world.told.at if one.topic == f"t{topic}"]:
        del world.told.at[one]
    world.create_topic(topic)


def _there(world: WideWorld) -> Args:
    nodes = world.zookeeper.nodes
    return [
        (one,)
        for one in range(world.topics)
        if paths.topic(f"t{one}") in nodes and paths.deletion(f"t{one}") not in nodes
    ]


def topic_is_deleted(world: WideWorld, topic: int) -> None:
    """Asked for; what was told of it counts no more."""
    for one in [one for one in world.told.at if one.topic == f"t{topic}"]:
        del world.told.at[one]
    wait(world.admin.request_deletion(f"t{topic}"))


def _movable(world: WideWorld) -> Args:
    nodes = world.zookeeper.nodes
    if paths.REASSIGN_PARTITIONS in nodes:
        return []
    return [
        (one, number)
        for (one,) in _there(world)
        for number in range(world.partitions)
        if paths.state(f"t{one}", number) in nodes
    ]


def reassignment_is_requested(world: WideWorld, topic: int, partition: int) -> None:
    """The partition is to move to other brokers, or to lead elsewhere."""
    world.moves += 1
    ids = sorted(world.nodes)
    target = [ids[(world.moves + one) % len(ids)] for one in range(world.factor)]
    text = encode_reassignment({TopicPartition(f"t{topic}", partition): target})
    wait(world.admin.port.create(paths.REASSIGN_PARTITIONS, text))


def _unasked(world: WideWorld) -> Args:
    return [] if paths.PREFERRED_ELECTION in world.zookeeper.nodes else [()]


def preferred_election_is_requested(world: WideWorld) -> None:
    """Every partition is to be led by its first replica."""
    every = [
        TopicPartition(f"t{one}", number)
        for (one,) in _there(world)
        for number in range(world.partitions)
    ]
    wait(world.admin.request_preferred_election(every))


KINDS = (
    WideKind("producer_appends", AT, _leaders, producer_appends, 30),
    WideKind("producer_hears", AT, _heard, producer_hears, 60),
    WideKind("topic_is_created", ("topic",), _missing, topic_is_created, 20),
    WideKind("topic_is_deleted", ("topic",), _there, topic_is_deleted, 0, "deletions"),
    WideKind(
        "reassignment_is_requested", ("topic", "partition"), _movable,
        reassignment_is_requested, 0, "moves",
    ),
    WideKind(
        "preferred_election_is_requested", (), _unasked, preferred_election_is_requested, 0,
        "elections",
    ),
)  # fmt: skip
