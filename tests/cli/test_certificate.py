"""`insync prove --certificate`: what a sceptic needs, who has none of this code."""

from __future__ import annotations

import gzip
import hashlib
import json
import re

import pytest

import specs.smt2

LINE = "prove single_controller --certificate"


def test_a_certificate_has_every_question_a_second_answer_its_proof_and_a_page(insync, tmp_path):
    result = insync(f"{LINE} {tmp_path}/certificate")

    where = tmp_path / "certificate"
    manifest = json.loads((where / "manifest.json").read_text())
    obligations = manifest["claims"][0]["obligations"]
    files = [entry for one in obligations for entry in one["files"]]
    page = (where / "index.md").read_text()
    assert result.exit_code == 0
    assert "to be read first" in result.stdout
    assert files
    for entry in files:
        text = (where / entry["file"]).read_bytes()
        assert hashlib.sha256(text).hexdigest() == entry["sha256"]
        assert entry["cvc5"] == "proved"
        assert b"assume" in gzip.decompress((where / entry["proof"]).read_bytes())
        assert entry["file"] in page
    rows = re.findall(r"^\| `[^`]+` \| .+ \| (.+) \| .+ \|$", page, re.MULTILINE)
    assert len(rows) == len(obligations) == 183
    assert set(rows) == {"the frame rule", "z3: proved, cvc5: proved"}


def test_a_file_that_the_second_solver_does_not_answer_is_unknown(insync, tmp_path, monkeypatch):
    monkeypatch.setattr(specs.smt2, "proof_of_cvc5", lambda text: ("unknown", None))

    result = insync(f"{LINE} {tmp_path}/certificate")

    assert result.exit_code == 2
    assert "not proved by cvc5: " in result.stdout
    assert "cvc5: unknown" in (tmp_path / "certificate" / "index.md").read_text()


def test_without_the_second_solver_the_page_says_so(insync, tmp_path, monkeypatch):
    monkeypatch.setattr(specs.smt2, "has_cvc5", lambda: False)

    result = insync(f"{LINE} {tmp_path}/certificate")

    assert result.exit_code == 0
    assert "there is no second opinion in it" in result.stdout
    assert "answered by Z3 alone" in (tmp_path / "certificate" / "index.md").read_text()


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("--smt2 one --certificate other", "give one of the two"),
        ("--chain --certificate other", "--certificate does not go with --chain"),
    ],
)
def test_what_does_not_go_together_is_wrong_use(line, why, insync):
    result = insync(f"prove {line}")

    assert result.exit_code == 64
    assert why in result.output


def test_a_folder_that_is_not_empty_is_left_alone(insync, tmp_path):
    (tmp_path / "mine").write_text("mine")

    result = insync(f"{LINE} {tmp_path}")

    assert result.exit_code == 64
    assert "--certificate" in result.output
    assert (tmp_path / "mine").read_text() == "mine"
