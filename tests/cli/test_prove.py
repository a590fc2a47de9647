"""`insync prove`: proofs without bounds, and open obligations that are never called broken."""

from __future__ import annotations

import json

import pytest

from conformance.cli.prove import ASKED_FOR, PROGRESS, PROOFS, chosen


def test_a_single_controller_is_proved_for_any_number_of_brokers(insync, answer):
    result = insync("prove single_controller")
    code, found = answer("prove single_controller")

    claim = found["claims"][0]
    assert (code, found["verdict"]) == (0, "holds")
    assert (claim["claim"], claim["verdict"], claim["brokers"]) == (
        "single_controller", "holds", "any",
    )  # fmt: skip
    assert "any number of brokers, epochs without bound" in result.stdout
    assert "ZooKeeper is linearizable" in result.stdout


def test_the_json_keeps_the_contract_and_counts_what_it_lists(answer):
    _, found = answer("prove single_controller")

    claim, obligations = found["claims"][0], found["obligations"]
    keys = {"claim", "verdict", "brokers", "obligations", "solver_calls", "seconds", "assumes"}
    assert set(claim) >= {*keys, "counterexample"}
    assert claim["counterexample"] is None
    assert claim["obligations"] == len(obligations)
    assert claim["solver_calls"] == sum("z3" in one["result"] for one in obligations)
    assert {"step", "invariant", "result", "seconds"} <= set(obligations[0])
    assert {answer for one in obligations for answer in one["result"].values()} == {"proved"}


def test_every_step_has_an_obligation_for_every_invariant(answer):
    _, found = answer("prove single_controller")

    invariants = {one.name for one in PROOFS["single_controller"].invariants}
    steps = {one["step"] for one in found["obligations"]} - {"initially", "implies the claim"}
    asked = {(one["step"], one["invariant"]) for one in found["obligations"]}
    assert {(step, name) for step in steps for name in invariants} <= asked
    assert len(steps) == 13


def test_no_name_and_all_prove_whatever_has_a_proof():
    bare, everything = chosen((), everything=False), chosen((), everything=True)

    assert [one.claim for one in bare] == ["single_controller", "no_message_loss"]
    assert everything == [*PROOFS.values(), *ASKED_FOR.values()]


def test_a_given_number_of_brokers_is_proved_as_well(answer):
    code, found = answer("prove single_controller --brokers 3")

    assert (code, found["claims"][0]["brokers"]) == (0, 3)


def test_without_the_fence_the_obligation_is_named_and_a_counterexample_shown(insync, answer):
    result = insync("prove single_controller --without zk_writes_fenced")
    code, found = answer("prove single_controller --without zk_writes_fenced")

    claim = found["claims"][0]
    assert (result.exit_code, code, found["verdict"]) == (2, 2, "unknown")
    assert claim["open"] == [
        {"step": "write_is_applied", "invariant": "no_stale_write_or_request_is_accepted"}
    ]
    assert claim["counterexample"]["step"] == "write_is_applied"
    assert claim["counterexample"]["changes"]["stale_write"] == [False, True]
    assert (
        "write_is_applied · no_stale_write_or_request_is_accepted: refuted by z3" in result.stdout
    )
    assert "stale_write: false → true" in result.stdout
    assert "This alone means unknown (not inductive)" in result.stdout


def test_the_command_under_an_open_proof_finds_the_run(insync, answer):
    result = insync("prove single_controller --without zk_writes_fenced").stdout

    command = result.splitlines()[-1].partition("insync ")[2]
    code, found = answer(command)

    assert command.startswith("find single_controller election")
    assert (code, found["verdict"]) == (1, "broken")


@pytest.mark.parametrize("switch", ["requests_fenced", "broker_epoch"])
def test_every_other_fence_is_needed_too(answer, switch):
    code, found = answer(f"prove single_controller --without {switch}")

    assert (code, found["claims"][0]["verdict"]) == (2, "unknown")
    assert found["claims"][0]["counterexample"] is not None


def test_each_shows_one_row_an_obligation(insync, answer):
    _, found = answer("prove single_controller")
    brief = insync("prove single_controller").stdout.splitlines()
    each = insync("prove single_controller --each").stdout.splitlines()

    rows = [line for line in each if " proved " in line]
    assert len(rows) == len(found["obligations"])
    assert [line for line in brief if " proved " in line] == []
    assert any(line.startswith("write_is_applied") and " z3 " in line for line in rows)
    assert any(line.startswith("broker_connects") and " frame rule " in line for line in rows)


def test_two_solvers_give_two_answers_to_every_obligation(insync, answer):
    code, found = answer("prove single_controller --solver both")
    outcome = insync("prove single_controller --solver both").stdout

    results = [one["result"] for one in found["obligations"]]
    assert code == 0
    assert results.count({"z3": "proved", "cvc5": "proved"}) == 53
    assert results.count({"frame rule": "proved"}) == 130
    assert "by z3 and cvc5" in outcome


def test_the_questions_are_written_out_with_what_was_answered(insync, tmp_path):
    result = insync(f"prove single_controller --smt2 {tmp_path}/questions --solver cvc5")

    manifest = json.loads((tmp_path / "questions" / "manifest.json").read_text())
    first = manifest["claims"][0]["obligations"][0]
    assert result.exit_code == 0
    assert "written: " in result.stdout
    assert (manifest["format"], first["result"]) == ("insync.smt2/1", {"cvc5": "proved"})
    assert (tmp_path / "questions" / first["files"][0]["file"]).is_file()


def test_progress_is_proved_and_broken_by_a_loop_where_a_fairness_is_dropped(insync, answer):
    code, found = answer("prove all_brokers_know_the_controller")
    result = insync("prove a_controller_is_heard_by_all --unfair request_is_obeyed")  # as they were

    assert (code, found["verdict"], found["claims"][0]["brokers"]) == (0, "holds", "any")
    assert result.exit_code == 1
    assert "some fair instance is awaited: refuted by z3" in result.stdout
    assert "broken, for the claim is never true on this run" in result.stdout


def test_progress_is_the_name_of_all_claims_of_progress():
    assert list(PROGRESS) == [
        "all_brokers_know_the_controller", "a_leader_is_followed_by_all",
        "produced_records_are_committed", "the_isr_recovers",
    ]  # fmt: skip
