"""`insync prove --refinement`: from what is explored to what is proved."""

from __future__ import annotations

import json

import pytest

import specs.refinement
from model.replication import SYSTEM as REPLICATION
from specs.prover import IMPLIED, INITIALLY
from specs.solvers import has_cvc5

SMALL = ({"epoch": 1, "versions": 1, "crashes": 0, "expiries": 0},)


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(specs.refinement, "QUICK", SMALL)


@pytest.mark.deep  # verify proves the same; what `--each` adds is looked at here
def test_the_chain_is_proved_for_any_number_of_brokers_and_holds_in_the_graphs(
    small, insync, tmp_path
):
    result = insync(f"prove --refinement --each --json {tmp_path}/found.json")

    found = json.loads((tmp_path / "found.json").read_text())
    elections, refines = found["claims"]
    (followed,) = found["chain"]
    assert (result.exit_code, found["verdict"]) == (0, "holds")
    assert (elections["claim"], elections["verdict"]) == ("elections_are_as_assumed", "holds")
    assert (refines["claim"], refines["verdict"]) == ("replication_refines_its_proof", "holds")
    assert (refines["brokers"], refines["open"]) == ("any", [])
    assert (refines["obligations"], refines["solver_calls"]) == (2073, 521)
    assert elections["obligations"] + refines["obligations"] == len(found["obligations"])
    rows = [one for one in found["obligations"] if one["claim"] == refines["claim"]]
    steps = {one["step"] for one in rows} - {INITIALLY, IMPLIED}
    assert steps == {step.transition.name for step in REPLICATION.recorded().steps}
    assert [one["invariant"] for one in rows if one["step"] == IMPLIED] == [
        "no_message_loss", "isr_holds_committed", "log_matching", "leader_unique",
        "leader_in_isr",
    ]  # fmt: skip
    assert {answer for one in rows for answer in one["result"].values()} == {"proved"}
    assert (followed["verdict"], followed["failure"]) == ("holds", None)
    assert followed["edges"] == sum(followed["transitions"].values()) > 0
    assert found["counterexample"] is None
    assert "leader_learns_end then" in result.stdout
    assert "the furthest offset says all" in result.stdout


@pytest.mark.deep
@pytest.mark.skipif(not has_cvc5(), reason="cvc5 is not installed")
def test_the_chain_is_proved_by_either_solver(small, insync, tmp_path):
    result = insync(f"prove --refinement --solver cvc5 --json {tmp_path}/found.json")

    found = json.loads((tmp_path / "found.json").read_text())
    asked = [one["result"] for one in found["obligations"] if "frame rule" not in one["result"]]
    assert (result.exit_code, found["verdict"]) == (0, "holds")
    assert {tuple(one.items()) for one in asked} == {(("cvc5", "proved"),)}
    assert "521 by cvc5" in result.stdout


@pytest.mark.deep
def test_a_step_that_is_none_is_broken_with_the_run_and_not_proved(monkeypatch, insync):
    monkeypatch.setattr(specs.refinement, "QUICK", ({"expiries": 0},))

    result = insync("prove --refinement --without isr_write_locks")

    assert result.exit_code == 1
    assert "not proved: leader_advances_hw · " in result.stdout
    assert "in a state that obeys every invariant:" in result.stdout
    assert "none of its ISR writes is under way" in result.stdout
