"""Checks a progress claim by exploration: it holds within bounds, or there is a loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from model.language import ProtocolError, System
from model.language.errors import unknown_name
from specs.exploration import Report
from specs.explorer import find
from specs.invariants import Proof
from specs.lasso import LassoResult
from specs.runs import Run


def unfair(proof: Proof, steps: Sequence[str]) -> Proof:
    """The proof of a claim without the fairness of these steps.

    Raises ProtocolError for a step that the ranking never awaits.
    """
    ranking = proof.ranking
    assert ranking is not None
    for step in steps:
        if step not in ranking.fair:
            raise ProtocolError(unknown_name(f"fair step of {proof.claim}", step, ranking.fair))
        ranking = ranking.without(step)
    assert proof.form is not None
    assert ranking.explored is not None
    form = _without_fairness_of(proof.form, proof.claim, steps)
    explored = _without_fairness_of(ranking.explored, proof.claim, steps)
    return replace(proof, form=form, ranking=replace(ranking, explored=explored))


def _without_fairness_of(system: System, name: str, steps: Sequence[str]) -> System:
    """The system, a claim of which asks of no fairness to these steps."""
    claims = tuple(
        replace(claim, fair=tuple(one for one in claim.fair if one not in steps))
        if claim.name == name
        else claim
        for claim in system.claims
    )
    return replace(system, claims=claims)


def loop(
    proof: Proof, version: str | None = None, changed: Mapping[str, object] | None = None,
    report: Report = lambda line: None,
) -> tuple[LassoResult, Run | None]:  # fmt: skip
    """Explores the claim within the bounds of its ranking, with fewer brokers first; a broken claim
    has a run into a loop."""
    ranking = proof.ranking
    assert ranking is not None
    assert ranking.explored is not None
    recorded = ranking.explored.recorded(version, changed)
    least = recorded.system.bounds["brokers"].least
    for brokers in range(least, ranking.bounds["brokers"] + 1):
        bounds = {**ranking.bounds, "brokers": brokers}
        found, run = find(recorded, bounds, proof.claim, report=report)
        if run is not None:
            break
    return found.eventually_results[proof.claim], run
