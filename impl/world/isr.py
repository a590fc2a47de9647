"""Steps of a leader's ISR writes: ZooKeeper executes a write, and its response arrives or is lost.

While a write waits for its response the partition is locked, see `PartitionBroker.locked`.
"""

from __future__ import annotations

from impl.sim.isr_write import IsrWrite
from impl.sim.simulation import UnmetCondition, refusable
from impl.world.candidates import (
    VERSION_IS_CURRENT,
    VERSION_IS_OLD,
    each_isr_writer,
    each_leader_and_other,
    leads_unmet,
)
from impl.world.cluster import PartitionCluster
from impl.world.processes import SESSION_IS_ALIVE


def _writes_unmet(world: PartitionCluster, leader: int) -> str | None:
    host = world.hosts[leader]
    unmet = leads_unmet(world, leader)
    return SESSION_IS_ALIVE if host.partition.leads and not host.alive else unmet


def _lagging_unmet(world: PartitionCluster, leader: int, replica: int) -> str | None:
    unmet = _writes_unmet(world, leader)
    partition = world.hosts[leader].partition
    if unmet is not None:
        return unmet
    if replica not in partition.isr:
        return "the replica is in the leader's ISR"
    if not world.hosts[leader].is_laggard(replica):
        return "the replica is not known to reach the leader's log end"
    return None


def _joining_unmet(world: PartitionCluster, leader: int, replica: int) -> str | None:
    unmet = _writes_unmet(world, leader)
    partition = world.hosts[leader].partition
    if unmet is not None:
        return unmet
    if replica in partition.isr:
        return "the replica is not in the leader's ISR"
    if not world.hosts[leader].may_join(replica):
        return "the replica reaches the high watermark and the start of the leader's epoch"
    return None


def _versioned(unmet: UnmetCondition, is_current: bool) -> UnmetCondition:
    """The race that a conditional write is about: who wrote the state last?"""

    def versioned_unmet(world: PartitionCluster, leader: int, replica: int) -> str | None:
        known = world.hosts[leader].partition.zk_version
        fits = (world.registered_state.zk_version == known) is is_current
        wanted = VERSION_IS_CURRENT if is_current else VERSION_IS_OLD
        return unmet(world, leader, replica) or (None if fits else wanted)

    return versioned_unmet


def shrinks(world: PartitionCluster, leader: int, replica: int) -> None:
    """Drop a lagging follower by a conditional write; a stale version is refused."""
    world.hosts[leader].partition.begin_isr_write(replica, joins=False)


def expands(world: PartitionCluster, leader: int, replica: int) -> None:
    """Add a follower that caught up, likewise."""
    world.hosts[leader].partition.begin_isr_write(replica, joins=True)


# The answer


def _write(world: PartitionCluster, leader: int) -> IsrWrite | None:
    return world.hosts[leader].partition.isr_write


def _applied_unmet(world: PartitionCluster, leader: int) -> str | None:
    write = _write(world, leader)
    if write is None or write.version is None:
        return "an ISR write of the leader was applied, and it has not heard of it"
    return None


def leader_learns_isr_is_written(world: PartitionCluster, leader: int) -> None:
    """The response arrives: the leader adopts the ISR and the version."""
    world.hosts[leader].partition.learn_isr_write()


def isr_answer_is_lost(world: PartitionCluster, leader: int) -> None:
    """The connection breaks: the client sends the write again, and that is refused."""
    world.hosts[leader].partition.lose_isr_answer()


def _in_doubt_unmet(world: PartitionCluster, leader: int) -> str | None:
    write = _write(world, leader)
    if write is None or write.version is not None:
        return "an ISR write of the leader was refused"
    return None


def _reads_back_unmet(world: PartitionCluster, leader: int) -> str | None:
    unmet = _in_doubt_unmet(world, leader)
    return unmet or (None if world.hosts[leader].alive else SESSION_IS_ALIVE)


def leader_reads_isr_back(world: PartitionCluster, leader: int) -> None:
    """KAFKA-1382: read whether the refused write was its own, executed before."""
    world.hosts[leader].partition.end_isr_write()


def _gives_up_unmet(world: PartitionCluster, leader: int) -> str | None:
    unmet = _in_doubt_unmet(world, leader)
    alive = world.hosts[leader].alive
    return unmet or ("the broker's ZooKeeper session has expired" if alive else None)


def leader_gives_up_isr_write(world: PartitionCluster, leader: int) -> None:
    """``ZooKeeperClientExpiredException``: the leader keeps its old ISR."""
    world.hosts[leader].partition.end_isr_write()


KINDS = (
    refusable(shrinks, each_leader_and_other, _versioned(_lagging_unmet, True), "leader replica",
              name="leader_shrinks_isr"),
    refusable(shrinks, each_leader_and_other, _versioned(_lagging_unmet, False), "leader replica",
              name="leader_shrink_is_refused"),
    refusable(expands, each_leader_and_other, _versioned(_joining_unmet, True), "leader replica",
              name="leader_expands_isr"),
    refusable(expands, each_leader_and_other, _versioned(_joining_unmet, False), "leader replica",
              name="leader_expand_is_refused"),
    refusable(leader_learns_isr_is_written, each_isr_writer, _applied_unmet, "leader"),
    refusable(isr_answer_is_lost, each_isr_writer, _applied_unmet, "leader"),
    refusable(leader_reads_isr_back, each_isr_writer, _reads_back_unmet, "leader"),
    refusable(leader_gives_up_isr_write, each_isr_writer, _gives_up_unmet, "leader"),
)  # fmt: skip
