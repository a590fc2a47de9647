"""`insync new` writes files that run; docs/a-new-idea.md goes from an idea to a proof."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.scaffold import Edits, NotPossible, new_bug, new_claim, new_switch, new_system
from model.bugs import HISTORIC_BUGS

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "a-new-idea.md"
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXIT = re.compile(r"#\s*exit (\d+)\s*$")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The project's files, to be written to."""
    for folder in ("model", "specs", "conformance", "impl", "tests"):
        shutil.copytree(ROOT / folder, tmp_path / folder,
                        ignore=shutil.ignore_patterns("__pycache__", "data"))  # fmt: skip
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def ran(checkout: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(checkout), "PYTHONSAFEPATH": "1"}
    return subprocess.run([sys.executable, *words], cwd=checkout, env=environment, text=True,
                          capture_output=True, check=False, timeout=300)  # fmt: skip


def test_a_new_system_passes_the_test_that_comes_with_it_and_the_linter(checkout: Path):
    edits = Edits(checkout)
    new_system(edits, "lease", "who may write, by leases")
    written = edits.write()

    tested = ran(checkout, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider",
                 "tests/lease/test_lease.py")  # fmt: skip
    python = [one for one in written if one.endswith(".py")]
    linted = ran(checkout, "-m", "ruff", "check", *python)

    assert tested.returncode == 0, tested.stdout + tested.stderr
    assert linted.returncode == 0, linted.stdout


def test_a_claim_imports_the_words_that_it_uses_and_brings_its_companion(checkout: Path):
    edits = Edits(checkout)
    new_claim(edits, "one_session", "election", "somebody has a session, or nobody",
              "every(BROKERS, lambda b: any_of(now.session[b], not_(now.session[b])))",
              "nobody_is_there", "not_(some(BROKERS, lambda b: now.session[b]))")  # fmt: skip
    edits.write()

    text = (checkout / "model" / "election" / "claims.py").read_text(encoding="utf-8")
    names = text.split("from model.language import", 1)[1].split("\n\n", 1)[0]
    assert {"any_of", "every", "not_", "some"} <= set(re.findall(r"\w+", names))
    loaded = ran(checkout, "-c", "from model.election import SYSTEM; "
                 "print([one.name for one in SYSTEM.claims][-2:])")  # fmt: skip
    assert loaded.stdout.strip() == "['one_session', 'nobody_is_there']", loaded.stderr


def test_a_switch_has_the_old_value_before_its_release_and_the_new_one_since(checkout: Path):
    edits = Edits(checkout)
    new_switch(edits, "my_fix", "election", "it is so", "MY-1", ["false", "true"], "2.1")
    edits.write()

    result = ran(checkout, "-c", "from model.election import SYSTEM; print("
               "[SYSTEM.version(one).switches['my_fix'] for one in ('2.0', '2.1')])")  # fmt: skip
    assert result.stdout.strip() == "[False, True]", result.stderr


def test_a_bug_becomes_the_next_entry_of_the_zoo(checkout: Path):
    edits = Edits(checkout)
    new_bug(edits, "MY-1", "a late write lands", "2.1", "election", "single_writer", "2.3",
            {"zk_writes_fenced": False}, {"writes": 1})  # fmt: skip
    edits.write()

    result = ran(checkout, "-c", "from model.bugs import entry; one = entry('my-1'); "
               "print(one.number, one.shown.claim, dict(one.shown.reverted))")  # fmt: skip
    entered = f"{len(HISTORIC_BUGS) + 1} single_writer {{'zk_writes_fenced': False}}"
    assert result.stdout.strip() == entered, result.stderr


@pytest.mark.parametrize(
    ("write", "why"),
    [
        (lambda e: new_system(e, "Lease", "x"), "'Lease' is no name of a system"),
        (lambda e: new_system(e, "election", "x"), "election is a system already"),
        (lambda e: new_system(e, "class", "x"), "'class' is no name of a system"),
        (lambda e: new_switch(e, "broker_epoch", "election", "x", "y", ["false", "true"], None),
         "broker_epoch is a switch already"),
        (lambda e: new_switch(e, "mine", "election", "x", "y", ["true"], None),
         "a switch has two values or more"),
        (lambda e: new_switch(e, "mine", "election", "x", "y", ["false", "true"], "2.2"),
         "2.2 is no release here: one of 0.10, "),
        (lambda e: new_switch(e, "mine", "classic", "x", "y", ["false", "true"], None),
         "there is no tuple _SWITCHES"),
        (lambda e: new_claim(e, "a", "election", "x", "every(", "b", "now.x"),
         "the formula is no expression"),
        (lambda e: new_claim(e, "single_writer", "election", "x", "now.x", "b", "now.x"),
         "single_writer is a claim of election already"),
        (lambda e: new_bug(e, "KIP-101", "x", "y", "election", "c", "2.3", {"a": False}, {}),
         "KIP-101 is a historic bug already"),
        (lambda e: new_bug(e, "MY-1", "x", "y", "election", "c", "2.3", {}, {}),
         "name what is reverted"),
    ],
)  # fmt: skip
def test_what_cannot_be_added_is_refused_and_nothing_is_written(write, why, tmp_path):
    edits = Edits(ROOT)

    with pytest.raises(NotPossible) as refused:
        write(edits)

    assert why in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.deep
def test_the_page_goes_from_an_idea_to_a_proof_as_it_tells(checkout: Path):
    """Every command ends as the page says, with the files as the page has them."""
    for kind, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if kind == "python":
            put(checkout, text)
            continue
        for line in text.splitlines():
            stated = EXIT.search(line)
            words = re.findall(r'"([^"]*)"|(\S+)', line.split("#")[0])
            done = ran(checkout, "-m", "conformance.cli", *[a or b for a, b in words][1:])
            assert done.returncode == (int(stated[1]) if stated else 0), (line, done.stdout,
                                                                         done.stderr)  # fmt: skip
    tested = ran(checkout, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "tests/lease")
    typed = ran(checkout, "-m", "mypy", "model/lease", "specs/proofs/lease.py", "tests/lease")
    assert tested.returncode == 0, tested.stdout
    assert typed.returncode == 0, typed.stdout


def put(checkout: Path, text: str) -> None:
    """A block whose first line names a file is that file; with a function, that function in it."""
    first, _, body = text.partition("\n")
    path, _, function = first.removeprefix("# ").partition(": ")
    file = checkout / path
    if not function:
        file.write_text(body, encoding="utf-8")
        return
    whole = file.read_text(encoding="utf-8")
    start = whole.rindex("@transition", 0, whole.index(f"def {function}("))
    end = whole.find("\n@", start + 1)
    file.write_text(whole[:start] + body + (whole[end:] if end > 0 else ""), encoding="utf-8")
