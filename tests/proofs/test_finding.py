"""Invariants that nobody wrote: found from what steps read and write, and proved without bounds."""

from __future__ import annotations

import json
import runpy
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import numpy.typing as npt
import pytest
import z3
from click.testing import CliRunner

from conformance.cli.main import main
from model.election import SYSTEM as ELECTION
from model.language import terms as t
from model.language.recording import record_condition
from model.language.sorts import BOOL
from model.replication.history import SYSTEM as HISTORY
from model.replication.history import state as HISTORY_STATE
from specs.finding.answers import Answers
from specs.finding.candidates import BoundedSteps, InvariantCandidate
from specs.finding.graph import dot, svg, who_needs_whom
from specs.finding.guided import ClauseMaker, GuidedSearch
from specs.finding.notation import as_file, triggers_of
from specs.finding.observed import ClauseGeneraliser, SliceSample, StateRows, reached, walked
from specs.finding.reasons import reasons
from specs.finding.search import (
    Effort,
    InvariantSearchResult,
    all_fields,
    find_invariants,
    small,
)
from specs.finding.vocabulary import (
    Definitions,
    Literal,
    SliceVariables,
    Vocabulary,
    made_again,
    slice_over,
)
from specs.grounded_steps import State
from specs.invariants import Proof
from specs.lowering.grounding import Grounded
from specs.lowering.instances import Instance
from specs.proofs import single_controller as written
from specs.proofs.no_message_loss import PROOF as NO_MESSAGE_LOSS
from specs.proofs.single_controller import PROOF
from specs.prover import IMPLIED, prove
from specs.solvers import PROVED
from specs.verdict import Verdict

FROM_THE_CLAIM_ALONE = Proof(PROOF.claim, PROOF.system, (), PROOF.assumes)
FIVE = (
    written.epoch_and_version_move_together, written.won_epochs_are_not_in_the_future,
    written.what_was_read_is_consistent, written.belief_was_won,
    written.a_write_under_way_was_won,
)  # fmt: skip
QUICK = Effort(states=4_000, walks=100, length=30)


ONE = written.epoch_and_version_move_together
TWO = (ONE, written.won_epochs_are_not_in_the_future)


def without(*names: object) -> Proof:
    """The proof of a single controller without some of its twelve invariants."""
    return replace(PROOF, invariants=tuple(o for o in PROOF.invariants if o not in names))


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the search of `again` keeps what is left after each round."""
    return tmp_path_factory.mktemp("found") / "left.json"


@pytest.fixture(scope="module")
def again(left: Path) -> InvariantSearchResult:
    return find_invariants(without(*TWO), ELECTION.recorded(), QUICK, resume=left)


def test_an_invariant_that_is_deleted_is_found_again_or_a_stronger_one(again):
    assert (again.verdict, again.lost) == (Verdict.HOLDS, [])
    assert again.result is not None
    assert not again.result.open
    assert 0 < len(again.found) <= 3


def test_what_z3_proves_in_the_end_is_asked_of_cvc5_too():
    pytest.importorskip("cvc5", reason="cvc5 is not installed: pip install 'insync[solvers]'")

    found = find_invariants(PROOF, ELECTION.recorded(), QUICK, solvers=("z3", "cvc5"))

    assert found.result is not None
    asked = [one for one in found.result.obligations if one.by == "solver"]
    assert len(asked) == found.result.solver_calls > 0
    assert {tuple(one.answers.items()) for one in asked} == {(("z3", PROVED), ("cvc5", PROVED))}


def test_none_of_the_found_can_go(again):
    for one in again.found:
        rest = tuple(other for other in again.proof.invariants if other is not one)
        result = prove(replace(again.proof, invariants=rest), ELECTION.recorded())
        assert result.open, f"{one.name}: {one.sentence}"


def test_what_is_found_is_written_in_the_notation_and_proved_from_there(again, tmp_path):
    file = tmp_path / "found.py"
    file.write_text(as_file(again))

    made = runpy.run_path(str(file))["INVARIANTS"]

    joined = replace(PROOF, invariants=(*without(*TWO).invariants, *made))
    result = prove(joined, ELECTION.recorded())
    assert (result.verdict, result.open) == (Verdict.HOLDS, [])
    assert [one.name for one in made] == [one.name for one in again.found]


def test_where_few_states_were_reached_a_clause_that_says_too_much_is_weakened():
    blind = Effort(states=1, walks=2, length=2)

    found = find_invariants(without(*TWO), ELECTION.recorded(), blind)

    assert (found.verdict, found.lost) == (Verdict.HOLDS, [])
    assert found.counts["states"] < 20
    assert len(found.found) == 2


@pytest.mark.deep
def test_five_invariants_that_are_deleted_together_are_found_again_or_stronger_ones():
    found = find_invariants(without(*FIVE), ELECTION.recorded(), Effort(states=10_000))

    assert (found.verdict, found.lost) == (Verdict.HOLDS, [])
    assert [one.sentence for one in found.found] == [
        "zk.epoch == zk.epoch_version", "belief[b].epoch == belief[b].version",
        "pending[b].epoch == pending[b].epoch_version", "read[b].epoch == read[b].version",
        "won.has(b, belief[b].epoch)", "if won.has(b, e), then e <= zk.epoch",
    ]  # fmt: skip


@pytest.mark.deep
def test_an_invariant_of_no_message_loss_that_is_deleted_is_found_again():
    left = tuple(one for one in NO_MESSAGE_LOSS.invariants if one.name != "hw_is_within_the_log")

    found = find_invariants(
        replace(NO_MESSAGE_LOSS, invariants=left, lemmas=()), HISTORY.recorded()
    )

    assert (found.verdict, found.lost) == (Verdict.HOLDS, [])
    assert [one.sentence for one in found.found] == ["replica[b].hw <= log[b].end"]


@pytest.mark.deep
@pytest.mark.parametrize("seed", [1, 2, 3, 5, 6, 8])
def test_five_of_no_message_loss_that_are_deleted_together_are_found_again(seed):
    dropped = Random(seed).sample([one.name for one in NO_MESSAGE_LOSS.invariants], 5)
    left = tuple(one for one in NO_MESSAGE_LOSS.invariants if one.name not in dropped)

    found = find_invariants(
        replace(NO_MESSAGE_LOSS, invariants=left, lemmas=()), HISTORY.recorded(), Effort(seed=seed),
        solvers=("z3", "cvc5"),
    )  # fmt: skip

    assert (found.verdict, found.lost) == (Verdict.HOLDS, [])
    assert len(found.found) <= 12


def test_what_was_asked_before_and_where_a_search_goes_on_from_change_no_answer(
    again, left, tmp_path
):  # fmt: skip
    kept, file = json.loads(left.read_text()), tmp_path / "left.json"
    longer = replace(QUICK, seconds=2 * QUICK.seconds)
    assert kept["rounds"]

    for rounds in range(len(kept["rounds"]) + 1):
        file.write_text(json.dumps({**kept, "rounds": kept["rounds"][:rounds]}))
        found = find_invariants(without(*TWO), ELECTION.recorded(), longer, resume=file)

        assert [one.sentence for one in found.found] == [one.sentence for one in again.found]
        assert json.loads(file.read_text()) == kept


def test_answers_that_are_in_the_file_are_not_asked_for_again(tmp_path):
    asked: list[int] = []

    def ask(number: int) -> int:
        asked.append(number)
        return 10 * number

    for rounds in (2, 3):
        answers = Answers(tmp_path / "left.json", "?")
        said = []
        for number in range(rounds):
            answers.begin()
            said.append(answers.of(ask, number))

        assert said == [10 * number for number in range(rounds)]
    # The last round of the first search had not ended: nothing is kept of it.
    assert asked == [0, 1, 1, 2]


def test_a_claim_that_a_reached_state_breaks_has_no_proof_to_be_found():
    recorded = ELECTION.recorded(None, {"requests_fenced": False})

    found = find_invariants(FROM_THE_CLAIM_ALONE, recorded, Effort(states=200_000))

    assert found.verdict is Verdict.UNKNOWN
    assert found.false == ["not stale_obedience"]
    assert found.found == []


def test_where_no_candidate_is_left_a_small_state_shows_why():
    found = find_invariants(FROM_THE_CLAIM_ALONE, ELECTION.recorded(), replace(QUICK, seconds=0))

    assert found.verdict is Verdict.UNKNOWN
    assert found.counterexample is not None
    assert found.counterexample.as_text().startswith("in a state that obeys every invariant:")
    assert found.reached.startswith("whether it is reachable is open: ")


@pytest.mark.deep
def test_all_that_single_controller_needs_is_found_from_the_claim_alone():
    found = find_invariants(FROM_THE_CLAIM_ALONE, ELECTION.recorded())

    assert (found.verdict, found.lost) == (Verdict.HOLDS, [])
    assert len(found.found) == 9
    assert found.seconds < 600


def test_the_graph_says_who_needs_whom():
    needs = who_needs_whom(PROOF, ELECTION.recorded())

    assert needs["claim: single_controller"] == {
        "one_broker_per_epoch", "no_stale_write_or_request_is_accepted"}  # fmt: skip
    assert "won_epochs_are_not_in_the_future" in needs["one_broker_per_epoch"]
    assert '"one_broker_per_epoch" -> "won_epochs_are_not_in_the_future"' in dot(needs, "x")
    assert svg(needs, "x").count("<rect") == len(needs) + 1


def test_options_of_find_without_it_are_refused_and_a_graph_needs_a_name_that_says_its_form():
    for line in (["--write", "x.py"], ["--drop-invariants", "a"], ["--graph", "x.pdf"], ["--find"],
                 ["--seed", "3"], ["--states", "5"]):  # fmt: skip
        claim = [] if line == ["--find"] else ["single_controller"]
        assert CliRunner().invoke(main, ["prove", *claim, *line]).exit_code == 64, line


def test_a_file_to_go_on_from_that_is_of_something_else_is_refused(tmp_path):
    other = tmp_path / "left.json"
    other.write_text(json.dumps({"question": "?", "rounds": []}))

    said = CliRunner().invoke(
        main, ["prove", "single_controller", "--find", "--drop-invariants", ONE.name, "--resume",
               str(other)])  # fmt: skip

    assert said.exit_code == 64
    assert "of another claim" in said.output


# -- what candidates are made of ------------------------------------------------------------------


def test_only_what_may_be_an_index_is_one():
    recorded = HISTORY.recorded()
    may_index, fields = Vocabulary(recorded, []).provenance.may_index, recorded.fields

    assert may_index("committed.epoch", fields["history.at.id"], 0)
    assert may_index("committed.end", fields["history.at.id"], 1)
    # Two quantifiers of one step have a variable of one name, but of another sort.
    assert not may_index("committed.end", fields["history.at.id"], 0)
    assert not may_index("gone", fields["log.at.id"], 1)
    # An election raises epoch and version together: the one is no index of the other's.
    assert not may_index("zk.version", fields["request.leader"], 0)


def test_that_there_is_no_epoch_yet_is_said_of_an_epoch_too():
    one = slice_over((HISTORY_STATE.EPOCHS,))
    said = Vocabulary(HISTORY.recorded(), []).literals(one)

    assert "e < 1" in {t.show(literal.term) for literal in said}


def test_what_is_found_of_all_that_have_a_value_is_said_of_the_value():
    one = slice_over((HISTORY_STATE.BROKERS, HISTORY_STATE.EPOCHS))
    b, e = one.variables
    epoch = t.get("replica.epoch", (b,), e.sort)
    given, began = (t.get(name, (of,), BOOL) for name, of in (("answer.given", b), ("began", e)))
    clause = tuple(Literal(term, holds, 1) for term, holds in (
        (t.eq(e, epoch), False), (given, False), (began, True)))  # fmt: skip

    said = InvariantCandidate(0, one, clause).of_values

    assert said.slice == slice_over((HISTORY_STATE.BROKERS,))
    assert said.matrix is t.or_(t.not_(given), t.get("began", (epoch,), BOOL))


def test_two_variables_of_one_letter_have_two_names():
    one = slice_over((HISTORY_STATE.EPOCHS, HISTORY_STATE.ENDS, HISTORY_STATE.EPOCHS))

    assert [v.args[0] for v in one.variables] == ["e", "e2", "e3"]


def test_a_comparison_of_numbers_has_one_form():
    x, y = (t.var(name, HISTORY_STATE.EPOCHS) for name in "xy")
    one_less, one_more = t.add(x, t.const(-1)), t.add(x, t.const(1))

    assert made_again(t.lt(one_less, y)) is t.le(x, y)
    assert made_again(t.le(one_more, y)) is t.lt(x, y)
    assert made_again(t.lt(one_more, y)) is t.lt(one_more, y)


def column(*bits: int) -> npt.NDArray[np.uint64]:
    return np.array([sum(bit << place for place, bit in enumerate(bits))], np.uint64)


def facts(*costs: int) -> list[Literal]:
    variables = (t.var(f"b{at}", HISTORY_STATE.BROKERS) for at in range(len(costs)))
    return [Literal(t.get("zk.isr", (one,), BOOL), True, cost)
            for one, cost in zip(variables, costs, strict=True)]  # fmt: skip


def test_clauses_against_a_state_are_what_no_row_lacks_the_plainest_first():
    # Rows: neither, the first, the second; a state that has both, and a third that all have.
    columns = [column(0, 1, 0), column(0, 0, 1), column(1, 1, 1)]
    both = np.array([True, True, True])

    made = ClauseGeneraliser.of_columns(columns, column(1, 1, 1)).against(both, facts(1, 1, 1))

    assert list(made) == [(0, 1)]
    # The same, and a fourth that no row has.
    made = ClauseGeneraliser.of_columns([*columns, column(0, 0, 0)], column(1, 1, 1)).against(
        np.array([*both, True]), facts(1, 1, 1, 9))  # fmt: skip
    assert list(made) == [(0, 1), (3,)]


def test_there_is_no_clause_against_a_state_that_was_reached():
    made = ClauseGeneraliser.of_columns([column(0, 1, 0), column(0, 0, 1)], column(1, 1, 1))

    there = np.array([True, False])
    assert not set(made.against(there, facts(1, 1)))


def initial_row(grounded: Grounded) -> StateRows:
    """Where runs begin."""
    return StateRows(
        grounded,
        [
            np.array([code], bool if cell.field.sort is BOOL else np.int16)
            for cell, code in zip(grounded.cells, grounded.initial, strict=True)
        ],
    )


def test_what_is_true_of_the_one_broker_that_a_blank_field_names_is_refuted_by_another():
    both = slice_over((HISTORY_STATE.BROKERS, HISTORY_STATE.EPOCHS))
    b, e = both.variables
    term = t.eq(b, t.get("gone", (e,), b.sort))
    recorded = HISTORY.recorded()
    grounded = Grounded(recorded, small(recorded), [], also=all_fields(recorded))
    start = initial_row(grounded)

    # No broker has left an ISR yet: the field is of the first broker until one does.
    assert SliceSample([start], both, 1).refutes([Literal(term, True, 1)])


def test_a_state_that_refutes_a_clause_after_all_refutes_what_is_made_next():
    recorded = ELECTION.recorded()
    term = record_condition(ONE.function, recorded.system.state, recorded.switches)
    start = initial_row(Grounded(recorded, recorded.system.limits({}), [], also=[term]))
    grounded = start.grounded
    sample, clause = SliceSample([start], SliceVariables(()), 1), [Literal(term, True, 1)]
    changed = [column.copy() for column in start.columns]
    epoch = next(cell for cell in grounded.cells if cell.name == "zk.epoch")
    changed[epoch.number] += 1
    after = StateRows(grounded, changed)
    assert start.breaking(term) is None
    assert not sample.refutes(clause)

    breaking = after.breaking(term)
    assert breaking is not None
    sample.learn(breaking)

    assert sample.refutes(clause)


def counterexamples(
    scope: BoundedSteps, goal: InvariantCandidate
) -> Iterator[tuple[Instance, State]]:
    """Steps that do not keep a goal, and a state from which they do not."""
    solver = scope.solver()
    for instance in scope.instances:
        solver.push()
        solver.add(scope.lower(scope.ground(goal)), *scope.failing(instance, goal))
        if solver.check() == z3.sat:
            yield instance, scope.blanker(solver)
        solver.pop()


def scope_of_one() -> tuple[BoundedSteps, InvariantCandidate]:
    """An election, and that epoch and version move together."""
    recorded = ELECTION.recorded()
    term = record_condition(ONE.function, recorded.system.state, recorded.switches)
    scope = BoundedSteps(recorded, recorded.system.limits({}), [], [term, *all_fields(recorded)])
    return scope, InvariantCandidate(0, SliceVariables(()), (), term)


def test_a_larger_scope_judges_again_what_steps_keep_in_a_smaller_one():
    recorded, fields = ELECTION.recorded(), all_fields(ELECTION.recorded())
    small_scope, large_scope = (
        BoundedSteps(recorded, {**recorded.system.limits({}), "epoch": epochs}, [], fields)
        for epochs in (1, 2)
    )
    epoch = t.get("zk.epoch", (), recorded.fields["zk.epoch"].sort)
    first = Literal(t.lt(epoch, t.const(2, epoch.sort)), True, 1)
    start = initial_row(small_scope.grounded)
    made = ClauseMaker([start], lambda one: [] if one.variables else [first], lambda line: None)
    search = GuidedSearch(small_scope, [], made, Answers(None, "?"), lambda line: None)

    kept, _ = search.run(lambda: False)
    search.look_within(large_scope, [])
    kept_beyond, _ = search.run(lambda: False)

    assert [str(search.pool.candidates[number]) for number in kept] == ["zk.epoch < 2"]
    assert kept_beyond == []


def test_the_reason_of_a_counterexample_is_so_in_it_and_in_no_reached_state_at_all():
    scope, goal = scope_of_one()
    recorded = scope.grounded.recorded
    _, everything = reached(recorded, scope.grounded.bounds, all_fields(recorded), 100_000, 1,
                            lambda line: None)  # fmt: skip
    made = 0
    for instance, state in counterexamples(scope, goal):
        for reason in reasons(scope, goal, instance, state, lambda one: []):
            here, anywhere = SliceSample([scope.rows([state])], reason.slice, 1), SliceSample(
                [everything], reason.slice, 10_000_000)  # fmt: skip
            against = [fact.negated for fact in reason.facts]
            assert here.refutes(against)
            assert not anywhere.refutes(against)
            made += 1

    assert everything.complete
    assert made


def test_of_facts_beside_a_reason_those_are_kept_that_say_more_of_what_it_reads(monkeypatch):
    scope, goal = scope_of_one()
    version = t.get("zk.epoch_version", (), scope.grounded.recorded.fields["zk.epoch_version"].sort)
    near = t.lt(version, t.const(2, version.sort))
    plainer = Literal(t.get("stale_write", (), BOOL), True, 1)
    monkeypatch.setattr("specs.finding.reasons.MOST_BESIDE", 1)
    instance, state = next(counterexamples(scope, goal))

    (reason,) = reasons(scope, goal, instance, state,
                        lambda one: [plainer, Literal(near, True, 2)])  # fmt: skip

    said = [fact.term for fact in reason.facts]
    assert near in said
    assert plainer.term not in said


def test_states_of_random_walks_are_reachable_and_the_same_for_a_seed():
    recorded = ELECTION.recorded()
    bounds = recorded.system.limits({})

    def states(rows: StateRows) -> set[tuple[int, ...]]:
        return set(zip(*(rows.columns[n].tolist() for n in range(len(rows.grounded.cells))),
                       strict=True))  # fmt: skip

    walks = [states(walked(Grounded(recorded, bounds, []), 50, 30, seed, lambda line: None))
             for seed in (1, 1, 2)]  # fmt: skip
    _, everything = reached(recorded, bounds, [], 100_000, 1, lambda line: None)

    assert everything.complete
    assert len(walks[0]) > 30
    assert walks[0] == walks[1] != walks[2]
    assert walks[0] <= states(everything)


def test_a_clause_of_three_variables_wakes_a_solver_by_the_fewest_terms_that_name_them():
    epoch, later = t.var("e", HISTORY_STATE.EPOCHS), t.var("e2", HISTORY_STATE.EPOCHS)
    member = t.get("zk.isr", (t.var("b", HISTORY_STATE.BROKERS),), BOOL)
    began = [t.get("began", (one,), BOOL) for one in (epoch, later)]
    one = slice_over((HISTORY_STATE.BROKERS, HISTORY_STATE.EPOCHS, HISTORY_STATE.EPOCHS))
    clause = tuple(Literal(term, False, 1) for term in (member, *began, t.lt(epoch, later)))

    assert triggers_of(InvariantCandidate(0, one, clause)) == [(member, *began)]


@pytest.mark.parametrize("step", ["leader_advances_hw", IMPLIED])
def test_a_proof_that_only_lacks_terms_goes_through_with_what_definitions_say_of_fields(step):
    recorded = HISTORY.recorded()
    left = tuple(o for o in NO_MESSAGE_LOSS.invariants if o.name != "what_is_committed_may_be")
    given = replace(NO_MESSAGE_LOSS, invariants=left, lemmas=())
    more = Definitions(given.definitions, recorded).of_fields()
    hinted = replace(given, hints={step: (*given.hints.get(step, ()), *more)})

    assert prove(given, recorded, steps=[step]).open
    assert not prove(hinted, recorded, steps=[step]).open


def test_a_solver_has_some_record_in_mind_also_where_nothing_names_one():
    hints = Definitions((), HISTORY.recorded()).of_fields()
    said = {t.show(one.term) for hint in hints for one in hint.terms(None)}

    # What is found may speak of records where what is to be shown does not.
    assert "written_in[history.at.id[0][0]]" in said


def test_a_number_of_invariants_to_leave_out_is_chosen_by_the_seed():
    line = ["prove", "single_controller", "--find", "--drop-invariants"]

    assert CliRunner().invoke(main, [*line, "12"]).exit_code == 64
    assert CliRunner().invoke(main, [*line, "0"]).exit_code == 64
