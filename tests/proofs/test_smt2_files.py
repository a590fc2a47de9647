"""The files of the larger proof, answered by cvc5 alone: none of this project's code between."""

from __future__ import annotations

import json

import pytest

from model.replication.history import SYSTEM as HISTORY
from specs.proofs.no_message_loss import PROOF as NO_MESSAGE_LOSS
from specs.prover import prove
from specs.smt2 import MANIFEST, Smt2Folder
from specs.verdict import Verdict
from tests.proofs.test_solvers import by_cvc5_alone


def unanswered(where, steps=None):
    """Writes the questions of these steps (None: of all), and asks cvc5 for each file."""
    folder = Smt2Folder(where)
    folder.of(NO_MESSAGE_LOSS)
    result = prove(NO_MESSAGE_LOSS, HISTORY.recorded(), steps=steps, export=folder.add)
    folder.proved(result)
    made = folder.close()
    manifest = json.loads((made / MANIFEST).read_text())
    files = [
        file["file"]
        for one in manifest["claims"][0]["obligations"]
        for file in one["files"]
    ]  # fmt: skip
    return result, files, [n for n in files if by_cvc5_alone((made / n).read_text()) != ["unsat"]]


def test_the_files_of_one_step_are_answered_by_cvc5_alone(tmp_path):
    result, files, open_ = unanswered(tmp_path / "one", steps=["leader_sends_hw"])

    assert result.open == []
    assert files
    assert open_ == []


@pytest.mark.deep
def test_the_files_of_every_obligation_are_answered_by_cvc5_alone(tmp_path):
    result, files, open_ = unanswered(tmp_path / "all")

    assert result.verdict is Verdict.HOLDS
    assert len(files) >= result.solver_calls
    assert open_ == []
