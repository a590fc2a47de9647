"""Each obligation of each claim, asked again of a weaker text: its proof fails.

Of the premises of an obligation (invariants, guard, definitions, domains) those are taken that
Z3's proof uses, one is left out after the other, and it is asked again. `ONE`: without one of them
the proof fails. `SEVERAL`: it is proved without any one of them, by the others, and not without
all. `NOTHING`: it needs none: an invariant of the initial state, most often, or what a step does
not concern. All three are counted here, so that a premise that proves more than it should shows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from model.election import SYSTEM as ELECTION
from model.replication.history import SYSTEM as HISTORY
from specs.chain import compose, refinement
from specs.chain.since_2_7 import compose_since_2_7, refinement_since_2_7
from specs.proofs import before_2_7, elections, since_2_7
from specs.proofs.no_message_loss import PROOF as NO_MESSAGE_LOSS
from specs.proofs.progress import controllers, isr, leaders, records
from specs.proofs.single_controller import PROOF as SINGLE_CONTROLLER
from specs.prover import prove
from specs.solvers import NOTHING, ONE, SEVERAL, SolverQuery
from specs.theorems import THEOREMS, Theorem
from specs.theorems.theorem import prove_theorem

Export = Callable[[str, str, SolverQuery], None]


def of_proof(proof: Any, recorded: Callable[[], Any]) -> Callable[[Export], Any]:
    return lambda export: prove(proof, recorded(), export=export)


def of_refinement(composed: Callable[[], Any], made: Callable[[Any], Any]) -> Any:
    def asked(export: Export) -> Any:
        both = composed()
        return prove(made(both), both.recorded, export=export)

    return asked


def of_theorem(theorem: Theorem) -> Callable[[Export], Any]:
    return lambda export: prove_theorem(theorem, export=export)


CLAIMS: dict[str, Callable[[Export], Any]] = {
    "single_controller": of_proof(SINGLE_CONTROLLER, ELECTION.recorded),
    "elections_are_as_assumed": of_proof(elections.PROOF, elections.composed),
    "no_message_loss": of_proof(NO_MESSAGE_LOSS, HISTORY.recorded),
    "sure_commits_are_kept": of_proof(before_2_7.PROOF, before_2_7.SYSTEM.recorded),
    "no_message_loss_since_2_7": of_proof(since_2_7.PROOF, since_2_7.SYSTEM.recorded),
    "refinement": of_refinement(compose, refinement),
    "refinement_since_2_7": of_refinement(compose_since_2_7, refinement_since_2_7),
    **{part.PROOF.claim: of_proof(part.PROOF, part.PROOF.form.recorded)
       for part in (controllers, leaders, records, isr) if part.PROOF.form is not None},
    **{name: of_theorem(one) for name, one in THEOREMS.items()},
}  # fmt: skip

SENSITIVE: dict[str, tuple[int, int, int]] = {
    "single_controller": (37, 2, 14),
}
"""By claim: how many questions hang on one premise, on several, and on none."""

AT_ONCE = ("single_controller",)


@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=() if one in AT_ONCE else pytest.mark.deep) for one in CLAIMS],
)
def test_an_obligation_fails_of_a_weaker_text_and_what_needs_no_premise_is_counted(name):
    found: list[tuple[str, str, str]] = []

    CLAIMS[name](lambda step, what, question: found.append((question.hangs_on(), step, what)))

    counts = Counter(how for how, _, _ in found)
    assert sum(counts.values()) == counts[ONE] + counts[SEVERAL] + counts[NOTHING]
    assert (counts[ONE], counts[SEVERAL], counts[NOTHING]) == SENSITIVE[name]


def test_every_claim_is_counted():
    assert set(SENSITIVE) == set(CLAIMS)
