"""Simulated worlds that run the implementation: steps, simulators and traces."""

from impl.sim.world_of_steps import Step, StepNotPossible
from impl.world.observation import Observation, leaves
from impl.world.partition_world import KINDS, World

__all__ = ["KINDS", "Observation", "Step", "StepNotPossible", "World", "leaves"]
