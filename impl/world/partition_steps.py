"""The world of one partition: ZooKeeper, brokers and network; the caller is the scheduler.

Nothing happens by itself. ``enabled()`` lists every step that may happen next, ``do(step)`` takes
one. All state is plain data; ``snapshot()`` is an immutable, comparable, hashable value of it.
"""

from __future__ import annotations

from functools import partial

from impl.sim.simulation import by_name
from impl.world import clients, control, isr, replication
from impl.world.cluster import PartitionCluster
from impl.world.processes import PROCESSES

KINDS = by_name(PROCESSES, control.KINDS, replication.KINDS, isr.KINDS, clients.KINDS)
"""Every step of the world."""

partition_cluster = partial(PartitionCluster, KINDS)
"""A world with these steps."""
