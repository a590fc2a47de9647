"""Steps of clients: producers that ask for acks=0, 1 or all, and consumers that read.

A client's response changes no state; it must agree with the log and the high watermark.
"""

from __future__ import annotations

from collections.abc import Iterable

from impl.core.answers import NONE
from impl.sim.simulation import refusable
from impl.world.candidates import LEADS, each_leader, leads_unmet
from impl.world.cluster import PartitionCluster

ONE, ALL = 1, -1
"""What a producer asks for, as its request says it."""

WORTH_ASKING = 3
"""Acknowledgements and reads are tried at so many of a leader's last offsets."""


def each_last_offset(world: PartitionCluster) -> Iterable[tuple[int, int]]:
    """(broker, offset) for the last offsets of every broker that believes it leads."""
    for broker, server in world.hosts.items():
        if server.partition.leads:
            for offset in range(max(server.log.log_end - WORTH_ASKING, 0), server.log.log_end):
                yield broker, offset


def _for_isr_unmet(world: PartitionCluster, broker: int) -> str | None:
    unmet = leads_unmet(world, broker)
    return unmet or _too_few(world, broker)


def _too_few(world: PartitionCluster, broker: int) -> str | None:
    server = world.hosts[broker]
    few = len(server.partition.isr) < server.min_isr
    return "the ISR has min.insync.replicas members" if few else None


def _append(world: PartitionCluster, broker: int, acks: int) -> None:
    error = world.hosts[broker].append(world.next_record, acks)
    assert error == NONE, f"a leader takes a record, and says {error}"
    world.next_record += 1


def leader_appends(world: PartitionCluster, broker: int) -> None:
    """A producer's record with acks=0 or 1: the next id of the world, in the leader's epoch."""
    _append(world, broker, ONE)


def leader_appends_acks_all(world: PartitionCluster, broker: int) -> None:
    """The same with acks=all."""
    _append(world, broker, ALL)


def _acknowledges_unmet(world: PartitionCluster, broker: int, offset: int) -> str | None:
    server = world.hosts[broker]
    partition = server.partition
    if not partition.leads:
        return LEADS
    if not 0 <= offset < server.log.log_end:
        return "the record is in the leader's log"
    if server.log.log.records[offset][1] != partition.leader_epoch:
        return "the record is of the leader's own epoch"
    return None


def leader_acknowledges(world: PartitionCluster, broker: int, offset: int) -> None:
    """acks=1: the producer learns that the leader has its record."""


def _replicated_unmet(world: PartitionCluster, broker: int, offset: int) -> str | None:
    unmet = _acknowledges_unmet(world, broker, offset)
    if unmet is None and offset >= world.hosts[broker].partition.hw:
        return "the high watermark has passed the record"
    return unmet or _too_few(world, broker)


def leader_acknowledges_acks_all(world: PartitionCluster, broker: int, offset: int) -> None:
    """acks=all: the producer learns that every ISR member has its record."""
    heard = world.hosts[broker].acknowledges(offset)
    assert heard, "a producer hears of a record below the high watermark"


def _reads_unmet(world: PartitionCluster, broker: int, offset: int) -> str | None:
    unmet = leads_unmet(world, broker)
    if unmet is None and not 0 <= offset < world.hosts[broker].partition.hw:
        return "the offset is below the high watermark"
    return unmet


def consumer_reads(world: PartitionCluster, broker: int, offset: int) -> None:
    """A consumer gets the record at an offset."""
    server = world.hosts[broker]
    given, there = server.read(offset), server.log.log.records[offset]
    assert given == there, f"a consumer is given {given}, and not {there}"


KINDS = (
    refusable(leader_appends, each_leader, leads_unmet),
    refusable(leader_appends_acks_all, each_leader, _for_isr_unmet),
    refusable(leader_acknowledges, each_last_offset, _acknowledges_unmet, "broker offset"),
    refusable(leader_acknowledges_acks_all, each_last_offset, _replicated_unmet, "broker offset"),
    refusable(consumer_reads, each_last_offset, _reads_unmet, "broker offset"),
)
