"""Searches runs of the model that fit a partial trace, with steps on states of real values."""

from specs.partial.compiled_steps import CompiledSteps, TransitionMove
from specs.partial.ledger import Ledger
from specs.partial.search import PartialSearch
from specs.partial.ways import FittingRun, PartialLine

__all__ = [
    "FittingRun",
    "Ledger",
    "PartialLine",
    "TransitionMove",
    "CompiledSteps",
    "PartialSearch",
]
