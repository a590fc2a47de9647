"""The reference implementation: mutable, imperative, steppable, written from the fact sheet."""

from impl.world import KINDS, Observation, Step, StepNotPossible, World, leaves
from impl.world.faults import PROFILES
from impl.world.partition_simulator import PartitionSimulator, simulate
from impl.world.trace import Trace, TraceError, read_trace, write_trace

__all__ = [
    "KINDS",
    "PROFILES",
    "Observation",
    "PartitionSimulator",
    "Step",
    "StepNotPossible",
    "Trace",
    "TraceError",
    "World",
    "leaves",
    "read_trace",
    "simulate",
    "write_trace",
]
