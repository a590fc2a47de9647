"""Lessons: Markdown whose stories are played, whose questions have one right answer.

    # 7. Truncating to the high watermark
    Text, and blocks of three kinds among it:
    ```predict        a question; then a line for each answer, the right one begins with +, and
                      below each wrong one, indented, why it is wrong
    ```story          a whole story, recorded: it must play, and tell just what it says
    ```sh             commands to try; `# exit 1` says how one ends, if not with 0

Raises LessonError, with file and line, for a lesson that is not whole.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from conformance.web.address import address
from conformance.web.retold import line_of
from specs.story.errors import StoryError
from specs.story.heading import heading_line
from specs.story.play import play
from specs.story.read import Story, parse
from specs.story.rerecord import rerecorded

FOLDER = Path(__file__).resolve().parents[2] / "specs" / "lessons"
_BLOCK = re.compile(r"^```(predict|story|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TITLE = re.compile(r"# (\d+)\. (\S.*)")


class LessonError(Exception):
    """What is wrong with a lesson: the message begins with its file and line."""


@dataclass(frozen=True)
class Question:
    """A prediction: what is asked, the answers, which is right, and why each other one is not."""

    asked: str
    answers: tuple[str, ...]
    right: int
    why: tuple[str, ...]


@dataclass(frozen=True)
class Block:
    """A fenced block: its kind, its text, and the line where the text begins."""

    kind: str
    text: str
    line: int


@dataclass(frozen=True)
class Lesson:
    """A lesson as read. `name` is the file's, without its ending."""

    path: Path
    number: int
    title: str
    text: str

    @property
    def name(self) -> str:
        """`07-truncating`, as in its address."""
        return self.path.stem

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Its stories, questions and commands, in order."""
        return tuple(
            Block(found[1], found[2], self.text.count("\n", 0, found.start(2)) + 1)
            for found in _BLOCK.finditer(self.text)
        )

    def of(self, kind: str) -> Iterator[Block]:
        """The blocks of one kind."""
        return (block for block in self.blocks if block.kind == kind)

    @property
    def questions(self) -> list[Question]:
        """Its predictions."""
        return [self._question(block) for block in self.of("predict")]

    @property
    def stories(self) -> list[Story]:
        """Its stories."""
        return [self._story(block) for block in self.of("story")]

    def check(self) -> list[str]:
        """What is not as the lesson says: empty where every story tells just what stands there."""
        wrong = []
        for block in self.of("story"):
            outcome = play(self._story(block))
            if outcome.failed is not None:
                line, why = outcome.failed
                wrong.append(f"{self.path}:{block.line + line - 1}: {why}")
            elif not outcome.is_as_recorded:
                wrong.append(f"{self.path}:{block.line}: the story tells something else")
        return wrong

    def accepted(self) -> str:
        """The lesson's text with what its stories tell now. Raises LessonError where one fails."""
        pieces, end = [], 0
        for found, block in zip(_BLOCK.finditer(self.text), self.blocks, strict=True):
            pieces.append(self.text[end : found.start(2)])
            text = block.text
            if block.kind == "story":
                outcome = play(self._story(block))
                if outcome.failed is not None:
                    line, why = outcome.failed
                    raise LessonError(f"{self.path}:{block.line + line - 1}: {why}")
                text = rerecorded(outcome)
            pieces.append(text)
            end = found.end(2)
        return "".join([*pieces, self.text[end:]])

    def _question(self, block: Block) -> Question:
        lines = [line for line in block.text.splitlines() if line.strip()]
        first = next((n for n, line in enumerate(lines) if line[:2] in ("+ ", "- ")), len(lines))
        asked, lines = " ".join(lines[:first]), lines[first:]
        why: list[str] = []
        answers: list[str] = []
        for line in lines:
            if line.startswith("  ") and answers:
                why[-1] = f"{why[-1]} {line.strip()}".strip()
            else:
                answers.append(line)
                why.append("")
        lines = answers
        marks = [line[:2] for line in lines]
        if not asked or marks.count("+ ") != 1 or set(marks) - {"+ ", "- "} or len(lines) < 2:
            raise LessonError(
                f"{self.path}:{block.line}: write a question, then an answer a line, the right one "
                "with + before it, the others with -"
            )
        for line, reason in zip(lines, why, strict=True):
            if line.startswith("- ") and not reason:
                raise LessonError(
                    f"{self.path}:{block.line}: say why {line[2:]!r} is wrong, in a line below it "
                    "that is indented"
                )
        return Question(asked, tuple(line[2:] for line in lines), marks.index("+ "), tuple(why))

    def _story(self, block: Block) -> Story:
        try:
            return parse(block.text, f"{self.path}")
        except StoryError as error:
            line = block.line + error.line - 1
            raise LessonError(f"{self.path}:{line}: {error.what}") from error


def read_lesson(path: Path) -> Lesson:
    """The lesson of a file. Raises LessonError where it has no title, OSError for no file."""
    text = path.read_text(encoding="utf-8")
    first = text.partition("\n")[0]
    title = _TITLE.fullmatch(first)
    if title is None:
        raise LessonError(f"{path}:1: a lesson begins with # NUMBER. TITLE, not with {first!r}")
    return Lesson(path, int(title[1]), title[2], text)


def lessons(folder: Path = FOLDER) -> list[Lesson]:
    """All lessons by number."""
    return sorted((read_lesson(path) for path in folder.glob("*.md")), key=lambda one: one.number)


# -- pages ----------------------------------------------------------------------------------------


def index_page(folder: Path = FOLDER) -> str:
    """The page that lists the lessons."""
    items = "".join(
        f'<li value="{one.number}"><a href="/lessons/{one.name}">{html.escape(one.title)}</a></li>'
        for one in lessons(folder)
    )
    return _page("Lessons", f'<h1>Lessons</h1><ol class="index">{items}</ol>')


def lesson_page(lesson: Lesson) -> str:
    """A lesson as a page: questions to answer, stories to play."""
    from markdown_it import MarkdownIt

    pieces: list[str] = []
    end = 0
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    for found, block in zip(_BLOCK.finditer(lesson.text), lesson.blocks, strict=True):
        pieces.append(markdown.render(lesson.text[end : found.start()]))
        pieces.append(_shown(lesson, block))
        end = found.end()
    pieces.append(markdown.render(lesson.text[end:]))
    others = {one.number: one for one in lessons(lesson.path.parent)}
    ways = [
        f'<a href="/lessons/{others[n].name}">{word} {html.escape(others[n].title)}</a>'
        for n, word in ((lesson.number - 1, "←"), (lesson.number + 1, "→"))
        if n in others
    ]
    nav = f'<nav class="ways"><a href="/lessons">All lessons</a> {" ".join(ways)}</nav>'
    return _page(lesson.title, f'<article class="lesson">{"".join(pieces)}</article>{nav}')


def _shown(lesson: Lesson, block: Block) -> str:
    if block.kind == "predict":
        question = lesson._question(block)
        answers = "".join(
            f'<li><button type="button" data-right="{"yes" if n == question.right else "no"}" '
            f'data-why="{html.escape(question.why[n])}">{html.escape(answer)}</button></li>'
            for n, answer in enumerate(question.answers)
        )
        return (
            f'<section class="predict"><p><b>Predict.</b> {html.escape(question.asked)}</p>'
            f'<ul>{answers}</ul><p role="status"></p></section>'
        )
    text = f"<pre><code>{html.escape(block.text)}</code></pre>"
    if block.kind == "sh":
        return text
    return f'{text}<p><a class="play" href="{_address(lesson._story(block))}">Play this</a></p>'


def _address(story: Story) -> str:
    assert story.heading is not None
    heading = heading_line(story.heading.recorded, story.heading.given)
    lines = [line_of(one) for one in story.commands if one.is_step]
    return f"/?at=0#{address(heading, lines)}"  # from its beginning, with the steps to come


def _page(title: str, body: str) -> str:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)} — insync</title>"
        '<link rel="stylesheet" href="/style.css"></head><body>'
        f'<header><a href="/">insync</a></header><main class="text">{body}</main>'
        '<script src="/lesson.js"></script></body></html>'
    )
