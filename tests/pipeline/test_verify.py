"""The table of verdicts is red as soon as one row is not what it should be.

`tests/proofs/test_no_message_loss.py` has the whole table.
"""

from __future__ import annotations

import pytest

import conformance.verify as verifying
from conformance.verify import ClaimRow, ExplorationRow, HistoricBugRow, overall
from specs.refinement import compose, refinement_proof
from specs.verdict import Verdict
from tests.planting import commits_alone


def quiet(_line: str) -> None:
    """No progress."""


def row(verdict: Verdict, expected: Verdict) -> ClaimRow:
    return ClaimRow("claim", "words", "classic", "kip_101", expected, {}, verdict)


def test_a_row_that_history_says_is_broken_is_as_expected() -> None:
    assert overall([row(Verdict.BROKEN, Verdict.BROKEN)]) is Verdict.HOLDS


def test_a_row_that_should_be_broken_and_holds_is_red() -> None:
    assert overall([row(Verdict.HOLDS, Verdict.BROKEN)]) is Verdict.BROKEN


@pytest.mark.parametrize("verdict", [Verdict.BROKEN, Verdict.UNKNOWN, Verdict.NOT_CHECKED])
def test_the_table_is_as_bad_as_its_worst_row(verdict: Verdict) -> None:
    rows = [row(Verdict.HOLDS, Verdict.HOLDS), row(verdict, Verdict.HOLDS)]

    assert overall(rows) is verdict


def test_an_empty_table_is_not_checked() -> None:
    assert overall([]) is Verdict.NOT_CHECKED


def test_an_exploration_answers_all_its_claims_and_counts_its_states_once() -> None:
    one = ExplorationRow("classic", "kip_101", {"log": 2, "records": 2, "epoch": 1},
                    ("strong_isr", "leader_in_isr"), broken=("strong_isr",))  # fmt: skip

    broken, holds = verifying._explored(one, quiet)

    assert (broken.verdict, broken.as_expected) == (Verdict.BROKEN, True)
    assert "insync find strong_isr classic --version kip_101" in broken.show
    assert (holds.verdict, holds.counts) == (Verdict.HOLDS, "")
    assert broken.distinct == holds.distinct == 59788


def test_a_finding_that_is_not_there_is_not_as_expected() -> None:
    found = verifying._find_bug(
        HistoricBugRow("strong_isr", "classic", "kip_320", {"epoch": 1}), quiet
    )

    assert found.verdict is not Verdict.BROKEN
    assert not found.as_expected


def test_the_refinement_is_no_result_as_long_as_the_form_is_not_proved() -> None:
    form = ClaimRow("no_message_loss", "words", "replication_history", "2.5", Verdict.HOLDS, {},
               Verdict.UNKNOWN)  # fmt: skip

    both = compose()
    refines = verifying._refines(form, both, refinement_proof(both), quiet)

    assert (refines.verdict, refines.as_expected) == (Verdict.NOT_CHECKED, False)
    assert refines.note == "no_message_loss of replication_history is not proved"


def test_lock_step_and_replay_are_red_for_a_faulty_implementation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    commits_alone(monkeypatch)

    in_step, replayed = verifying._in_step(30, quiet), verifying._replayed(10, quiet)

    assert in_step.verdict is replayed.verdict is Verdict.BROKEN
    assert "leader_advances_hw" in in_step.note


def test_no_seed_is_no_check() -> None:
    assert verifying._in_step(0, quiet).verdict is Verdict.NOT_CHECKED
    assert verifying._replayed(0, quiet).verdict is Verdict.NOT_CHECKED
