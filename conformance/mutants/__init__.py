"""Mutants of the implementation, judged by conformance alone: who is caught, and who survives."""

from conformance.mutants.kept import KeptTrials, NoSuchTrials
from conformance.mutants.mutate import MODULES, Mutant, mutants_of, sample
from conformance.mutants.planted import NOT_PLANTED, PLANTED, Planted
from conformance.mutants.survivors import survivors
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
    "KeptTrials",
    "Mutant",
    "NoSuchTrials",
    "Planted",
    "Score",
    "Trial",
    "baseline",
    "first_mismatch",
    "interval",
    "mutants_of",
    "sample",
    "score",
    "survivors",
    "try_planted",
    "try_sample",
]
