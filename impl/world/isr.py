"""Steps of a leader's ISR writes: ZooKeeper executes one, and its answer arrives or is lost.

While a write waits for its answer the partition is locked, see `Partition.locked`.
"""

from __future__ import annotations

from impl.sim.isr_write import IsrWrite
from impl.sim.world_of_steps import refusable
from impl.world.candidates import (
    ISR_IS_UNLOCKED,
    LEADS,
    VERSION_IS_CURRENT,
    VERSION_IS_OLD,
    each_isr_writer,
    each_leader_and_other,
)
from impl.world.cluster import PartitionCluster
from impl.world.processes import SESSION_IS_ALIVE


def _writes_unmet(world: PartitionCluster, leader: int) -> str | None:
    server = world.hosts[leader]
    if not server.partition.leads:
        return LEADS
    if not server.alive:
        return SESSION_IS_ALIVE
    return ISR_IS_UNLOCKED if server.locked else None


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


def version_is_current(world: PartitionCluster, leader: int) -> bool:
    """The race that a conditional write is about: who wrote the state last?"""
    return world.registered_state.zk_version == world.hosts[leader].partition.zk_version


def _shrinks_unmet(world: PartitionCluster, leader: int, replica: int) -> str | None:
    unmet = _lagging_unmet(world, leader, replica)
    return unmet or (None if version_is_current(world, leader) else VERSION_IS_CURRENT)


def _shrink_is_refused_unmet(world: PartitionCluster, leader: int, replica: int) -> str | None:
    unmet = _lagging_unmet(world, leader, replica)
    return unmet or (VERSION_IS_OLD if version_is_current(world, leader) else None)


def shrinks(world: PartitionCluster, leader: int, replica: int) -> None:
    """Drop a lagging follower by a conditional write; a stale version is refused."""
    world.hosts[leader].partition.begin_isr_write(replica, joins=False)


def _expands_unmet(world: PartitionCluster, leader: int, replica: int) -> str | None:
    unmet = _joining_unmet(world, leader, replica)
    return unmet or (None if version_is_current(world, leader) else VERSION_IS_CURRENT)


def _expand_is_refused_unmet(world: PartitionCluster, leader: int, replica: int) -> str | None:
    unmet = _joining_unmet(world, leader, replica)
    return unmet or (VERSION_IS_OLD if version_is_current(world, leader) else None)


def expands(world: PartitionCluster, leader: int, replica: int) -> None:
    """Take in a follower that caught up, likewise."""
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
    """The answer arrives: the leader adopts the ISR and the version."""
    world.hosts[leader].partition.learn_isr_write()


def isr_answer_is_lost(world: PartitionCluster, leader: int) -> None:
    """The connection broke: the client sends the write again, and that is refused."""
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
    """KAFKA-1382: was the refused write its own, done before?"""
    world.hosts[leader].partition.end_isr_write()


def _gives_up_unmet(world: PartitionCluster, leader: int) -> str | None:
    unmet = _in_doubt_unmet(world, leader)
    alive = world.hosts[leader].alive
    return unmet or ("the broker's ZooKeeper session has expired" if alive else None)


def leader_gives_up_isr_write(world: PartitionCluster, leader: int) -> None:
    """``ZooKeeperClientExpiredException``: the leader goes on with what it knew."""
    world.hosts[leader].partition.end_isr_write()


KINDS = (
    refusable(shrinks, each_leader_and_other, _shrinks_unmet, "leader replica",
              name="leader_shrinks_isr"),
    refusable(shrinks, each_leader_and_other, _shrink_is_refused_unmet, "leader replica",
              name="leader_shrink_is_refused"),
    refusable(expands, each_leader_and_other, _expands_unmet, "leader replica",
              name="leader_expands_isr"),
    refusable(expands, each_leader_and_other, _expand_is_refused_unmet, "leader replica",
              name="leader_expand_is_refused"),
    refusable(leader_learns_isr_is_written, each_isr_writer, _applied_unmet, "leader"),
    refusable(isr_answer_is_lost, each_isr_writer, _applied_unmet, "leader"),
    refusable(leader_reads_isr_back, each_isr_writer, _reads_back_unmet, "leader"),
    refusable(leader_gives_up_isr_write, each_isr_writer, _gives_up_unmet, "leader"),
)  # fmt: skip
