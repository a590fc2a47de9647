"""The chain: every step of the executable `replication` is a step of the form that is proved.

`mapping` says, a line for each transition, which steps of `replication_history` it is;
`coupling` what then is the same on both sides; `simulation` takes both along and compares;
`exhaust` does so on every step of a complete small state space.
"""

from specs.chain.exhaust import ChainResult, follow_everywhere
from specs.chain.mapping import MAP, Line
from specs.chain.simulation import Broken, Simulation

QUICK: tuple[dict[str, int], ...] = (
    {"epoch": 1, "versions": 1, "crashes": 1, "expiries": 1},
    {"epoch": 1, "versions": 3, "losses": 1, "expiries": 0},
    {"expiries": 0},
)
"""Bounds of complete small state spaces, half a minute together: a leader that comes back; ISR
writes whose answers are lost; two leader epochs."""

DEEP: tuple[dict[str, int], ...] = (
    {"epoch": 1, "versions": 2, "crashes": 1, "expiries": 1},
    {"crashes": 1, "expiries": 0},
)
"""More of them, minutes together."""

__all__ = [
    "DEEP",
    "MAP",
    "QUICK",
    "Broken",
    "ChainResult",
    "Line",
    "Simulation",
    "follow_everywhere",
]
