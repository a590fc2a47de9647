"""The refinement: every step of the executable `replication` is a step of the form that is proved.

`refinement_map` maps each transition to steps of `replication_history`; `composed` combines both in
one system; `refinement` proves by induction the relation between their states, for any number of
brokers, records and epochs; `graphs` checks it in every state of complete small state spaces.
"""

from specs.refinement.by_exploration import RefinementExploration, explore_refinement
from specs.refinement.composed import ComposedSystem, compose
from specs.refinement.proof import refinement_proof
from specs.refinement.refinement_map import LINES, WITHOUT_LINE, MapLine

QUICK: tuple[dict[str, int], ...] = (
    {"epoch": 1, "versions": 1, "crashes": 1, "expiries": 1},
    {"epoch": 1, "versions": 3, "losses": 1, "expiries": 0},
    {"log": 2, "records": 2, "expiries": 0},
    {"crashes": 1, "expiries": 0},
    {"brokers": 3, "epoch": 1, "versions": 2, "expiries": 0, "log": 2, "records": 2},
)
"""Bounds of complete small state spaces, half a minute together: a leader that comes back; ISR
writes whose answers are lost; two leader epochs and two records; a crash between; three brokers
and two records."""

DEEP: tuple[dict[str, int], ...] = (
    {"brokers": 3, "expiries": 0},
    {"log": 2, "records": 2, "crashes": 1, "expiries": 0, "versions": 3},
)
"""More of them, minutes together."""

__all__ = [
    "DEEP",
    "LINES",
    "QUICK",
    "WITHOUT_LINE",
    "RefinementExploration",
    "ComposedSystem",
    "MapLine",
    "compose",
    "explore_refinement",
    "refinement_proof",
]
