"""Two solvers, one question: what is written out is what is asked, and nobody's word is bent."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
import z3

from model.election import SYSTEM as ELECTION
from model.replication.history import SYSTEM as HISTORY
from specs.proofs.no_message_loss import PROOF as NO_MESSAGE_LOSS
from specs.proofs.single_controller import PROOF as SINGLE_CONTROLLER
from specs.prover import prove
from specs.refinement import compose, refinement_proof
from specs.smt2 import MANIFEST, Smt2Folder
from specs.solvers import PROVED, REFUTED, UNKNOWN, SolverQuery, answer_of_cvc5, combined
from specs.verdict import Verdict

cvc5 = pytest.importorskip("cvc5", reason="cvc5 is not installed: pip install 'insync[solvers]'")
X = z3.Int("x")
BOTH = ("z3", "cvc5")


def question(goal: z3.BoolRef) -> SolverQuery:
    return SolverQuery([X >= 1], goal, by_triggers=False, rlimit=1_000_000)


def by_cvc5_alone(text: str) -> list[str]:
    """What cvc5's own bindings print for a file, without our code."""
    solver = cvc5.Solver(cvc5.TermManager())
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "file")
    symbols, printed = parser.getSymbolManager(), []
    while not (command := parser.nextCommand()).isNull():
        printed.append(str(command.invoke(solver, symbols)).strip())
    return [line for line in printed if line]


@pytest.mark.parametrize("solver", BOTH)
@pytest.mark.parametrize(("goal", "answer"), [(X > 0, PROVED), (X > 1, REFUTED)])
def test_a_solver_proves_what_follows_and_refutes_what_does_not(solver, goal, answer):
    assert question(goal).answer(solver) == answer


def works() -> list[int]:
    """What Z3 spends on each question of a small proof, made anew."""
    asked: list[SolverQuery] = []
    prove(SINGLE_CONTROLLER, ELECTION.recorded(), export=lambda step, what, one: asked.append(one))
    return [one.work for one in asked]


def test_what_z3_spends_on_a_question_does_not_hang_on_what_was_made_before():
    first = works()
    kept = [X * number >= number for number in range(10_000)]

    assert (works(), len(kept)) == (first, 10_000)
    assert min(first) > 0


def test_a_solver_that_may_do_no_work_has_no_answer():
    x, y = z3.Ints("x y")
    hard = SolverQuery([x * x * x == y * y + 2, x > 5], x > 2 * y * y, by_triggers=False, rlimit=1)

    assert hard.answer("z3") == UNKNOWN
    assert answer_of_cvc5(hard.smt2(), rlimit=1) == UNKNOWN


@pytest.mark.parametrize("text", ["(set-logic ALL)", "(check-sat)(check-sat)"])
def test_a_text_that_does_not_ask_once_is_no_answer(text):
    assert answer_of_cvc5(text) == UNKNOWN


def test_two_answers_that_differ_settle_nothing():
    assert combined([PROVED, PROVED]) == PROVED
    assert combined([PROVED, REFUTED]) == UNKNOWN
    assert combined([PROVED, UNKNOWN]) == UNKNOWN
    assert combined([]) == UNKNOWN


def test_cvc5_agrees_on_every_obligation_of_a_single_controller():
    result = prove(SINGLE_CONTROLLER, ELECTION.recorded(), solvers=BOTH)

    asked = [one for one in result.obligations if one.by == "solver"]
    assert result.verdict is Verdict.HOLDS
    assert len(asked) == 53
    assert all(one.answers == {"z3": PROVED, "cvc5": PROVED} for one in asked)


def test_cvc5_agrees_on_the_step_that_commits():
    result = prove(NO_MESSAGE_LOSS, HISTORY.recorded(), solvers=BOTH, steps=["leader_advances_hw"])

    asked = [one for one in result.obligations if one.by == "solver"]
    assert len(asked) > 10
    assert all(one.answers == {"z3": PROVED, "cvc5": PROVED} for one in asked)


@pytest.mark.deep
def test_cvc5_agrees_on_every_obligation_of_no_message_loss():
    result = prove(NO_MESSAGE_LOSS, HISTORY.recorded(), solvers=BOTH)

    assert result.verdict is Verdict.HOLDS
    assert {tuple(one.answers) for one in result.obligations} == {BOTH, ("frame rule",)}


@pytest.mark.deep
def test_cvc5_agrees_on_where_a_follower_of_the_executable_replication_truncates():
    both = compose()

    result = prove(
        refinement_proof(both), both.recorded, solvers=BOTH, steps=["follower_truncates"]
    )

    asked = [one for one in result.obligations if one.by == "solver"]
    assert len(asked) > 10
    assert all(one.answers == {"z3": PROVED, "cvc5": PROVED} for one in asked)


@pytest.mark.deep
def test_cvc5_agrees_on_every_obligation_of_the_refinement():
    both = compose()

    result = prove(refinement_proof(both), both.recorded, solvers=BOTH)

    assert result.verdict is Verdict.HOLDS
    assert {tuple(one.answers) for one in result.obligations} == {BOTH, ("frame rule",)}


def test_cvc5_does_not_prove_what_z3_refutes():
    result = prove(SINGLE_CONTROLLER, ELECTION.recorded(None, {"zk_writes_fenced": False}),
                   solvers=BOTH)  # fmt: skip

    assert result.verdict is Verdict.UNKNOWN
    assert [(one.step, one.invariant, one.answers) for one in result.open] == [
        (
            "write_is_applied",
            "no_stale_write_or_request_is_accepted",
            {"z3": REFUTED, "cvc5": UNKNOWN},
        )
    ]


@pytest.mark.deep  # cvc5 takes all that it may to know nothing: 40 s
def test_cvc5_does_not_prove_what_z3_does_not():
    recorded = HISTORY.recorded(None, {"isr_join_needs_epoch_start": False})

    result = prove(NO_MESSAGE_LOSS, recorded, solvers=BOTH, steps=["leader_expands_isr"])

    assert [(one.invariant, one.answers["cvc5"]) for one in result.open] == [
        ("replicas_that_join_have_caught_up", UNKNOWN)
    ]


def test_every_file_is_answered_by_cvc5_without_our_code_and_the_manifest_lists_them_all(tmp_path):
    folder = Smt2Folder(tmp_path / "obligations")
    folder.of(SINGLE_CONTROLLER)
    result = prove(SINGLE_CONTROLLER, ELECTION.recorded(), export=folder.add)
    folder.proved(result)
    where = folder.close()

    manifest = json.loads((where / MANIFEST).read_text())
    obligations = manifest["claims"][0]["obligations"]
    listed = {one["file"]: one["sha256"] for each in obligations for one in each["files"]}
    there = {str(path.relative_to(where)): path for path in where.rglob("*.smt2")}
    assert len(obligations) == 183
    assert [one["result"] for one in obligations if not one["files"]] == [
        {"frame rule": "proved"}
    ] * 130  # fmt: skip
    assert listed.keys() == there.keys()
    assert len(listed) == 53
    for name, path in there.items():
        assert hashlib.sha256(path.read_bytes()).hexdigest() == listed[name]
        assert by_cvc5_alone(path.read_text()) == ["unsat"], name


def test_the_same_command_writes_the_same_files(tmp_path):
    command = [sys.executable, "-m", "conformance.cli", "prove", "single_controller", "--smt2"]

    for name in ("one", "other"):
        subprocess.run([*command, str(tmp_path / name)], check=True, capture_output=True)

    one, other = (
        {path.name: path.read_bytes() for path in (tmp_path / name).rglob("*.*")}
        for name in ("one", "other")
    )
    assert one == other
    assert len(one) == 54


def test_a_folder_that_is_in_use_is_left_alone_and_a_failure_leaves_nothing(tmp_path: Path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes").write_text("dear")

    with pytest.raises(FileExistsError, match="not empty"):
        Smt2Folder(tmp_path / "mine")
    begun = Smt2Folder(tmp_path / "begun")
    begun.of(SINGLE_CONTROLLER)
    begun.add("a step", "an invariant", question(X > 0))
    begun.discard()

    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine"]
