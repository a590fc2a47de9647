"""`insync lockstep --all`: every system that it walks, in every release that it walks it in."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from conformance.cli.lockstep import RELEASES

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
