"""Inductive invariants, one file for each proof: name, formula, plain words, and reason."""

from __future__ import annotations

import importlib
import pkgutil

from specs.invariants import Proof

PROVED_FIRST = ("single_controller", "no_message_loss")
"""Modules, in the order in which their proofs are printed; others follow by name."""
OF_OTHERS = (
    "at_rest", "before_2_7", "cluster", "corollaries", "directories", "elections", "progress",
    "since_2_7", "topics",
)  # fmt: skip
"""Modules that belong to the proof of another, or prove claims of another kind."""


def proofs() -> dict[str, Proof]:
    """Every proof by the claim that it proves: the `PROOF` of each module here."""
    there = {one.name for one in pkgutil.iter_modules(__path__)} - {*PROVED_FIRST, *OF_OTHERS}
    found = [
        importlib.import_module(f"specs.proofs.{name}").PROOF
        for name in (*PROVED_FIRST, *sorted(there))
    ]
    return {one.claim: one for one in found}
