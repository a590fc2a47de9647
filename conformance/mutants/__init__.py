"""Mutants of the implementation, judged by conformance alone: who is caught, and who survives."""

from conformance.mutants.mutate import MODULES, Mutant, mutants_of, sample
from conformance.mutants.planted import NOT_PLANTED, PLANTED, Planted
from conformance.mutants.trial import (
    Score,
    Trial,
    baseline,
    first_mismatch,
    interval,
    score,
    try_planted,
    try_sample,
)

__all__ = [
    "MODULES",
    "NOT_PLANTED",
    "PLANTED",
    "Mutant",
    "Planted",
    "Score",
    "Trial",
    "baseline",
    "first_mismatch",
    "interval",
    "mutants_of",
    "sample",
    "score",
    "try_planted",
    "try_sample",
]
