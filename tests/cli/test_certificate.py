"""`insync prove --certificate`: what a sceptic needs, who has none of this code."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import specs.smt2
from conformance.cli.main import main
from specs.smt2 import plain_question, proof_without_declarations

LINE = "prove single_controller --certificate"


def commands_on(page: str) -> list[str]:
    """What the page gives a reader to type, block by block."""
    return re.findall(r"^```sh\n(.*?)^```", page, re.MULTILINE | re.DOTALL)


def typed(command: str, where: Path) -> str:
    """What it prints there, with the programs that come with this Python."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(["bash", "-c", command], cwd=where, env={**os.environ, "PATH": path},
                          capture_output=True, text=True, check=False)  # fmt: skip
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> tuple[Result, Path]:
    """One certificate, for those who only read it."""
    where = tmp_path_factory.mktemp("proofs") / "certificate"
    return CliRunner().invoke(main, [*LINE.split(), str(where)]), where


def test_a_sceptic_types_what_the_page_says_and_sees_what_it_says(made, tmp_path):
    where = tmp_path / "certificate"
    shutil.copytree(made[1], where)
    sums, solvers, premises, _, frame = commands_on((where / "index.md").read_text())
    manifest = (where / "manifest.json").read_text()

    assert typed(sums, where) == ""
    assert typed(frame, where) == ""
    (where / "manifest.json").write_text(manifest.replace('"sent"', '"zk.epoch"'))
    assert "manifest.json: FAILED" in typed(sums, where)
    assert typed(frame, where).splitlines()[0].startswith("single_controller ")
    for more in sorted(where.glob("*/*.smt2"))[4:]:
        more.unlink()  # to type the rest takes a minute
    assert typed(solvers.splitlines()[0], where).split() == ["4", "unsat"]
    assert typed(premises, where).split() == ["4", "sat"]


def test_a_certificate_has_every_question_a_second_answer_its_proof_and_a_page(made):
    result, where = made
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


def a_checker(folder, answer: str):
    """A program that says so of every proof, and keeps what it was given."""
    made = folder / "checker"
    made.write_text(f"""#!/bin/sh
for one; do case "$one" in
  --reference=*) cat "${{one#--reference=}}" >> {folder}/references;;
  --*) echo "$one" >> {folder}/options;;
esac; done
cat >> {folder}/proofs
echo {answer}
""")
    made.chmod(0o755)
    return made


def test_each_proof_is_given_to_a_checker_with_the_question_that_it_answers(insync, tmp_path):
    command = f"'{a_checker(tmp_path, 'correct')} --include=Cpc.eo'"

    result = insync(f"{LINE} {tmp_path}/certificate --checker {command}")

    page = (tmp_path / "certificate" / "index.md").read_text()
    assert result.exit_code == 0
    assert "53 proofs are correct, 0 are not" in result.stdout
    assert "53 proofs are correct, 0 are not" in page
    assert "checker: correct" in page
    assert "pattern" not in (tmp_path / "references").read_text()
    assert (tmp_path / "references").read_text().count("(check-sat)") == 53
    assert (tmp_path / "options").read_text().count("--require-proof-of-false") == 53
    assert (tmp_path / "proofs").read_text().startswith("(define ")


def test_a_proof_that_is_not_found_correct_is_unknown(insync, tmp_path):
    command = f"{a_checker(tmp_path, 'incomplete')}"

    result = insync(f"{LINE} {tmp_path}/certificate --checker {command}")

    assert result.exit_code == 2
    assert "not found correct: " in result.stdout
    assert "0 proofs are correct, 53 are not" in result.stdout


def test_what_only_guides_a_solver_is_left_out_of_what_a_checker_compares():
    text = """; told
(assert (forall ((b |a broker|)) (! (=> (and (p b)) (! (q b) :weight 3)) :pattern ((p b)))))
"""

    assert plain_question(text) == "(assert (forall ((b |a broker|)) (=> (p b) (q b))))\n"


def test_a_proof_is_kept_without_what_its_question_declares():
    said = "(\n(declare-const p Bool)\n(assume @p1 p)\n(step @p2 false)\n)\n"

    assert proof_without_declarations(said) == "(assume @p1 p)\n(step @p2 false)\n"
