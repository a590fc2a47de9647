"""The lessons: stories play, questions have one answer, commands do as they say."""

from __future__ import annotations

import html
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.cli.main import COMMANDS, main
from conformance.web.lessons import (
    Lesson,
    LessonError,
    index_page,
    lesson_page,
    lessons,
    read_lesson,
)
from specs.grading import exercises

LESSONS = lessons()
ROOT = Path(__file__).resolve().parents[2]


def commands(lesson: Lesson) -> list[tuple[str, int]]:
    found = []
    for block in lesson.of("sh"):
        for line in block.text.replace("\\\n", " ").splitlines():
            command, _, remark = line.partition("#")
            code = re.search(r"exit (\d+)", remark)
            if command.strip().startswith("insync "):
                found.append((command.strip(), int(code[1]) if code else 0))
    return found


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_lesson_tells_what_the_model_does(lesson: Lesson):
    assert lesson.stories
    assert lesson.check() == []


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_lesson_asks_before_it_tells(lesson: Lesson):
    assert lesson.questions
    assert lesson.blocks[0].kind == "predict"


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_lesson_predicts_steps_breaks_repairs_and_claims(lesson: Lesson):
    parts = {"Step", "Break", "Repair", "Claim"}

    reported = {
        line.removeprefix("## ") for line in lesson.text.splitlines() if line.startswith("## ")
    }

    assert lesson.questions
    assert parts <= reported


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_lesson_is_a_page_whose_stories_can_be_played(lesson: Lesson):
    page = lesson_page(lesson)

    assert page.count('class="play"') == len(lesson.stories)
    assert page.count('data-right="yes"') == len(lesson.questions)
    assert lesson.title in index_page()


WITH_COMMANDS = [lesson for lesson in LESSONS if commands(lesson)]


def test_most_lessons_show_commands():
    assert len(WITH_COMMANDS) > len(LESSONS) / 2


@pytest.mark.parametrize("lesson", WITH_COMMANDS, ids=lambda lesson: lesson.name)
def test_the_commands_of_a_lesson_are_commands(lesson: Lesson):
    for command, _ in commands(lesson):
        assert shlex.split(command)[1] in COMMANDS


@pytest.mark.deep
@pytest.mark.parametrize("lesson", WITH_COMMANDS, ids=lambda lesson: lesson.name)
def test_the_commands_of_a_lesson_end_as_it_says(
    lesson: Lesson, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for name in ("specs", "tests"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)

    for command, code in commands(lesson):
        if command.startswith("insync kafka"):
            continue  # tests/kafka/test_real_kafka.py: it needs releases of Kafka
        result = CliRunner().invoke(main, shlex.split(command)[1:])

        assert result.exit_code == code, f"{command}\n{result.output}"


def written(folder: Path, text: str) -> Path:
    path = folder / "01-x.md"
    path.write_text(text)
    return path


def test_a_lesson_without_a_number_is_refused_with_what_it_begins_with(tmp_path: Path):
    with pytest.raises(LessonError, match=r"01-x\.md:1: a lesson begins with # NUMBER\. TITLE"):
        read_lesson(written(tmp_path, "Hello\n"))


@pytest.mark.parametrize("answers", ["+ a\n", "- a\n- b\n", "+ a\n+ b\n", "a\n+ b\n", ""])
def test_a_question_without_one_right_answer_is_refused_with_its_line(tmp_path: Path, answers: str):
    path = written(tmp_path, f"# 1. X\n\n```predict\nWhat?\n{answers}```\n")

    with pytest.raises(LessonError, match=r"01-x\.md:4: write a question"):
        _ = read_lesson(path).questions


def test_a_story_that_tells_something_else_is_reported_with_its_line(tmp_path: Path):
    story = "# A.\nsystem classic\n\nshow next_epoch\n----\nnext_epoch: 7\n"

    wrong = read_lesson(written(tmp_path, f"# 1. X\n\n```story\n{story}```\n")).check()

    assert [line.partition(": ")[2] for line in wrong] == ["the story shows something else"]


def test_markup_in_a_lesson_stays_text(tmp_path: Path):
    path = written(tmp_path, "# 1. X\n\n<script>alert(1)</script>\n")

    assert "<script>alert" not in lesson_page(read_lesson(path))


def test_a_wrong_answer_without_its_reason_is_refused_with_its_line(tmp_path: Path):
    path = written(tmp_path, "# 1. X\n\n```predict\nWhat?\n- a\n  Because.\n+ b\n- c\n```\n")

    with pytest.raises(LessonError, match=r"01-x\.md:4: say why 'c' is wrong"):
        _ = read_lesson(path).questions


@pytest.mark.parametrize("lesson", lessons(), ids=lambda one: one.name)
def test_every_wrong_answer_is_explained_and_the_reason_is_on_the_page(lesson: Lesson):
    page = lesson_page(lesson)

    for question in lesson.questions:
        wrong = [why for n, why in enumerate(question.why) if n != question.right]
        assert all(len(why) > 20 for why in wrong)
        assert all(f'data-why="{html.escape(why)}"' in page for why in wrong)


def test_a_story_of_a_lesson_is_played_from_its_beginning():
    assert 'href="/play?at=0#system+' in lesson_page(lessons()[0])


def test_lesson_7_ends_in_the_loss_that_it_tells_of():
    seven = next(one for one in lessons() if one.number == 7)

    assert "no_message_loss: broken" in seven.text


def test_every_exercise_is_set_in_a_lesson_or_stands_for_itself():
    set_in = {name for one in lessons() for name in re.findall(r"insync grade (\S+)", one.text)}

    assert {one.name for one in exercises()} - set_in == {"read-your-own-write"}
