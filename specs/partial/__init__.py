"""Runs that fit what was seen of them: steps on states of real values, and the search for them."""

from specs.partial.ledger import Ledger
from specs.partial.moves import Moves, TransitionMove
from specs.partial.search import PartialSearch
from specs.partial.ways import FittingRun, PartialLine

__all__ = ["FittingRun", "Ledger", "PartialLine", "TransitionMove", "Moves", "PartialSearch"]
