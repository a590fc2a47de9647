"""No file of the project knows the machine that it was written on."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# In pieces, so that this file does not find itself.
HOMES = "|".join(["wo" + "rk", "ro" + "ot", "tm" + "p", "ho" + "me", "Us" + "ers"])
MACHINE_PATH = re.compile(r"(?<![\w.*})-])/(?:" + HOMES + r")/[\w.-]+")


def tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("not a git checkout, so nothing says which files are the project's")
    return [ROOT / name for name in listed.stdout.split("\0") if name]


def test_no_tracked_file_names_a_path_of_one_machine():
    found = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in tracked()
        if path.is_file()
        for match in MACHINE_PATH.finditer(path.read_text(encoding="utf-8", errors="replace"))
    ]

    assert found == []


def test_the_search_would_find_one():
    planted = "/".join(["see ", "tm" + "p", "x.log"])

    assert MACHINE_PATH.search(planted)


# A merge that was committed with its conflict still in the text; prose has no gate that would fail.
CONFLICT = re.compile(r"^(?:<{7}|>{7}|\|{7})(?: |$)", re.MULTILINE)


def test_no_tracked_file_has_a_conflict_left_by_a_merge():
    found = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in tracked()
        if path.is_file()
        for match in CONFLICT.finditer(path.read_text(encoding="utf-8", errors="replace"))
    ]

    assert found == []
    assert CONFLICT.search("before\n" + "<" * 7 + " HEAD\n")


def test_the_licence_is_whole():
    text = (ROOT / "LICENSE").read_text()

    assert "Apache License" in text
    assert "APPENDIX: How to apply the Apache License to your work." in text
    assert "Copyright 2026 The insync authors" in text
    assert "[yyyy]" not in text
