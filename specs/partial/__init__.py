"""Runs that fit a trace with parts missing: steps on states of real values, and the search."""

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
