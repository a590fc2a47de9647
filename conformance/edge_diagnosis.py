"""A mismatch on an edge explained by a short run from the start, kept as a story.

A walk over edges puts both sides into a state without going there. The way that the model came is
driven on the implementation again; what is found at its end is then a mismatch of a run.
"""

from __future__ import annotations

from conformance.diagnosis import Diagnosis, LockstepSetup, diagnose, diagnose_missing
from conformance.edges import EdgeMismatch
from conformance.lockstep import Mismatch
from impl import Step


def diagnose_edge(found: EdgeMismatch, setup: LockstepSetup) -> Diagnosis | None:
    """The diagnosis of the mismatch that a walk found first; None if no run shows it."""
    pair = setup.begun()
    taken: list[Step] = []
    try:
        for step in found.begins:
            taken.append(step)
            pair.take(step)
        for key in found.way:
            steps = pair.driving_steps(key)
            if steps is None:
                return diagnose_missing(taken, key, setup=setup)
            for step in steps:
                taken.append(step)
                pair.take(step)
    except Mismatch:
        return diagnose(taken, setup=setup)
    missing = found.mismatch.key
    if missing is not None:
        return diagnose_missing(taken, missing, setup=setup)
    return diagnose([*taken, *found.mismatch.steps], setup=setup)
