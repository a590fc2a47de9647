"""Proves further claims: corollaries of the two main inductions, and properties of functions.

`insync prove --all` proves them. Each is labelled as a corollary of a separately proved induction,
a separate induction, or a theorem about a pure function.
"""

from specs.theorems.batches import BATCHES
from specs.theorems.by_induction import INDUCTIVE_CLAIMS
from specs.theorems.controller_claims import STEP_CLAIMS
from specs.theorems.corollaries import COROLLARIES
from specs.theorems.epoch_cache import EPOCH_CACHE
from specs.theorems.placement import PLACEMENT
from specs.theorems.theorem import Theorem, TheoremResult

THEOREMS: dict[str, Theorem] = {
    one.claim: one
    for one in (*COROLLARIES, *BATCHES, *STEP_CLAIMS, *INDUCTIVE_CLAIMS, *PLACEMENT, *EPOCH_CACHE)
}
"""Every theorem, by its name."""

__all__ = ["THEOREMS", "Theorem", "TheoremResult"]
