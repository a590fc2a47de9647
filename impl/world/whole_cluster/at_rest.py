"""Decides whether a simulated cluster is at rest: only work that Kafka never finishes is left.

A run is not expected to finish what Kafka itself cannot. Each such case has its condition and its
source here; anything else that does not come to rest is a defect of insync.
"""

from __future__ import annotations

from impl.core.replica_manager import Replica
from impl.world.whole_cluster.node import ClusterNode
from impl.world.whole_cluster.whole_cluster import WholeCluster
from impl.znodes import TopicPartition, paths
from impl.znodes.text import MalformedZnode
from impl.zookeeper.port import wait


def leader_of(world: WholeCluster, partition: TopicPartition) -> Replica | None:
    """The replica that ZooKeeper's state names as leader, None if it does not lead."""
    try:
        state = wait(world.admin.state(partition))
    except MalformedZnode:
        return None
    node = None if state is None else world.nodes.get(state.leader)
    replica = None if node is None else node.replicas.partitions.get(partition)
    return replica if replica is not None and replica.leads else None


def is_at_rest(world: WholeCluster) -> bool:
    """Nothing is under way, every broker is up, every partition has all its replicas in sync.

    Partitions for which ``is_never_finished`` holds are excepted.
    """
    return not why_not_at_rest(world)


def why_not_at_rest(world: WholeCluster) -> str:
    """The first reason why the world is not at rest; empty if there is none."""
    pending = world.zookeeper.watches.pending
    for number, node in world.nodes.items():
        if not (node.running and node.alive):
            return f"broker {number} is down, or paused, or without a session"
        if pending.get(node.session.session):
            return f"notifications are on their way to broker {number}"
        if node.alter_isr.waiting or node.isr_request is not None:
            return f"broker {number} waits for another ISR"
        if node.channels.busy() or node.events.waiting:
            return f"the controller on broker {number} has requests or events under way"
        if node.replicas.isr_changes:
            return f"broker {number} has changes of ISRs to tell"
    move = _move_under_way(world)
    if move:
        return move
    if not world.keeps_requests:
        for topic in wait(world.admin.deletions()):
            if not _waits_for_a_broker(world, topic):
                return f"{topic} is to be deleted"
    for at in range(world.topics):
        for number in range(world.partitions):
            one = TopicPartition(f"t{at}", number)
            if not (is_never_finished(world, one) or _is_in_sync(world, leader_of(world, one))):
                return f"{one} has no leader, or not all of its replicas are in sync"
    return ""


def _is_in_sync(world: WholeCluster, leader: Replica | None) -> bool:
    """Nobody has anything that the others have not: of a new leader's ISR it may be to be cut."""
    if leader is None or set(leader.isr) != set(leader.replicas):
        return False
    hosted = [world.nodes[one].replicas.partitions for one in leader.replicas]
    ends = {one[leader.partition].log_end for one in hosted if leader.partition in one}
    return ends == {leader.hw}


def _active_controller(world: WholeCluster) -> ClusterNode | None:
    """The broker that /controller names and that believes it is controller."""
    active = [node for node in world.nodes.values() if node.controller.active]
    return max(active, key=lambda node: node.controller.core.context.epoch, default=None)


def _move_under_way(world: WholeCluster) -> str:
    """A move that is asked for or under way, and not in vain; empty if there is none."""
    active = _active_controller(world)
    moving = set() if active is None else active.controller.reassigner.in_progress()
    asked = wait(world.admin.reassignments())
    for one in sorted({*moving, *asked}):
        if not (
            is_never_finished(world, one) or _is_of_an_earlier_topic(world, one, one in moving)
        ):
            return f"a move of {one} is under way"
    return ""


def _is_of_an_earlier_topic(
    world: WholeCluster, partition: TopicPartition, is_moving: bool
) -> bool:
    """The topic was deleted while it moved, as a broker that starts has it, and created again.

    What is asked for stays until the next controller, or until a broker starts: nothing of a topic
    that goes is taken out of the moves, and since 2.4 an entry is dropped only with the very target
    that was reached (``removeTopic``, ``onBrokerStartup``, ``maybeRemoveFromZkReassignment``).
    """
    nodes = world.zookeeper.nodes
    topic, asked = nodes.get(paths.topic(partition.topic)), nodes.get(paths.REASSIGN_PARTITIONS)
    if topic is None:
        return False
    if is_moving and world.release.since("2.4"):
        known = wait(world.admin.topic(partition.topic))
        assignment = None if known is None else known.partitions.get(partition.partition)
        return assignment is not None and not assignment.is_being_reassigned
    return asked is not None and topic.czxid > asked.mzxid


# What Kafka leaves as it is


def is_never_finished(world: WholeCluster, partition: TopicPartition) -> bool:
    """Whether Kafka never finishes it although all brokers are up: it is then not claimed."""
    return (
        _waits_for_a_broker(world, partition.topic)
        or bounce_was_missed(world, partition)
        or any(
            (partition, number) in world.leftover_replicas for number in _assigned(world, partition)
        )
    )


def _waits_for_a_broker(world: WholeCluster, topic: str) -> bool:
    """The topic's deletion goes on when a broker starts, and not before, or never.

    Up to 1.1 a replica without a known state of its partition cannot go offline, so that the
    topic of a new controller that finds none is never deleted (KAFKA-6650).

    A failover counts a topic that is moved as ineligible for deletion. Up to 2.3 its move is
    refused, as it is being deleted; since 2.4 the move is taken up, but of a partition without
    leader it never ends: no leader is elected for a topic that is to be deleted
    (``fetchTopicDeletionsInProgress``, ``triggerOnlineStateChangeForPartitions``).
    """
    active = _active_controller(world)
    if active is None:
        return False
    context = active.controller.core.context
    stateless = any(one not in context.leadership for one in context.partitions_of(topic))
    if topic in context.queued_for_deletion and stateless and not world.release.since("2.0"):
        return True
    if topic not in context.queued_for_deletion & context.ineligible_for_deletion:
        return False
    moving = active.controller.reassigner.in_progress()
    return all(leader_of(world, one) is None for one in moving if one.topic == topic)


def bounce_was_missed(world: WholeCluster, partition: TopicPartition) -> bool:
    """Whether a broker bounced before the controller noticed: it gets no requests (up to 2.1).

    The broker has no such replica; or its leader epoch comes from a late request to its last
    process; or a StopReplica for its last process stopped it, and it ignores requests of a leader
    epoch that it knows. Since KIP-380 (KAFKA-7235) a controller detects it by its broker epoch, and
    the broker refuses such requests.
    """
    if world.release.since("2.2"):
        return False
    state = wait(world.admin.state(partition))
    epoch = -1 if state is None else state.leader_epoch
    hosted = [world.nodes[one].replicas.partitions for one in _assigned(world, partition)]
    return any(
        partition not in there
        or there[partition].leader_epoch < epoch
        or there[partition].leader is None
        for there in hosted
    )


def _assigned(world: WholeCluster, partition: TopicPartition) -> tuple[int, ...]:
    topic = wait(world.admin.topic(partition.topic))
    if topic is None or partition.partition not in topic.partitions:
        return ()
    return tuple(topic.partitions[partition.partition].replicas)
