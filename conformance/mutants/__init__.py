"""Mutants of the implementation, judged by conformance alone: detected or surviving."""

from conformance.mutants.judges import JUDGES, reach
from conformance.mutants.kept_score import KeptScore, NoScore, keep_score, kept_score
from conformance.mutants.kept_trials import KeptTrials, NoSuchTrials
from conformance.mutants.mutate import MODULES, Mutant, mutants_of, sample
from conformance.mutants.planted import NOT_PLANTED, PLANTED, PlantedBug
from conformance.mutants.trial import (
    NOT_RUN,
    MutantTrial,
    MutationScore,
    by_logs,
    by_rule,
    first_mismatch,
    interval,
    score,
    survivors,
    try_planted,
    try_sample,
)

__all__ = [
    "JUDGES",
    "MODULES",
    "NOT_PLANTED",
    "NOT_RUN",
    "PLANTED",
    "KeptScore",
    "KeptTrials",
    "NoScore",
    "Mutant",
    "NoSuchTrials",
    "PlantedBug",
    "MutationScore",
    "MutantTrial",
    "by_logs",
    "by_rule",
    "first_mismatch",
    "interval",
    "keep_score",
    "kept_score",
    "mutants_of",
    "reach",
    "sample",
    "score",
    "survivors",
    "try_planted",
    "try_sample",
]
