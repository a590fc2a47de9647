"""Disk and power failures in any release; random walks do not take these steps.

Kafka does not fsync by default: a machine failure loses what the disk has not written yet.
ZooKeeper does not distinguish a broker with a new disk from the one before (KRaft does: KIP-966).
"""

from __future__ import annotations

from collections.abc import Iterable

from impl.sim.simulation import by_name, refusable
from impl.world.cluster import PartitionCluster
from impl.world.partition_steps import KINDS
from impl.world.processes import PROCESS_IS_UP, each_broker, start_unmet


def broker_starts_empty(world: PartitionCluster, broker: int) -> None:
    """A new process with the old broker id and a new disk: no log, no epochs, no checkpoint."""
    server = world.hosts[broker]
    server.log.log.truncate_to(0)
    server.checkpoint.write(0)
    world.start(broker)


def each_shorter_end(world: PartitionCluster) -> Iterable[tuple[int, int]]:
    """(broker, end) for every end below that of a broker's log."""
    return [(broker, end) for broker, server in world.hosts.items()
            for end in range(server.log.log_end)]  # fmt: skip


def _loses_unmet(world: PartitionCluster, broker: int, end: int) -> str | None:
    if not world.hosts[broker].up:
        return PROCESS_IS_UP
    is_shorter = 0 <= end < world.hosts[broker].log.log_end
    return None if is_shorter else "what is left of its log is shorter"


def broker_crashes_losing_unflushed_records(world: PartitionCluster, broker: int, end: int) -> None:
    """The machine stops, and its log loses all records from an offset on."""
    world.crash(broker)
    world.hosts[broker].log.log.truncate_to(end)


DISK_FAILURES = (
    refusable(
        broker_crashes_losing_unflushed_records, each_shorter_end, _loses_unmet, "broker end"
    ),
    refusable(broker_starts_empty, each_broker, start_unmet),
)

FAILING_DISKS = by_name(KINDS.values(), DISK_FAILURES)
"""The steps of a world in which disks fail."""
