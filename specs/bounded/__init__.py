"""Bounded search by Z3: the shortest run that settles one claim, up to a number of steps.

The explorer visits states and is limited by their number; this search writes runs as formulas and
is limited by their length. Its runs are as short as the explorer's, and it does not need a bound on
epochs, records, versions or faults.
"""

from specs.bounded.search import MAX_STEPS, WORK, BoundedAnswer, find_by_z3

__all__ = ["MAX_STEPS", "WORK", "BoundedAnswer", "find_by_z3"]
