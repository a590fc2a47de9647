"""The world: ZooKeeper, brokers and network; the caller is the scheduler.

Nothing happens by itself. ``enabled()`` lists every step that may happen next, ``do(step)`` takes
one. All state is plain data; ``snapshot()`` is an immutable, comparable, hashable value of it.
"""

from __future__ import annotations

from impl.sim.world_of_steps import StepKind
from impl.world import clients, control, isr, replication
from impl.world.cluster import PartitionCluster
from impl.world.observation import Observation, observe
from impl.world.processes import PROCESSES

KINDS: dict[str, StepKind] = {
    kind.name: kind
    for kind in sorted(
        (
            *PROCESSES.values(),
            *control.KINDS,
            *replication.KINDS,
            *isr.KINDS,
            *clients.KINDS,
        ),
        key=lambda kind: kind.name,
    )
}
"""Every step of the world by name, sorted."""


class World(PartitionCluster):
    """A cluster and its steps; the arguments are those of `PartitionCluster`."""

    kinds = KINDS

    def observe(self) -> Observation:
        """Every fact of the world as nested dictionaries and lists, fresh for the caller."""
        return observe(self)
