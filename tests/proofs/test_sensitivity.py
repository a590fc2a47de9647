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
    "no_message_loss": (651, 14, 113),
    "no_message_loss_since_2_7": (651, 14, 113),
    "sure_commits_are_kept": (633, 12, 104),
    "refinement": (822, 6, 87),
    "a_controller_is_heard_by_all": (218, 46, 13),
    "a_leader_is_followed_by_all": (240, 24, 16),
    "what_is_sent_is_committed": (440, 75, 13),
    "the_isr_recovers": (441, 80, 13),
    "elections_are_as_assumed": (52, 9, 13),
    "controller_epoch_never_falls": (1, 0, 12),
    "nobody_takes_over_the_controllership": (1, 0, 12),
    "one_write_at_a_time": (1, 0, 12),
    "a_lost_disk_is_survived": (1, 0, 0),
    "visible_records_are_committed": (2, 0, 0),
    "sent_high_watermark_never_falls": (2, 0, 56),
    "batches_are_steps": (10, 0, 3),
    "machines_keep_to_tables": (1, 0, 57),
    "the_deposed_write_nothing": (15, 0, 43),
    "the_cut_off_stand_still": (33, 0, 25),
    "cluster_has_a_single_writer": (6, 0, 77),
    "epochs_never_fall": (6, 0, 77),
    "the_dead_stay_out": (2, 0, 81),
    "cluster_leader_unique": (165, 38, 44),
    "cluster_clean_election": (159, 38, 33),
    "registrations_last": (3, 0, 11),
    "the_resigned_are_silent": (9, 2, 88),
    "topics_clean_election": (15, 0, 1),
    "the_dead_do_nothing": (45, 0, 1),
    "tasks_are_of_controllers": (147, 0, 4),
    "resurrection_takes_a_move": (1, 0, 0),
    "deleted_is_gone": (2, 2, 54),
    "ids_prevent_resurrection": (2, 0, 1),
    "lists_are_sound": (217, 1, 13),
    "who_goes_is_not_elected": (101, 0, 57),
    "states_are_written_as_read": (321, 3, 32),
    "placement_is_distinct": (5, 0, 0),
    "placement_is_balanced": (6, 0, 3),
}
"""By claim: how many questions hang on one premise, on several, and on none."""

NOT_COUNTED = {
    "refinement_since_2_7", "only_the_requested_is_deleted", "zookeeper_is_known",
    "deleted_topics_get_no_orders", "no_resurrection", "epoch_cache_is_the_logs",
}  # fmt: skip
"""Claims of which this was not counted: what their proofs notice, the tests of each say, and of the
first `docs/planted-in-the-chain.md`."""

AT_ONCE = ("single_controller",)


@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=() if one in AT_ONCE else pytest.mark.deep) for one in SENSITIVE],
)
def test_an_obligation_fails_of_a_weaker_text_and_what_needs_no_premise_is_counted(name):
    found: list[tuple[str, str, str]] = []

    CLAIMS[name](lambda step, what, question: found.append((question.hangs_on(), step, what)))

    counts = Counter(how for how, _, _ in found)
    assert sum(counts.values()) == counts[ONE] + counts[SEVERAL] + counts[NOTHING]
    assert (counts[ONE], counts[SEVERAL], counts[NOTHING]) == SENSITIVE[name]


def test_every_claim_is_counted_or_named_as_not():
    assert set(SENSITIVE) | NOT_COUNTED == set(CLAIMS)
