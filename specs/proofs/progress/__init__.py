"""Progress once faults have ended: each claim with its faults and its ranking."""

from __future__ import annotations

import importlib

from specs.invariants import Proof

MODULES = ("controllers", "leaders", "records", "isr")
"""In the order in which they are printed."""


def progress() -> dict[str, Proof]:
    """Every proof of progress by the claim that it proves."""
    found = [importlib.import_module(f"specs.proofs.progress.{name}").PROOF for name in MODULES]
    return {one.claim: one for one in found}
