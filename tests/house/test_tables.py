"""Tables: whole in a pipe, fitted to a terminal, and no name ever broken."""

from __future__ import annotations

import pytest

from conformance.cli.common import fitted
from specs import rendering
from specs.rendering import TableLayout

COLUMNS = ["claim", "of", "verdict", "counts", "s"]
LONG = "no_message_loss", "replication 2.3 without lost_isr_answer_blocks"
CELLS = [
    [*LONG, "broken, as history says (17 steps)", "433,645 states", "0.1"],
    ["single_writer", "election 2.3", "holds", "", ""],
]


def printed(monkeypatch: pytest.MonkeyPatch, width: int | None) -> list[str]:
    monkeypatch.setattr(rendering, "terminal_width", lambda: width)
    return TableLayout(COLUMNS, CELLS, ["s"], ["of", "verdict", "counts"]).lines()


def test_a_pipe_gets_each_row_whole_on_one_line(monkeypatch):
    lines = printed(monkeypatch, None)

    assert len(lines) == 2 + len(CELLS)
    assert lines[2].split("  ") == [*CELLS[0][:4], "0.1"]


@pytest.mark.parametrize("width", range(50, 140))
def test_a_terminal_is_never_overrun_and_no_word_is_broken(monkeypatch, width):
    *lines, last = printed(monkeypatch, width)

    text = " ".join(lines)
    assert max(map(len, lines)) <= width
    assert "no_message_loss" in text
    assert "lost_isr_answer_blocks" in text or "of" in last
    assert "verdict" in lines[0]


def test_what_is_left_out_for_the_width_is_named(monkeypatch):
    lines = printed(monkeypatch, 50)

    assert "counts" not in lines[0]
    assert lines[-1] == (
        "(no room for: counts, s; see them in a wider terminal, a pipe, or with `--json -`)"
    )


@pytest.mark.parametrize("width", range(45, 120))
def test_a_sentence_stands_beside_its_row_or_below_it_and_never_in_a_sliver(monkeypatch, width):
    sentence = "always: per controller epoch at most one broker ever holds it, and writes"
    monkeypatch.setattr(rendering, "terminal_width", lambda: width)
    layout = TableLayout(
        ["claim", "sentence", "verdict"],
        [["the_owner_has_a_session", sentence, "holds"], ["single_writer", "short", "holds"]],
        prose=["sentence"],
    )

    lines = layout.lines()
    head = lines[0]
    del lines[: len(layout.head())]

    text = " ".join(" ".join(lines).split())
    assert not layout.left_out
    assert max(map(len, lines)) <= width
    if layout.below:
        assert "verdict" in head
        assert lines[0].endswith("holds")
        assert f"holds {sentence} single_writer holds short" in text
    else:
        assert next(one.width for one in layout.columns if one.name == "sentence") >= 32


PROSE = "  needs `insync find strong_isr replication --brokers 3` and a claim about what is lost"


@pytest.mark.parametrize("width", range(50, 90))
def test_prose_breaks_between_words_and_code_stays_whole(width):
    lines = fitted(PROSE, width).split("\n")

    assert " ".join(line.strip() for line in lines) == PROSE.strip()
    assert all(line.startswith("  ") for line in lines)
    assert sum("`insync find strong_isr replication --brokers 3`" in line for line in lines) == 1
    assert max(map(len, lines)) <= max(width, 54)


@pytest.mark.parametrize("line", ["a  row   of a table that is wider", "\x1b[31mred\x1b[0m " * 9])
def test_columns_and_colours_are_left_as_they_are(line):
    assert fitted(line, 20) == fitted(line, 45) == fitted(line, None) == line


def test_a_pipe_gets_prose_whole():
    assert fitted(PROSE, None) == PROSE
