"""What is installed is pinned, hashed, and the same wherever it comes from."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
LOCK = (ROOT / "requirements.lock").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def locked() -> dict[str, list[str]]:
    """The lines of each pinned requirement, the pin itself first."""
    blocks: dict[str, list[str]] = {}
    for line in LOCK.splitlines():
        if line.startswith("    "):
            blocks[next(reversed(blocks))].append(line.strip(" \\"))
        else:
            blocks[line.strip(" \\")] = []
    return blocks


def test_every_requirement_is_one_exact_version_with_hashes():
    unpinned = [pin for pin in locked() if not re.match(r"[a-z0-9-]+==[\w.]+( ;.*)?$", pin)]
    unhashed = [
        pin
        for pin, lines in locked().items()
        if not any(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", line) for line in lines)
    ]

    assert len(locked()) > 20
    assert unpinned == []
    assert unhashed == []


def test_the_lock_names_no_registry():
    assert re.findall(r"\S*://\S*|--\S*index\S*|--find-links", LOCK) == []


def test_what_the_project_asks_for_is_what_the_lock_holds():
    extras = PROJECT["optional-dependencies"].values()
    asked = [*PROJECT["dependencies"], *(text for extra in extras for text in extra)]
    pins = [Requirement(pin) for pin in locked()]

    unmet = [
        text
        for text in asked
        if not any(
            pin.name == Requirement(text).name
            and Requirement(text).specifier.contains(str(pin.specifier).removeprefix("=="))
            for pin in pins
        )
    ]

    assert unmet == [], (
        "run: .venv/bin/uv pip compile --universal --generate-hashes --no-header "
        "--python-version 3.11 --all-extras pyproject.toml -o requirements.lock"
    )
