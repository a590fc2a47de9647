"""Steps of leaders and followers in a staged cluster: commits, and changes of the ISR."""

from __future__ import annotations

from impl.core.replica_manager import Replica
from impl.sim.simulation import Arguments, StepKind, offered
from impl.world.simulated_cluster import STEP_MS
from impl.world.staged.server import LAG_MS, StagedBroker, StagedPartition
from impl.world.staged.staged_cluster import TOPIC, StagedCluster
from impl.znodes import TopicPartition
from impl.zookeeper.port import wait


def at(number: int) -> TopicPartition:
    """A partition by its number."""
    return TopicPartition(TOPIC, number)


def _hosted(world: StagedCluster, partition: int) -> list[tuple[StagedBroker, Replica]]:
    found = []
    for server in world.nodes.values():
        replica = server.replicas.partitions.get(at(partition)) if server.up else None
        if replica is not None:
            found.append((server, replica))
    return found


def leading(world: StagedCluster) -> list[tuple[StagedBroker, Replica, int]]:
    """Every replica that believes that it leads, with its broker and the partition's number."""
    return [
        (server, replica, one.partition)
        for one in world.assignment
        for server, replica in _hosted(world, one.partition)
        if replica.leads
    ]


def has_all(world: StagedCluster, broker: int, partition: TopicPartition) -> bool:
    """Whether the replica's log holds every record that was acknowledged as committed."""
    ids = [record for record, _ in world.nodes[broker].records(partition)]
    committed = world.committed[partition].items()
    return all(offset < len(ids) and ids[offset] == one for offset, one in committed)


def _committing(world: StagedCluster) -> Arguments:
    found = []
    for server, replica, number in leading(world):
        one = at(number)
        others = [world.nodes[member] for member in replica.isr if member != server.broker]
        if all(other.fetches(one, server) for other in others):
            found.append((server.broker, number))
    return found


def append(world: StagedCluster, server: StagedBroker, replica: Replica) -> tuple[int, int]:
    """Append a producer's record to a leader's log; returns its offset and its id."""
    record, world.next_record = world.next_record, world.next_record + 1
    produced = wait(server.replicas.append(replica.partition, (record,), 1, 1, world.now_ms()))
    return produced.first_offset, record


def _wait(world: StagedCluster) -> None:
    world.clock += LAG_MS // STEP_MS + 1


def leader_commits(world: StagedCluster, leader: int, partition: int) -> None:
    """A record with acks=all: the ISR fetches it, and its producer gets the acknowledgement."""
    server, one = world.nodes[leader], at(partition)
    replica = server.replicas.partitions[one]
    _wait(world)
    offset, record = append(world, server, replica)
    for member in replica.isr:
        if member != leader:
            world.nodes[member].catches_up(one, server)
    if replica.hw > offset:
        world.committed[one][offset] = record


def _behind(world: StagedCluster) -> Arguments:
    return [
        (other.broker, server.broker, number)
        for server, replica, number in leading(world)
        for other in world.nodes.values()
        if other.fetches(at(number), server)
        and other.records(at(number)) != server.records(at(number))
    ]  # fmt: skip


def follower_catches_up(world: StagedCluster, follower: int, leader: int, partition: int) -> None:
    """A follower compares its log with its leader's, truncates it, and fetches the rest."""
    world.nodes[follower].catches_up(at(partition), world.nodes[leader])


def _with_members(world: StagedCluster) -> Arguments:
    return [
        (server.broker, member, number)
        for server, replica, number in leading(world)
        if server.alive
        for member in sorted(replica.isr)
        if member != server.broker
    ]


def leader_maybe_shrinks_isr(
    world: StagedCluster, leader: int, replica: int, partition: int
) -> None:  # fmt: skip
    """``replica.lag.time.max.ms`` passes under load; fetching followers stay caught up."""
    server, other, one = world.nodes[leader], world.nodes[replica], at(partition)
    mine = server.replicas.partitions[one]
    if not other.fetches(one, server):
        append(world, server, mine)
        _wait(world)
    else:
        _wait(world)
        if has_all(world, replica, one):
            other.catches_up(one, server)
    if replica in mine.lagging(world.now_ms()):
        wait(mine.shrink([replica], world.now_ms()))


def _fetching(world: StagedCluster) -> Arguments:
    found = []
    for server, replica, number in leading(world):
        one = at(number)
        for other in world.nodes.values():
            outside = other.broker not in replica.isr and other.broker in replica.replicas
            if outside and server.alive and other.fetches(one, server):
                found.append((server.broker, other.broker, number))
    return found


def leader_maybe_expands_isr(
    world: StagedCluster, leader: int, replica: int, partition: int
) -> None:
    """A follower outside the ISR fetches, and may join the ISR; the response is lost.

    If it lacks only uncommitted records, it has fetched them before.
    """
    server, other, one = world.nodes[leader], world.nodes[replica], at(partition)
    if has_all(world, replica, one):
        other.catches_up(one, server)
    mine = server.replicas.partitions[one]
    assert isinstance(mine, StagedPartition), "a staged broker hosts it"
    mine.joining = replica
    other.fetch(one, server.replicas, world.now_ms(), loses_fetch=True)
    mine.joining = None


def _with_news(world: StagedCluster) -> Arguments:
    return [
        (broker, one.partition)
        for broker, server in world.nodes.items()
        if server.up and server.alive
        for one in sorted(server.replicas.isr_changes)
    ]


def broker_reports_isr_change(world: StagedCluster, broker: int, partition: int) -> None:
    """A changed ISR is announced to the controller through ZooKeeper."""
    server = world.nodes[broker]
    wait(server.client.propagate_isr_changes([at(partition)]))
    server.replicas.isr_changes.discard(at(partition))


KINDS: tuple[StepKind, ...] = (
    offered("leader_commits", "leader partition", _committing, leader_commits),
    offered("follower_catches_up", "follower leader partition", _behind, follower_catches_up),
    offered("leader_maybe_shrinks_isr", "leader replica partition", _with_members,
                leader_maybe_shrinks_isr),
    offered("leader_maybe_expands_isr", "leader replica partition", _fetching,
                leader_maybe_expands_isr),
    offered("broker_reports_isr_change", "broker partition", _with_news,
                broker_reports_isr_change),
)  # fmt: skip
