"""Simulated worlds that run the implementation: steps, simulators and traces."""

from impl.sim.world_of_steps import Step, StepNotPossible
from impl.world.cluster import PartitionCluster
from impl.world.observation import Observation, leaves, observe
from impl.world.partition_steps import KINDS, partition_cluster

__all__ = [
    "KINDS",
    "Observation",
    "PartitionCluster",
    "Step",
    "StepNotPossible",
    "leaves",
    "observe",
    "partition_cluster",
]
