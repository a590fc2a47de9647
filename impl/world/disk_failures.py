"""Faults that random walks leave out: failed disks and power failures, in any release.

Kafka asks for no fsync: what a disk has not written yet is gone with the machine. Nothing in
ZooKeeper tells a broker with a new disk from the one that it was (KIP-966 does, in KRaft).
"""

from __future__ import annotations

from collections.abc import Iterable

from impl.releases import DEFAULT
from impl.sim.world_of_steps import StepKind, refusable
from impl.world.partition_world import KINDS, World
from impl.world.processes import PROCESS_IS_UP, each_broker, start_unmet


def broker_starts_empty(world: World, broker: int) -> None:
    """A new incarnation under the old id, with a new disk: no log, no epochs, no checkpoint."""
    server = world.hosts[broker]
    server.log.log.truncate_to(0)
    server.checkpoint.write(0)
    world.start(broker)


def each_shorter_end(world: World) -> Iterable[tuple[int, int]]:
    """(broker, end) for every end below that of a broker's log."""
    return [(broker, end) for broker, server in world.hosts.items()
            for end in range(server.log.log_end)]  # fmt: skip


def _loses_unmet(world: World, broker: int, end: int) -> str | None:
    if not world.hosts[broker].up:
        return PROCESS_IS_UP
    is_shorter = 0 <= end < world.hosts[broker].log.log_end
    return None if is_shorter else "what is left of its log is shorter"


def broker_crashes_losing_unflushed_records(world: World, broker: int, end: int) -> None:
    """The machine stops, and the disk lacks what was appended from an offset on."""
    world.crash(broker)
    world.hosts[broker].log.log.truncate_to(end)


DISK_FAILURES: dict[str, StepKind] = {
    kind.name: kind
    for kind in (
        refusable(
            broker_crashes_losing_unflushed_records, each_shorter_end, _loses_unmet, "broker end"
        ),
        refusable(broker_starts_empty, each_broker, start_unmet),
    )
}


class FailingDiskWorld(World):
    """A world of one partition in which disks fail, with this ``min.insync.replicas``.

    ``assumes`` is what its caller assumes of them; nothing here asks for it.
    """

    assumes = ""

    kinds = dict(sorted({**KINDS, **DISK_FAILURES}.items()))

    def __init__(self, brokers: int = 3, version: str = DEFAULT, min_isr: int = 1) -> None:
        super().__init__(brokers, version=version)
        for host in self.hosts.values():
            host.min_isr = min_isr
