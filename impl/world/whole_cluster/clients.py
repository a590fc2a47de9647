"""Steps of producers and consumers, and of operators with Kafka's tools."""

from __future__ import annotations

import contextlib

from impl.core.answers import NONE
from impl.core.api import PREFERRED_TYPE, UNCLEAN_TYPE, ControllerApi
from impl.core.event_controller import EventController
from impl.core.fetcher_thread import FetchQuestion
from impl.core.replica_manager import CONSUMER, STORAGE_ERROR, DelayedProduce
from impl.log.errors import StorageError
from impl.log.record import StoredRecord
from impl.log.record_batch import encode_batch
from impl.sim.simulation import Arguments, offered
from impl.world.fetches import MOST_BYTES
from impl.world.whole_cluster.controller_answers import (
    AlterReassignmentsAnswered,
    ElectLeadersAnswered,
    ListReassignmentsAnswered,
    able_to_lead,
    expected_controller_error,
    needed,
    refused_moves,
)
from impl.world.whole_cluster.node import ClusterNode, WaitingProducer
from impl.world.whole_cluster.observations import ConsumerRead, stored, values_in
from impl.world.whole_cluster.whole_cluster import WholeCluster
from impl.znodes import TopicPartition, encode_reassignment, paths
from impl.zookeeper.port import wait

AT = "broker topic partition"
ENOUGH_WAITING = 2
"""A leader with so many producers that wait for its ISR gets no more of them."""


def _leaders(world: WholeCluster) -> Arguments:
    return [
        (number, int(one.topic[1:]), one.partition)
        for number, node in world.running()
        for one, replica in node.replicas.partitions.items()
        if replica.leads and len(node.waiting.get(one, ())) < ENOUGH_WAITING
    ]


def producer_appends(world: WholeCluster, broker: int, topic: int, partition: int) -> None:
    """A record with acks=all; its producer waits."""
    node, one = world.nodes[broker], TopicPartition(f"t{topic}", partition)
    record, world.next_record = world.next_record, world.next_record + 1
    value = record.to_bytes(8, "big")
    batch = encode_batch([StoredRecord(0, world.now_ms(), None, value)])
    done = wait(node.replicas.append(one, batch, -1, 1, world.now_ms()))
    if done.error == STORAGE_ERROR:
        return  # its log directory has failed
    assert done.awaited is not None, f"a leader takes a record, but says {done.error}"
    node.waiting.setdefault(one, []).append(WaitingProducer(done.awaited, record))


def _answered(world: WholeCluster, is_acknowledged: bool) -> Arguments:
    found = []
    for number, node in world.running():
        for one, waiting in node.waiting.items():
            outcome = waiting[0].awaited.outcome(node.replicas, expired=False)
            if outcome is not None and (outcome == NONE) is is_acknowledged:
                found.append((number, int(one.topic[1:]), one.partition))
    return found


def _acknowledged(world: WholeCluster) -> Arguments:
    return _answered(world, is_acknowledged=True)


def _refused(world: WholeCluster) -> Arguments:
    return _answered(world, is_acknowledged=False)


def _no_longer_waits(node: ClusterNode, one: TopicPartition) -> WaitingProducer:
    done = node.waiting[one].pop(0)
    if not node.waiting[one]:
        del node.waiting[one]
    return done


def producer_hears(world: WholeCluster, broker: int, topic: int, partition: int) -> None:
    """The first waiting producer gets its acknowledgement: its record is committed."""
    node, one = world.nodes[broker], TopicPartition(f"t{topic}", partition)
    done = _no_longer_waits(node, one)
    if world.incarnation_of(one.topic) != node.incarnations[one]:
        return  # a topic of that name is another one by now
    world.client_view.acknowledged += 1
    _keep(world.client_view.at.setdefault(one, {}), done.awaited.end - 1, done.record, done.awaited)


def producer_is_refused(world: WholeCluster, broker: int, topic: int, partition: int) -> None:
    """The first waiting producer gets NOT_LEADER; its record may be committed or not."""
    _no_longer_waits(world.nodes[broker], TopicPartition(f"t{topic}", partition))


def _keep(held: dict[int, int], offset: int, record: int, awaited: DelayedProduce) -> None:
    held[offset] = record
    while held and next(iter(held)) < awaited.replica.log_start:  # retention: nobody is owed those
        del held[next(iter(held))]


def _readable(world: WholeCluster) -> Arguments:
    return [
        (number, int(one.partition.topic[1:]), one.partition.partition)
        for number, node in world.running()
        for one in node.replicas.leading()
        if one.log_end > max(one.log_start, world.consumed.get(one.partition, 0))
    ]


def consumer_reads(world: WholeCluster, broker: int, topic: int, partition: int) -> None:
    """A consumer reads at its position; if that is out of range, from the log start offset."""
    node, one = world.nodes[broker], TopicPartition(f"t{topic}", partition)
    replica = node.replicas.partitions[one]
    offset = max(replica.log_start, world.consumed.get(one, 0))
    question = {one: FetchQuestion(None, offset, None)}
    reply = wait(node.replicas.read(CONSUMER, question, MOST_BYTES))[one]
    if reply.batch is None:
        return
    found = dict(values_in(reply.batch.read()))
    if world.incarnation_of(one.topic) == node.incarnations[one]:
        world.consumed[one] = max(found) + 1
        world.happened.append((broker, ConsumerRead(one, node.incarnations[one], found)))


# Operators


def _deletable(world: WholeCluster) -> Arguments:
    if not world.release.since("0.11"):
        return []
    return [
        (number, int(one.partition.topic[1:]), one.partition.partition)
        for number, node in world.running()
        for one in node.replicas.leading()
        if one.hw > one.log_start
    ]


def records_are_deleted(world: WholeCluster, broker: int, topic: int, partition: int) -> None:
    """All committed records are deleted (``kafka-delete-records``, KIP-107): a follower that is far
    behind is then out of range."""
    one = TopicPartition(f"t{topic}", partition)
    log = stored(world.nodes[broker].replicas.partitions[one].log)
    with contextlib.suppress(StorageError):
        log.log_start = log.high_watermark


def _missing(world: WholeCluster) -> Arguments:
    nodes = world.zookeeper.nodes
    return [(one,) for one in range(world.topics) if paths.topic(f"t{one}") not in nodes]


def topic_is_created(world: WholeCluster, topic: int) -> None:
    """The topic is created, or created again: no record of an earlier one is claimed."""
    world.forget(f"t{topic}")
    world.create_topic(topic)


def _there(world: WholeCluster) -> Arguments:
    return [(one,) for one in world.existing_topics()]


def topic_is_deleted(world: WholeCluster, topic: int) -> None:
    """A client requests the deletion; the topic's acknowledged records are no longer claimed."""
    world.forget(f"t{topic}")
    world.to_be_deleted.add(f"t{topic}")
    wait(world.admin.request_deletion(f"t{topic}"))


def _with_states(world: WholeCluster) -> list[tuple[int, int]]:
    """Topic and number of each partition that has been led."""
    nodes = world.zookeeper.nodes
    return [
        (int(one.topic[1:]), one.partition)
        for one in world.existing_partitions()
        if paths.state(*one) in nodes
    ]


def _movable(world: WholeCluster) -> list[tuple[int, int]]:
    return [] if paths.REASSIGN_PARTITIONS in world.zookeeper.nodes else _with_states(world)


def reassignment_is_requested(world: WholeCluster, topic: int, partition: int) -> None:
    """A request to move the partition to other brokers, or to another preferred leader."""
    _request_moves(world, {TopicPartition(f"t{topic}", partition): _target(world, world.factor)})


def unknown_move_is_requested(world: WholeCluster, topic: int, partition: int) -> None:
    """A request that also names a partition that does not exist, which the controller drops."""
    target = _target(world, world.factor)
    numbers = world.partitions, partition
    _request_moves(world, {TopicPartition(f"t{topic}", one): target for one in numbers})


def _request_moves(world: WholeCluster, targets: dict[TopicPartition, list[int]]) -> None:
    wait(world.admin.port.create(paths.REASSIGN_PARTITIONS, encode_reassignment(targets)))


def _all_movable(world: WholeCluster) -> Arguments:
    return [()] if _movable(world) else []


def many_moves_are_requested(world: WholeCluster) -> None:
    """One request for every partition; it is rewritten as the reassignments complete one by one."""
    targets = {
        TopicPartition(f"t{topic}", number): _target(world, world.factor)
        for topic, number in _movable(world)
    }
    _request_moves(world, targets)


def _target(world: WholeCluster, replicas: int) -> list[int]:
    """The next list of replicas that a partition is to move to."""
    world.moves += 1
    ids = sorted(world.nodes)
    return [ids[(world.moves + one) % len(ids)] for one in range(replicas)]


def _active_controllers(world: WholeCluster) -> list[ClusterNode]:
    """The controllers that accept requests of administrators (KIP-455, KIP-460): the last
    elected.
    """
    active = [node for _, node in world.running() if node.controller.active]
    if not world.release.since("2.4") or not active:
        return []
    return [max(active, key=lambda node: node.controller.core.context.epoch)]


def _to_be_asked(world: WholeCluster) -> Arguments:
    return _with_states(world) if _active_controllers(world) else []


def controller_is_asked_to_reassign(world: WholeCluster, topic: int, partition: int) -> None:
    """AlterPartitionReassignments: starts a reassignment, or changes its target.

    Every second target has one replica less, so that replicas leave and join even if a partition
    has as many replicas as there are brokers.
    """
    fewer = world.moves % 2 if world.factor > 1 else 0
    _alter(world, TopicPartition(f"t{topic}", partition), _target(world, world.factor - fewer))


def _moving(world: WholeCluster) -> Arguments:
    return [
        (int(one.topic[1:]), one.partition)
        for node in _active_controllers(world)
        for one in ControllerApi(node.controller).list_reassignments()[1]
    ]


def move_is_cancelled(world: WholeCluster, topic: int, partition: int) -> None:
    """Cancels a reassignment: the partition returns to its original replicas."""
    _alter(world, TopicPartition(f"t{topic}", partition), None)


def _alter(world: WholeCluster, one: TopicPartition, target: list[int] | None) -> None:
    alone = world.moves % 3 == 0
    targets = {one: target, **({} if alone else _never_granted(world, one))}

    async def alter(controller: EventController) -> None:
        wanted = refused_moves(controller.core.context, targets)
        error, answers = await ControllerApi(controller).alter_reassignments(targets)
        failed = {*world.nodes[controller.broker].state_changes.failed_moves}
        done = AlterReassignmentsAnswered(
            targets, error, expected_controller_error(controller), wanted, answers, failed
        )
        world.happened.append((controller.broker, done))
        if error == NONE:
            _list_moves(world, controller, one)
        for other in _no_controllers(world):
            error, answers = await ControllerApi(other).alter_reassignments(targets)
            done = AlterReassignmentsAnswered(
                targets, error, expected_controller_error(other), {}, answers
            )
            world.happened.append((other.broker, done))
            _list_moves(world, other, one)

    for node in _active_controllers(world):
        node.events.put("ApiPartitionReassignment", alter)


def _no_controllers(world: WholeCluster) -> list[EventController]:
    """Brokers that refuse whoever takes them for the controller."""
    return [node.controller for _, node in world.running() if not node.controller.active]


def _list_moves(world: WholeCluster, controller: EventController, one: TopicPartition) -> None:
    """ListPartitionReassignments: of all partitions, and of one and another that is not there."""
    for asked in (None, (one, TopicPartition("t", 0))):
        error, moving = ControllerApi(controller).list_reassignments(asked)
        listed = ListReassignmentsAnswered(
            asked, error, expected_controller_error(controller), moving
        )
        world.happened.append((controller.broker, listed))


NOBODY = 99
"""A broker that is not there."""


def _never_granted(
    world: WholeCluster, one: TopicPartition
) -> dict[TopicPartition, list[int] | None]:
    """What is asked for in the same request, and refused: moves of partitions that are not there,
    and another one's to no brokers, to one twice, or to one that is not there."""
    number = world.moves % 4
    target = ([], [*world.nodes][:1] * 2, [NOBODY], [-1])[number]
    other = TopicPartition(one.topic, (one.partition + 1) % world.partitions)
    others = {
        TopicPartition(one.topic, world.partitions): [*world.nodes],
        TopicPartition("t", 0): None,
    }
    return others if other == one else {other: target, **others}


def _anybody(world: WholeCluster) -> Arguments:
    return [()] if _active_controllers(world) else []


def controller_is_asked_for_leaders(world: WholeCluster) -> None:
    """ElectLeaders, preferred and unclean in turn, for all partitions that were created and one
    that never existed, or (None) for all partitions."""
    world.moves += 1
    kind = (PREFERRED_TYPE, UNCLEAN_TYPE)[world.moves % 2]
    every = [
        TopicPartition(f"t{topic}", number)
        for topic in range(world.topics)
        for number in range(world.partitions)
    ]
    asked = None if world.moves % 4 > 1 else [*every, TopicPartition("t", 0)]

    async def elect(controller: EventController) -> None:
        wanted = needed(controller.core.context, world.release, kind, asked)
        if kind == UNCLEAN_TYPE:
            due = [one for one, refused in wanted.items() if not refused]
            world.misled |= {(one, world.incarnation_of(one.topic)) for one in due}
        able = able_to_lead(controller.core.context, wanted)
        error, answers = await ControllerApi(controller).elect_leaders(kind, asked)
        whole = expected_controller_error(controller)
        done = ElectLeadersAnswered(kind, error, whole, wanted, answers, able)
        world.happened.append((controller.broker, done))
        for other in _no_controllers(world):
            error, answers = await ControllerApi(other).elect_leaders(kind, asked)
            done = ElectLeadersAnswered(kind, error, expected_controller_error(other), {}, answers)
            world.happened.append((other.broker, done))

    for node in _active_controllers(world):
        node.events.put("ReplicaLeaderElection", elect)


KINDS = (
    offered("producer_appends", AT, _leaders, producer_appends, 30),
    offered("producer_hears", AT, _acknowledged, producer_hears, 60),
    offered("producer_is_refused", AT, _refused, producer_is_refused, 2),
    offered("consumer_reads", AT, _readable, consumer_reads, 10),
    offered("records_are_deleted", AT, _deletable, records_are_deleted, 0, "record_deletions"),
    offered("topic_is_created", "topic", _missing, topic_is_created, 20),
    offered("topic_is_deleted", "topic", _there, topic_is_deleted, 0, "deletions"),
    offered(
        "reassignment_is_requested", "topic partition", _movable,
        reassignment_is_requested, 0, "moves",
    ),
    offered(
        "unknown_move_is_requested", "topic partition", _movable,
        unknown_move_is_requested, 0, "unknown_moves",
    ),
    offered(
        "many_moves_are_requested", "", _all_movable, many_moves_are_requested, 0, "many_moves",
    ),
    offered(
        "controller_is_asked_to_reassign", "topic partition", _to_be_asked,
        controller_is_asked_to_reassign, 0, "requests",
    ),
    offered(
        "move_is_cancelled", "topic partition", _moving, move_is_cancelled, 0, "cancellations",
    ),
    offered(
        "controller_is_asked_for_leaders", "", _anybody, controller_is_asked_for_leaders, 0,
        "requests",
    ),
)  # fmt: skip
