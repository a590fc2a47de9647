"""Diagrams of lessons: what each line draws, and what a line that cannot be read is answered."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from conformance.web.diagram import WIDTH, DiagramError, diagram, on_paper
from conformance.web.lessons import Lesson, LessonError, lessons

LOGS = "logs A record is cut\n* broker 1: m1@0 m2@1 | m3@1\nbroker 2: m1@0 | ~m2@1 . \n"
MESSAGES = (
    "messages It comes late\nbroker 2 -> broker 1: fetch at 1\nbroker 1 -x broker 2: HW 1\n"
    "broker 1 ..> broker 2: HW 2\nbroker 1: <crashes>\n--- later\nbroker 2: cuts\n"
)
STATES = "states A replica\nOnline -> Offline: it stops\nOffline => Online: it starts\n"


@pytest.mark.parametrize("text", [LOGS, MESSAGES, STATES])
def test_a_diagram_is_well_formed_and_lies_within_its_frame(text: str) -> None:
    svg = re.search(r"<svg.*</svg>", diagram(text), re.DOTALL)
    assert svg is not None
    root = ElementTree.fromstring(svg[0])
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    assert width == WIDTH
    for box in root.iter("rect"):
        x, y, w, h = (float(box.attrib[name]) for name in ("x", "y", "width", "height"))
        assert x >= 0
        assert y >= 0
        assert x + w <= width
        assert y + h <= height


def test_records_are_coloured_by_epoch_and_what_was_cut_is_marked() -> None:
    drawn = diagram(LOGS)
    assert drawn.count('class="e0"') == 2
    assert drawn.count('class="e1"') == 2
    assert 'class="e1 cut"' in drawn
    assert drawn.count(">HW<") == 2
    assert drawn.count(">leads<") == 1


def test_messages_arrive_are_lost_and_come_late_each_in_its_own_look() -> None:
    drawn = diagram(MESSAGES)
    assert [drawn.count(f'class="{look}"') for look in ("sent", "lost", "late", "lane")] == [
        1,
        1,
        1,
        2,
    ]
    assert "&lt;crashes&gt;" in drawn
    assert "<crashes>" not in drawn


def test_a_reader_who_does_not_see_it_hears_its_lines() -> None:
    said = re.search('aria-label="([^"]*)"', diagram(LOGS))
    assert said is not None
    assert "broker 2: m1 of epoch 0 high watermark cut: m2 of epoch 1" in said[1]


def test_on_paper_its_lines_stand_under_its_caption() -> None:
    assert on_paper(STATES).startswith("*A replica*\n\n```\nOnline -> Offline")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("picture of it\n", 0, "begin with logs, messages or states"),
        ("logs\nbroker 1: m1@0", 0, "what the diagram shows"),
        ("logs nothing\n", 0, "a line for each log"),
        ("logs a\nbroker 1 m1@0", 1, "write who, then its records"),
        ("logs a\nbroker 1: m1", 1, "name@epoch"),
        ("messages a\nbroker 1 -> broker 1: hello", 1, "from one to another"),
        ("messages a\nbroker 1 to broker 2", 1, "broker 1 -> broker 2: fetch"),
        ("states a\nOnline, Offline", 1, "Online -> Offline"),
        ("states a\nOnline -> Online: again", 1, "from one state to another"),
    ],
)
def test_what_cannot_be_drawn_is_named_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(DiagramError, match=re.escape(words)) as raised:
        diagram(text)
    assert raised.value.line == line


def test_each_lesson_has_a_diagram() -> None:
    assert [one.number for one in lessons() if not list(one.of("diagram"))] == []


def test_a_lesson_says_in_which_line_its_diagram_is_wrong() -> None:
    lesson = Lesson(Path("l.md"), 1, "t", "# 1. t\n\n```diagram\nlogs a\nbroker 1: what\n```\n")
    assert lesson.check()[0].startswith("l.md:5: 'what'")
    with pytest.raises(LessonError, match=r"l\.md:5"):
        lesson.drawn(lesson.blocks[0])
