"""What the page for teachers names is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "for-teachers.md").read_text(encoding="utf-8")


def test_every_belief_is_refuted_by_a_story_that_exists():
    rows = [line for line in PAGE.splitlines() if line.startswith('| "')]

    named = [re.findall(r"`(\w+)`", row) for row in rows]

    assert len(rows) >= 12
    assert all(named)
    for story in {name for names in named for name in names}:
        assert (ROOT / "specs" / "stories" / f"{story}.story").is_file(), story


def test_every_file_that_a_command_names_exists():
    paths = re.findall(r"specs/stories/\w+\.story", PAGE.replace("NAME.story", ""))

    assert paths
    for path in paths:
        assert (ROOT / path).is_file(), path
