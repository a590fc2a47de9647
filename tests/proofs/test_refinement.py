"""The refinement: what `replication` does, its proof's form does too; proved, and explored."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from model.language import all_of, implies, not_
from model.protocol.state import BROKERS
from model.replication import SYSTEM as REPLICATION
from model.replication.history import SYSTEM as HISTORY
from model.replication.history.state import RECORDS
from specs.induction_counterexamples import SmallScope
from specs.invariants import Proof, invariant
from specs.lowering.grounding import Grounded
from specs.lowering.python_code import PythonCode
from specs.proofs.no_message_loss import PROOF
from specs.prover import prove
from specs.refinement import (
    LINES,
    QUICK,
    WITHOUT_LINE,
    ComposedSystem,
    compose,
    explore_refinement,
    refinement_proof,
)
from specs.refinement.by_exploration import COUPLED, POSSIBLE, PROVED, judged, rules
from specs.refinement.composed import THERE
from specs.refinement.proof import INVARIANTS, PREMISES
from specs.verdict import Verdict
from tests.walks.ground import Ground
from tests.walks.walker import walks

COMES_BACK = {"epoch": 1, "versions": 1, "crashes": 1, "expiries": 1}
"""A leader crashes, its session ends, and it leads its own epoch again."""

TWO_EPOCHS = {"expiries": 0}

FAR = {
    "brokers": 3, "log": 2, "records": 2, "epoch": 3, "controllers": 1, "versions": 5,
    "crashes": 2, "expiries": 2, "losses": 2}  # fmt: skip


@pytest.fixture(scope="module")
def both() -> ComposedSystem:
    return compose()


@pytest.fixture(scope="module")
def proof(both) -> Proof:
    return refinement_proof(both)


def limits(bounds: dict[str, int]) -> dict[str, int]:
    return REPLICATION.limits(bounds)


# -- the lines ------------------------------------------------------------------------------------


def test_every_transition_has_a_line_or_is_named_as_outside_of_the_chain():
    declared = {one.name for one in REPLICATION.transitions}
    lines = {one.transition for one in LINES}

    assert len(lines) == len(LINES)
    assert declared == lines | set(WITHOUT_LINE)
    assert not lines & set(WITHOUT_LINE)
    assert {one.name for one in HISTORY.transitions} - {"follower_truncates_to_hw"} == {
        step for line in LINES for step in line.steps
    }


# -- the proof ------------------------------------------------------------------------------------


# That it is proved is asked by the command that shows it: tests/cli/test_refinement.py.


def test_the_invariants_of_the_refinement_are_as_many_as_are_stated(proof):
    assert len(proof.invariants) == 37


def test_what_is_assumed_of_the_proofs_form_is_what_is_proved_of_it(proof):
    lemmas = [one.statement for one in PROOF.lemmas]
    known = {f"there_{one.name}": one.sentence for one in (*PROOF.invariants, *lemmas)}
    claims = {f"there_claim_{one.name}": one.sentence for one in HISTORY.claims}
    shown = {f"there_claim_{name}" for name in (PROOF.claim, *PROOF.also)}

    assert proof.premises == PREMISES
    for one in PREMISES:
        assert one.sentence == {**known, **claims}[one.name]
        assert one.name in known or one.name in shown


def test_no_step_is_proved_for_want_of_a_state_in_which_it_is_possible(both, proof):
    # Invariants that contradict each other, or a guard, would prove everything.
    scope = SmallScope(
        proof,
        both.recorded,
        {"brokers": 2, "log": 2, "records": 2, "epoch": 2, "controllers": 2, "versions": 3},
    )
    vacuous = [
        step.transition.name
        for step in both.recorded.steps
        if not scope.enabled(step.transition.name)
    ]

    assert vacuous == []


@invariant("nobody leads where somebody follows", over=(BROKERS, BROKERS), why="it is false")
def nobody_leads_before_others_follow(now: Any, one: Any, other: Any) -> Any:
    return implies(
        now.replica[one].role == "follower",
        not_(all_of(now.replica[other].role == "leader", now.log[other].end > 0)),
    )


def test_a_wrong_invariant_is_not_proved(both, proof):
    planted = replace(proof, invariants=(*proof.invariants, nobody_leads_before_others_follow))

    result = prove(planted, both.recorded, rlimit=2_000_000, steps=["leader_appends"])

    assert [(one.step, one.invariant) for one in result.open] == [
        ("leader_appends", "nobody_leads_before_others_follow")
    ]


def with_line(transition: str, **changes: Any) -> ComposedSystem:
    lines = [replace(one, **changes) if one.transition == transition else one for one in LINES]
    return compose(lines=lines)


def test_a_line_that_leaves_a_step_out_is_open_where_the_step_was_needed():
    both = with_line("follower_sends_fetch", stages=())

    result = prove(
        refinement_proof(both), both.recorded, rlimit=2_000_000, steps=["follower_sends_fetch"]
    )

    assert [one.invariant for one in result.open] == ["fetches_were_sent"]


def test_a_line_that_takes_a_step_twice_is_answered_which_reason_fails():
    (stage,) = next(one.stages for one in LINES if one.transition == "leader_appends")
    both = with_line("leader_appends", stages=(stage, stage))

    result = prove(
        refinement_proof(both), both.recorded, rlimit=2_000_000, steps=["leader_appends"]
    )

    assert "leader_appends: the record is new" in {one.invariant for one in result.open}


# A switch that the proof's form does not have, or in another way; and what is open then. Of those
# that both have, it is the form's own proof that fails (`test_no_message_loss`).
OPEN = [
    ("fetch_fencing", False, "leader_answers_fetch", "fetch_answers_were_sent"),
    ("fetch_session_caches_epoch", False, "leader_answers_fetch_in_session",
     "fetch_answers_were_sent"),
    ("isr_write_locks", False, "leader_advances_hw",
     "leader_advances_hw: none of its ISR writes is under way"),
    ("log_survives_crash", False, "broker_crashes_losing_unflushed_records",
     "it has no counterpart there"),
    ("disk_lost", "by_any", "broker_starts_empty", "it has no counterpart there"),
    ("epoch_taken_with_role", False, "broker_fails_while_becoming_follower",
     "it has no counterpart there"),
]  # fmt: skip


@pytest.mark.parametrize(("switch", "value", "step", "what"), OPEN)
def test_without_a_fix_the_refinement_is_open_where_the_fix_was_needed(switch, value, step, what):
    both = compose(changed={switch: value})

    result = prove(refinement_proof(both), both.recorded, rlimit=3_000_000, steps=[step])

    assert what in {one.invariant for one in result.open}


def test_of_the_releases_with_broker_epochs_those_up_to_2_4_lack_one_fence():
    proved = REPLICATION.recorded().switches

    assert REPLICATION.recorded("2.7").switches == proved
    for version in ("2.3", "2.4"):
        lacking = {"fetch_session_caches_epoch": False}
        assert REPLICATION.recorded(version).switches == {**proved, **lacking}


# -- graphs ---------------------------------------------------------------------------------------


def test_every_rule_holds_in_every_state_of_a_small_instance():
    result = explore_refinement(compose(alike=True), limits(COMES_BACK), symmetry=True)

    assert (result.verdict, result.rule) == (Verdict.HOLDS, None)
    assert (result.states, result.edges) == (11_658, 72_724)
    asked = {name: len(found) for name, found in result.asked.items()}
    assert asked[PROVED] == len(PROOF.invariants) + len(PROOF.lemmas) == 76
    assert result.taken["broker_becomes_leader"] > 0


# The first two were counted by another twin before, which took both sides along in Python by maps
# of its own: states and steps are the same to the last.
@pytest.mark.parametrize(
    ("bounds", "symmetry", "counts"),
    [
        ({"expiries": 0, "losses": 1, "epoch": 1, "versions": 3}, False, (84_733, 710_632)),
        (TWO_EPOCHS, False, (220_763, 1_587_348)),
        ({"log": 2, "records": 2, "expiries": 0}, True, (888_148, 7_860_745)),
        pytest.param(
            {"brokers": 3, "epoch": 1, "versions": 2, "expiries": 0, "log": 2, "records": 2}, True,
            (2_925_461, 38_051_435), marks=pytest.mark.deep),
    ],
)  # fmt: skip
def test_every_rule_holds_in_every_state_of_larger_instances(bounds, symmetry, counts):
    result = explore_refinement(compose(alike=symmetry), limits(bounds), symmetry=symmetry)

    assert (result.verdict, result.rule) == (Verdict.HOLDS, None)
    assert (result.states, result.edges) == counts


def test_the_command_asks_three_brokers_and_two_records():
    assert any(one.get("brokers") == 3 and one.get("records") == 2 for one in QUICK)


def test_an_end_before_all_is_followed_proves_nothing():
    result = explore_refinement(compose(), limits(TWO_EPOCHS), max_states=500)

    assert result.verdict is Verdict.UNKNOWN
    assert result.exploration.stopped is not None


def test_a_step_after_which_the_two_differ_is_reported_with_the_run_and_the_rule():
    result = explore_refinement(compose(changed={"isr_write_locks": False}), limits(TWO_EPOCHS))

    assert (result.verdict, result.claim) == (Verdict.BROKEN, COUPLED)
    reported = "\n".join(result.lines())
    assert "then it is not so that what the two sides have in common is the same" in reported
    assert result.run is not None
    assert result.run.steps[-1].step in reported
    assert len(result.run.steps) < 12


def test_a_rule_that_is_wrong_is_known_by_its_name():
    both = with_line("follower_sends_fetch", stages=())

    result = explore_refinement(both, limits(COMES_BACK))

    assert result.rule is not None
    assert result.rule.name == "fetches_were_sent"


def test_a_step_that_is_none_there_is_reported_with_its_reason():
    (stage,) = next(one.stages for one in LINES if one.transition == "leader_appends")
    both = with_line("leader_appends", stages=(stage, stage))

    result = explore_refinement(both, limits(COMES_BACK))

    assert (result.verdict, result.claim) == (Verdict.BROKEN, POSSIBLE)
    assert "leader_appends, leader_appends: the record is new" in "\n".join(result.lines())


def test_what_both_sides_have_in_common_holds_on_walks_far_beyond(both):
    recorded = judged(both, rules(both))
    for name in recorded.claims.keys() - rules(both):
        del recorded.claims[name]
    ground = Ground(recorded, limits(FAR))

    assert walks(ground, seed=3, steps=1_500) >= 1_500


# -- what is trusted: the composition -------------------------------------------------------------

SAME = ("brokers", "log", "records", "epoch", "versions")


def test_what_a_step_does_there_is_what_the_steps_of_its_line_do(both):
    # The proof's form by itself, executed: an independent reading of the composed writes.
    bounds = limits({"epoch": 2, "versions": 2, "expiries": 0})
    kept = [one.term for one in rules(both)[PROVED]]
    joined = PythonCode(Grounded(both.recorded, bounds, [], also=kept))
    alone = PythonCode(Grounded(
        HISTORY.recorded(), {name: bounds[name] for name in SAME}, [],
        also=[one.term for one in _conjuncts()],
    ))  # fmt: skip
    lines = {one.transition: one for one in LINES}
    by_name: dict[str, list[Any]] = {}
    for one in alone.grounded.instances:
        by_name.setdefault(one.step.transition.name, []).append(one)
    places = _places(joined, alone)

    def there(state: Any) -> Any:
        return bytes(state[number] for number in places)

    assert there(joined.initial) == bytes(alone.initial)
    seen, order, compared, moved = {joined.initial}, [joined.initial], 0, 0
    spare = [0] * len(joined.grounded.instances), bytearray(len(joined.grounded.reasons))
    for state in itertools.islice(_growing(order), 1500):
        for number, after in joined.successors(state, *spare, {}):
            name = joined.grounded.instances[number].step.transition.name
            reached = {there(state)}
            for stage in lines[name].stages:
                reached |= {
                    done
                    for one in reached
                    for alternative in stage
                    for instance in by_name[alternative.step]
                    if (done := alone.attempt(instance, one)) is not None
                }
            assert there(after) in reached, name
            compared += 1
            moved += there(after) != there(state)
            if after not in seen:
                seen.add(after)
                order.append(after)
    assert compared > 3000
    assert moved > 1000


def _growing(order: list[Any]) -> Iterator[Any]:
    """A list that grows while it is read."""
    index = 0
    while index < len(order):
        yield order[index]
        index += 1


def _conjuncts() -> Any:
    from specs.obligations import conjuncts

    return conjuncts(PROOF, HISTORY.recorded())


def _places(joined: PythonCode, alone: PythonCode) -> list[int]:
    """Where each cell of the form stands in the composed state; there records count from 1."""
    here = {(c.field.name, c.index): c.number for c in joined.grounded.cells}
    found = []
    for cell in alone.grounded.cells:
        index = tuple(
            i - 1 if sort == RECORDS else i
            for sort, i in zip(cell.field.dims, cell.index, strict=True)
        )
        found.append(here[f"{THERE}.{cell.field.name}", index])
    return found


def test_invariants_are_named_once():
    names = [one.name for one in INVARIANTS]

    assert len(names) == len(set(names))
