"""A run as a page, a picture or a text."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from conformance.cli.main import main
from conformance.web.board import board
from conformance.web.cards import letter_label
from conformance.web.explain import frames_of
from conformance.web.messages import sentence as in_words
from conformance.web.run_files import read_run
from tests.cli.conftest import command as insync

STORIES = Path(__file__).resolve().parents[2] / "specs" / "stories"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("run") / "run.json"
    insync("find", "strong_isr", "classic", "--version", "kip_101", "--json", str(path))
    return path


def test_a_found_run_is_reported_step_by_step_with_the_claim_that_breaks(run: Path):
    done = insync("explain", str(run))

    assert done.exit_code == 0
    steps = json.loads(run.read_text())["steps"]
    assert len(re.findall(r"^\d+\. ", done.output, re.MULTILINE)) == len(steps)
    assert "claim **strong_isr** breaks here" in done.output


def test_a_page_fetches_nothing_and_is_small(run: Path, tmp_path: Path):
    out = tmp_path / "run.html"

    insync("explain", str(run), "--out", str(out))

    text = out.read_text()
    assert not re.search(r"""(?:src|href)=["'](?!#)""", text)
    assert len(text) < 1_000_000
    assert "window.FROZEN=" in text


def test_a_picture_is_well_formed_and_has_a_row_for_every_state(run: Path, tmp_path: Path):
    out = tmp_path / "run.svg"

    insync("explain", str(run), "--out", str(out))

    texts = [node.text or "" for node in ET.parse(out).iter("{http://www.w3.org/2000/svg}text")]
    assert (
        sum(bool(re.match(r"\d+  \w", text)) for text in texts)
        == len(json.loads(run.read_text())["steps"]) + 1
    )


@pytest.mark.parametrize("story", sorted(STORIES.rglob("*.story")), ids=lambda path: path.stem)
def test_every_story_can_be_explained(story: Path):
    assert insync("explain", str(story)).exit_code == 0


def test_a_picture_tells_each_message_in_words(tmp_path: Path):
    out = tmp_path / "m2.svg"
    run = read_run(STORIES / "m2_is_lost.story")

    insync("explain", str(STORIES / "m2_is_lost.story"), "--out", str(out))

    titles = {node.text for node in ET.parse(out).iter("{http://www.w3.org/2000/svg}title")}
    frames = frames_of(board(run.heading), run.lines)
    arrows = [in_words(one, f.picture) for f in frames for one in f.picture["messages"]]
    assert arrows
    assert set(arrows) <= titles


@pytest.mark.parametrize(
    "content, why",
    [
        ("", "is empty"),
        ("not json", ":1: is no JSON"),
        pytest.param("[" * 100_000, ":1: is no JSON", id="nested too deep"),
        ("{}", "holds no run"),
        ('{"system": "clasic", "version": "x", "steps": [{}]}', "did you mean 'classic'"),
        ('{"system": "classic", "version": "kip_320", "steps": [{}]}', "lacks 'step'"),
    ],
)
def test_a_file_without_a_run_is_refused_with_what_would_be_one(
    content: str, why: str, tmp_path: Path
):
    path = tmp_path / "x.json"
    path.write_text(content)

    result = insync("explain", str(path))

    assert result.exit_code == 64
    assert why in result.output
    assert len(result.output.strip().splitlines()) == 1


def test_a_sequence_diagram_has_a_note_for_every_step_and_arrows_for_messages(
    run: Path, tmp_path: Path
):
    out = tmp_path / "run.mmd"

    insync("explain", str(run), "--out", str(out))

    lines = out.read_text().splitlines()
    steps = json.loads(run.read_text())["steps"]
    numbered = [line for line in lines if re.search(r": \d+ \w+\(", line)]
    assert lines[0] == "sequenceDiagram"
    assert len(numbered) == len(steps)
    assert any(re.match(r"    controllers-\)b\d: LeaderAndIsr", line) for line in lines)
    assert any(re.match(r"    b\d-->>b\d: Fetch", line) for line in lines)
    assert lines[-1] == "    Note over zookeeper: strong_isr breaks"
    assert not any(";" in line or "#" in line for line in lines)


def test_a_run_becomes_a_test_that_passes_and_fails_where_the_run_is_another(
    run: Path, tmp_path: Path
):
    out = tmp_path / "test_run.py"
    insync("explain", str(run), "--out", str(out))
    whole = out.read_text()

    assert played(whole) == 0

    *before, last = [line for line in whole.splitlines() if line.startswith('    "')]
    assert before
    assert played(whole.replace(last + "\n", "")) == 1


def played(text: str) -> int:
    """Runs the one test of a module: 0 if it passes, 1 if its assertion fails."""
    module: dict[str, Any] = {}
    exec(compile(text, "test_run.py", "exec"), module)
    test = next(value for name, value in module.items() if name.startswith("test_"))
    try:
        test()
    except AssertionError:
        return 1
    return 0


def test_a_story_becomes_cards_in_another_order_and_a_key_that_puts_them_right(tmp_path: Path):
    out = tmp_path / "cards.html"

    result = insync("explain", str(STORIES / "m2_is_lost.story"), "--cards", "--out", str(out))

    text = out.read_text()
    printed = re.findall(r"<li><b>([A-Z]+)</b><b>(\w+\([^<]*)</b>", text)
    key = re.search(r"class='key'>.*?<p>([A-Z ]+)</p>", text)
    run = read_run(STORIES / "m2_is_lost.story")
    assert result.exit_code == 0
    assert key is not None
    by_letter = dict(printed)
    in_order = [by_letter[letter] for letter in key[1].split()]
    steps = [frame.label for frame in frames_of(board(run.heading), run.lines)[1:]]
    assert in_order == steps
    assert [label for _, label in printed] != steps
    assert "isr_holds_committed breaks" in text
    assert not re.search(r"""(?:src|href)=""", text)


@pytest.mark.parametrize(
    "number, name", [(0, "A"), (25, "Z"), (26, "AA"), (27, "AB"), (702, "AAA")]
)
def test_cards_are_lettered(number: int, name: str):
    assert letter_label(number) == name


def test_a_claim_chooses_among_runs_and_a_story_is_only_one():
    story = "specs/stories/m2_is_lost.story"

    result = CliRunner().invoke(main, ["explain", story, "--claim", "nope"])

    assert result.exit_code == 64
    assert "a story is one run; leave --claim nope out" in result.stderr


def test_a_page_to_embed_says_what_to_put_into_a_page_of_ones_own(tmp_path: Path):
    out = tmp_path / "lost.html"

    done = insync("explain", str(STORIES / "m2_is_lost.story"), "--embed", "--out", str(out))

    assert done.exit_code == 0
    assert '<iframe src="lost.html" title="' in done.output
    assert not re.search(r"""(?:src|href)=["'](?!#)""", out.read_text())


@pytest.mark.parametrize("words", [["--out", "x.svg"], [], ["--out", "x.html", "--cards"]])
def test_what_cannot_be_embedded_is_refused_with_what_can(words: list[str]):
    done = insync("explain", str(STORIES / "m2_is_lost.story"), "--embed", *words)

    assert done.exit_code == 64
    assert "--embed --out FILE.html" in done.output
