"""Runs that fit what was seen of them: steps on states of real values, and the search for them."""

from specs.partial.ledger import Ledger
from specs.partial.moves import Move, Moves
from specs.partial.search import Search
from specs.partial.ways import Found, Line

__all__ = ["Found", "Ledger", "Line", "Move", "Moves", "Search"]
