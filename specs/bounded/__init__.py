"""Bounded search by Z3: the shortest run that settles one claim, up to a number of steps.

The explorer visits states and is stopped by their number; this search writes runs down as formulas
and is stopped by their length. What it finds is as short, and it can do without a bound on epochs,
records, versions or faults.
"""

from specs.bounded.search import MAX_STEPS, WORK, BoundedAnswer, find_by_z3

__all__ = ["MAX_STEPS", "WORK", "BoundedAnswer", "find_by_z3"]
