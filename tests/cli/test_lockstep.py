"""`insync lockstep --all`: every system that it walks, in every release that it walks it in."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from conformance.cli.lockstep import RELEASES, lockstep

Answer = Callable[[str], tuple[int, dict[str, Any]]]


def test_all_walks_each_system_in_each_of_its_releases(answer: Answer, tmp_path: Path) -> None:
    """Short walks without faults: what is looked at is that all of them are made and counted."""
    noted = tmp_path / "lines.json"

    code, said = answer(f"lockstep --all --steps 20 --seeds 0..0 --faults none --coverage {noted}")

    walked = Counter(one["system"] for one in said["profiles"])
    assert (code, said["verdict"]) == (0, "holds")
    assert walked == {system: len(releases) for system, releases in RELEASES.items()}
    assert all(one["steps"] >= 20 and one["runs"] == 1 for one in said["profiles"])
    assert 0.3 < json.loads(noted.read_text())["share"] < 0.95


def test_any_release_can_be_walked(answer: Answer) -> None:
    code, said = answer(
        "lockstep --system cluster --version 0.11 --version 2.8 --steps 40 --seeds 0..0"
        " --faults lossy"
    )

    assert (code, [one["release"] for one in said["profiles"]]) == (0, ["0.11", "2.8"])


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("--version 3.0", "no release 3.0 from 0.10.0 to 2.8"),
        ("--version newest", "a release looks like 2.3 or 0.10.1"),
        ("--system cluster --version 0.10", "--system cluster begins with 0.11"),
    ],
)
def test_a_release_that_cannot_be_walked_is_refused_in_one_line(words: str, why: str) -> None:
    result = CliRunner().invoke(lockstep, words.split())

    assert result.exit_code == 64
    assert why in result.output
    assert len(result.output.splitlines()) == 1
