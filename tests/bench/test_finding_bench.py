"""The bench of finding invariants: what it leaves out, and what it says."""

from __future__ import annotations

import pytest

from specs.proofs.single_controller import PROOF
from tests.bench.finding import left_out, main


def test_each_invariant_is_left_out_in_turn_or_several_of_a_seed():
    names = [one.name for one in PROOF.invariants]

    assert list(left_out(PROOF, 1, 0, None)) == [[name] for name in names]
    (some,) = left_out(PROOF, 5, 3, 1)
    assert len(set(some) & set(names)) == 5
    assert [some] == list(left_out(PROOF, 5, 3, 1)) != list(left_out(PROOF, 5, 4, 1))


@pytest.mark.deep
def test_a_row_says_what_was_found_again(capsys):
    assert main(["single_controller", "--seed", "3", "--times", "1"]) == 0

    assert "1 of 1 found again" in capsys.readouterr().out
