"""A run that was found is kept as a story, and shown in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from conformance.cli.main import main


def insync(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


def test_a_found_run_is_kept_as_a_story_that_plays(tmp_path: Path):
    kept = tmp_path / "lost.story"

    found = insync(
        "find", "strong_isr", "classic", "--version", "kip_101", "--save-story", str(kept)
    )

    assert found.exit_code == 1
    assert insync("story", str(kept)).exit_code == 0


def test_a_bug_of_the_zoo_is_kept_too(tmp_path: Path):
    kept = tmp_path / "bug.story"

    insync("zoo", "KAFKA-532", "--save-story", str(kept))

    assert insync("story", str(kept)).exit_code == 0


def test_where_nothing_is_found_nothing_is_written(tmp_path: Path):
    kept = tmp_path / "none.story"

    found = insync("find", "strong_isr", "classic", "--brokers", "2", "--save-story", str(kept))

    assert "there is no run to keep" in found.output
    assert not kept.exists()


def test_a_found_run_is_opened_in_the_browser(monkeypatch: pytest.MonkeyPatch):
    served: list[dict[str, Any]] = []
    monkeypatch.setattr(
        "conformance.cli.play.serve", lambda opened, port, opens: served.append(opened)
    )

    found = insync("find", "strong_isr", "classic", "--version", "hw_truncation", "--open")

    assert found.exit_code == 1
    assert served[0]["heading"].startswith("system classic version hw_truncation brokers 3")
    assert len(served[0]["lines"]) == 8


@pytest.mark.parametrize(
    "words, why",
    [
        (
            ("find", "strong_isr", "classic", "--save-story", "no/x.story"),
            "there is no such folder",
        ),
        (("zoo", "--quick", "--save-story", "x.story"), "keep one run"),
    ],
)
def test_what_cannot_be_kept_is_refused_before_the_search(words: tuple[str, ...], why: str):
    refused = insync(*words)

    assert refused.exit_code == 64
    assert why in refused.output
