"""What brokers do in a world of moving partitions: requests, records, fetches, and the ISR."""

from __future__ import annotations

from typing import TYPE_CHECKING

from impl.core.requests import LeaderAndIsr, StopReplica
from impl.world.moves.kinds import MovesKind, each_broker, each_two
from impl.zookeeper.port import wait

if TYPE_CHECKING:
    from impl.world.moves.world import MovesWorld


# Requests


def _order_arrives_refusal(
    world: MovesWorld, broker: int, epoch: int, controller: int
) -> str | None:
    queue = world.connections.get((controller, broker), ())
    if not queue or not isinstance(queue[0].request, LeaderAndIsr):
        return "a LeaderAndIsr is the next of its connection"
    if queue[0].epoch != epoch:
        return "it has that leader epoch"
    return _unheard_refusal(world, broker)


def _unheard_refusal(world: MovesWorld, broker: int) -> str | None:
    """A leader whose ISR write was not answered holds the lock on all else."""
    replica = world.hosts[broker].replica
    waits = replica is not None and replica.unheard is not None
    return "no write of it is unanswered" if waits else None


def order_arrives(world: MovesWorld, broker: int, epoch: int, controller: int) -> None:
    """LeaderAndIsr of a leader epoch that the connection has not carried before."""
    first, *queue = world.connections[controller, broker]
    world.hosts[broker].obey(first.request)
    world.keep((controller, broker), queue)


def _stop_arrives_refusal(world: MovesWorld, broker: int, controller: int) -> str | None:
    queue = world.connections.get((controller, broker), ())
    if not queue or not isinstance(queue[0].request, StopReplica):
        return "StopReplica is next"
    return _unheard_refusal(world, broker)


def stop_arrives(world: MovesWorld, broker: int, controller: int) -> None:
    """The StopReplica requests that are next on the connection."""
    queue = list(world.connections[controller, broker])
    while queue and isinstance(queue[0].request, StopReplica):
        world.hosts[broker].obey(queue.pop(0).request)
    world.keep((controller, broker), queue)


# Records


def _leader_appends_refusal(world: MovesWorld, leader: int) -> str | None:
    if world.role(leader) != "leader":
        return "the broker believes it leads"
    return _unheard_refusal(world, leader)


def leader_appends(world: MovesWorld, leader: int) -> None:
    """A producer's record, which no follower has yet."""
    world.replica(leader).produce(world.next_record)
    world.next_record += 1


def _fetch_refusal(world: MovesWorld, leader: int, follower: int) -> str | None:
    if world.role(leader) != "leader":
        return "the broker believes it leads"
    if world.role(follower) != "follower":
        return "the replica follows"
    refusal = _unheard_refusal(world, leader)
    if refusal is not None:
        return refusal
    mine, theirs = world.replica(leader), world.replica(follower)
    if theirs.leader != leader:
        return "it follows this leader"
    if theirs.leader_epoch != mine.leader_epoch:
        return "both are in the same epoch"
    return None if follower in mine.replicas else "the leader knows it as a replica"


def _follower_catches_up_refusal(world: MovesWorld, leader: int, follower: int) -> str | None:
    refusal = _fetch_refusal(world, leader, follower)
    if refusal is not None:
        return refusal
    mine, theirs = world.replica(leader), world.replica(follower)
    same = theirs.stored.log.records == mine.stored.log.records
    return "it lacks records, or credit" if same and mine.knows_caught_up(follower) else None


def follower_catches_up(world: MovesWorld, leader: int, follower: int) -> None:
    """It fetches until it has all that its leader has, and the leader knows it."""
    world.replica(follower).fetch_all(world.replica(leader))


# The ISR


def _leads_with_session(world: MovesWorld, leader: int) -> str | None:
    if world.role(leader) != "leader":
        return "the broker believes it leads"
    if not world.threads[leader].port.alive:
        return "it has a ZooKeeper session"
    return _unheard_refusal(world, leader)


def leader_expands_isr_refusal(world: MovesWorld, leader: int, replica: int) -> str | None:
    """The first condition that does not hold."""
    refusal = _leads_with_session(world, leader)
    if refusal is not None:
        return refusal
    mine = world.replica(leader)
    if replica in mine.isr:
        return "the replica is not in the leader's ISR"
    refusal = _fetch_refusal(world, leader, replica)
    if refusal is not None:
        return refusal
    same = world.replica(replica).has_all_of(mine)
    return None if same else "it has all of the leader's records"


def leader_expands_isr(world: MovesWorld, leader: int, replica: int) -> None:
    """A replica that has everything fetches again: its leader writes the larger ISR."""
    world.replica(replica).fetch_again(world.replica(leader))


def leader_shrinks_isr_refusal(world: MovesWorld, leader: int, replica: int) -> str | None:
    """The first condition that does not hold."""
    refusal = _leads_with_session(world, leader)
    if refusal is not None:
        return refusal
    lags = replica in world.replica(leader).laggards()
    return None if lags else "the replica is in the leader's ISR, and lags"


def leader_shrinks_isr(world: MovesWorld, leader: int, replica: int) -> None:
    """The leader looks for laggards and writes the smaller ISR."""
    wait(world.replica(leader).shrink([replica], 0))


def _orders(world: MovesWorld) -> list[tuple[int, ...]]:
    return [
        (broker, queue[0].epoch, controller)
        for (controller, broker), queue in sorted(world.connections.items())
        if isinstance(queue[0].request, LeaderAndIsr)
    ]


def _stops(world: MovesWorld) -> list[tuple[int, ...]]:
    return [(broker, controller) for controller, broker in sorted(world.connections)]


KINDS: tuple[MovesKind, ...] = (
    MovesKind("order_arrives", _orders, _order_arrives_refusal, order_arrives),
    MovesKind("stop_arrives", _stops, _stop_arrives_refusal, stop_arrives),
    MovesKind("leader_appends", each_broker, _leader_appends_refusal, leader_appends),
    MovesKind("follower_catches_up", each_two, _follower_catches_up_refusal, follower_catches_up),
    MovesKind("leader_expands_isr", each_two, leader_expands_isr_refusal, leader_expands_isr),
    MovesKind("leader_shrinks_isr", each_two, leader_shrinks_isr_refusal, leader_shrinks_isr),
)  # fmt: skip
