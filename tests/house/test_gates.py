"""The gates of `insync test` can fail: each test shows them a fault and watches."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from conformance.cli import main
from conformance.cli import test as insync_test

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("model", "specs", "impl", "conformance")
FORBIDDEN = [
    ("model", "specs"),
    ("model", "impl"),
    ("model", "conformance"),
    ("specs", "impl"),
    ("specs", "conformance"),
    ("impl", "model"),
    ("impl", "specs"),
    ("impl", "conformance"),
]
PASSING = "def test_it():\n    assert True\n"
FAILING = "def test_it():\n    assert False\n"
HANGING = "import time\n\ndef test_it():\n    time.sleep(600)\n"
DEEP = "import pytest\n\n@pytest.mark.deep\ndef test_it():\n    assert False\n"


class Checkout:
    """A tiny checkout with one test file, on which `insync test` runs with one gate."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "tests").mkdir()
        shutil.copy(ROOT / "pyproject.toml", folder)
        shutil.copy(ROOT / "tests" / "conftest.py", folder / "tests")

    def insync_test(self, test: str, *args: str, workers: int = 0) -> Result:
        (self.folder / "tests" / "test_it.py").write_text(test)
        line = ["test", "-p", "no:cacheprovider", "-n", str(workers), *args]
        return CliRunner().invoke(main, line)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    monkeypatch.setattr(insync_test, "ROOT", tmp_path)
    gate = {"gate": [sys.executable, "-c", "import os; exit(os.path.exists('fault'))"]}
    monkeypatch.setattr(insync_test, "gates", lambda: gate)
    return Checkout(tmp_path)


def test_all_green_is_exit_0_and_every_stage_has_a_time(checkout: Checkout, tmp_path: Path):
    result = checkout.insync_test(PASSING, "--json", str(tmp_path / "stages.json"))

    report = json.loads((tmp_path / "stages.json").read_text())
    assert result.exit_code == 0
    assert [(stage["stage"], stage["verdict"]) for stage in report["stages"]] == [
        ("gate", "holds"),
        ("tests", "holds"),
    ]
    assert all(stage["seconds"] > 0 for stage in report["stages"])


def test_a_gate_that_fails_is_named_and_the_tests_run_all_the_same(checkout: Checkout):
    (checkout.folder / "fault").touch()

    result = checkout.insync_test(PASSING)

    assert result.exit_code == 1
    assert "insync test: not passed: gate\n" in result.stderr
    assert "tests          passed" in result.stdout


@pytest.mark.parametrize(
    ("test", "args", "code"),
    [
        (FAILING, [], 1),
        ("", [], 3),
        (PASSING, ["--no-such-option"], 64),
        (PASSING, ["-k", "nothing"], 3),
        (DEEP, [], 0),
        (DEEP, ["--deep"], 1),
    ],
)
def test_what_pytest_says_becomes_the_exit_code(
    checkout: Checkout, test: str, args: list[str], code: int
):
    assert checkout.insync_test(test, *args).exit_code == code


def test_a_test_that_hangs_is_ended_and_named(
    checkout: Checkout, capfd: pytest.CaptureFixture[str]
):
    limits = ["-o", "faulthandler_timeout=1", "--max-worker-restart", "0"]

    result = checkout.insync_test(HANGING, *limits, workers=1)

    shown = capfd.readouterr()
    assert result.exit_code == 1
    assert "tests/test_it.py::test_it" in shown.out
    assert "in test_it" in shown.out + shown.err


def test_without_a_checkout_there_is_nothing_to_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(insync_test, "ROOT", tmp_path)

    result = CliRunner().invoke(main, ["test"])

    assert result.exit_code == 64
    assert "clone it" in result.stderr


def arrows(folder: Path, imports: list[tuple[str, str]]) -> int:
    """The exit code of the import gate on four empty packages with these imports."""
    shutil.copy(ROOT / "pyproject.toml", folder)
    for package in PACKAGES:
        (folder / package).mkdir()
        lines = [f"import {imported}\n" for importer, imported in imports if importer == package]
        (folder / package / "__init__.py").write_text("".join(lines))
    command = insync_test.gates()["import arrows"]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode


def test_the_allowed_import_arrows_pass(tmp_path: Path):
    allowed = [("specs", "model"), *(("conformance", name) for name in PACKAGES[:3])]

    assert arrows(tmp_path, allowed) == 0


@pytest.mark.parametrize("arrow", FORBIDDEN, ids="->".join)
def test_a_forbidden_import_arrow_fails(tmp_path: Path, arrow: tuple[str, str]):
    assert arrows(tmp_path, [arrow]) == 1
