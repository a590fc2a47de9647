"""The reference implementation: mutable, imperative, steppable, written from the fact sheet."""

from impl.world import KINDS, Observation, Snapshot, Step, StepNotPossible, World, leaves

__all__ = ["KINDS", "Observation", "Snapshot", "Step", "StepNotPossible", "World", "leaves"]
