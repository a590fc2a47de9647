"""The reference implementation: mutable, imperative, steppable, written from the fact sheet."""

from impl.world import (
    KINDS,
    Observation,
    PartitionCluster,
    Step,
    StepNotPossible,
    leaves,
    observe,
    partition_cluster,
)
from impl.world.faults import PROFILES
from impl.world.partition_simulator import PartitionSimulator, simulate
from impl.world.trace import Trace, TraceError, read_trace, write_trace

__all__ = [
    "KINDS",
    "PROFILES",
    "Observation",
    "PartitionCluster",
    "PartitionSimulator",
    "Step",
    "StepNotPossible",
    "Trace",
    "TraceError",
    "leaves",
    "observe",
    "partition_cluster",
    "read_trace",
    "simulate",
    "write_trace",
]
