"""Lessons: Markdown whose stories are played, and whose questions have one right answer.

    # 7. Truncating to the high watermark
    Text, and blocks of four kinds among it:
    ```predict        a question; then a line for each answer, the right one begins with +, and
                      below each wrong one, indented, why it is wrong; a line `> STORY`, or
                      `> STORY FROM-TO`, there says what is played when it is chosen: the end, or
                      these states, of a story of specs/stories, or of the lesson's own (`this`),
                      which is the default
    ```story          a whole story, recorded: it must play, with exactly this output
    ```diagram        what conformance.web.diagram draws
    ```sh             commands to try; `# exit 1` says how one ends, if not with 0

A link `[words](at:5)` in the text shows beat 5 of the lesson's story, `[words](at:2.5)` of its
second one.

Raises LessonError, with file and line, for an incomplete lesson.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from conformance.web.board import board
from conformance.web.diagram import DiagramError, diagram
from conformance.web.explain import frames_of
from conformance.web.run_files import NoRunError, read_run
from conformance.web.self_contained import PageTable, data_block
from conformance.web.story_frames import run_of, run_of_story
from specs.story.play import play
from specs.story.read import Story, StoryError, parse
from specs.story.rerecord import rerecorded

FOLDER = Path(__file__).resolve().parents[2] / "specs" / "lessons"
_BLOCK = re.compile(r"^```(predict|story|diagram|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TITLE = re.compile(r"# (\d+)\. (\S.*)")
_PLAY = re.compile(r"\w+( \d+-\d+)?")
_LAST = 8
"""So many states of a story are played where a lesson names it alone."""
_STATE = re.compile(r'<a href="at:(?:(\d+)\.)?(\d+)">')
STORIES = FOLDER.parent / "stories"


class LessonError(Exception):
    """A lesson has an error: the message begins with its file and line."""


@dataclass(frozen=True)
class Prediction:
    """A prediction: the question, the answers, which is right, and why each other one is wrong.

    `plays`: for each answer what is played when it is chosen, `m2_is_lost 12-20`, or nothing.
    """

    asked: str
    answers: tuple[str, ...]
    right: int
    why: tuple[str, ...]
    plays: tuple[str, ...]


@dataclass(frozen=True)
class FencedBlock:
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
    def blocks(self) -> tuple[FencedBlock, ...]:
        """Its stories, questions, diagrams and commands, in order."""
        return tuple(
            FencedBlock(found[1], found[2], self.text.count("\n", 0, found.start(2)) + 1)
            for found in _BLOCK.finditer(self.text)
        )

    def of(self, kind: str) -> Iterator[FencedBlock]:
        """The blocks of one kind."""
        return (block for block in self.blocks if block.kind == kind)

    @property
    def questions(self) -> list[Prediction]:
        """Its predictions."""
        return [self._question(block) for block in self.of("predict")]

    @property
    def stories(self) -> list[Story]:
        """Its stories."""
        return [self._story(block) for block in self.of("story")]

    def check(self) -> list[str]:
        """The differences from the lesson's text: empty if every story has the output that is
        written there."""
        wrong = []
        for block in self.of("diagram"):
            try:
                self.drawn(block)
            except LessonError as error:
                wrong.append(str(error))
        for block in self.of("story"):
            outcome = play(self._story(block))
            if outcome.failed is not None:
                line, why = outcome.failed
                wrong.append(f"{self.path}:{block.line + line - 1}: {why}")
            elif not outcome.is_as_recorded:
                wrong.append(f"{self.path}:{block.line}: the story shows something else")
        return wrong

    def accepted(self) -> str:
        """The lesson's text with its stories' present output. Raises LessonError if one fails."""
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

    def drawn(self, block: FencedBlock) -> str:
        """A diagram as a figure. Raises LessonError for a line that cannot be drawn."""
        try:
            return diagram(block.text)
        except DiagramError as error:
            raise LessonError(f"{self.path}:{block.line + error.line}: {error}") from error

    def _question(self, block: FencedBlock) -> Prediction:
        lines = [line for line in block.text.splitlines() if line.strip()]
        first = next((n for n, line in enumerate(lines) if line[:2] in ("+ ", "- ")), len(lines))
        asked, lines = " ".join(lines[:first]), lines[first:]
        why: list[str] = []
        answers: list[str] = []
        plays: list[str] = []
        for line in lines:
            if line.startswith("  > ") and answers:
                plays[-1] = line.removeprefix("  > ").strip()
            elif line.startswith("  ") and answers:
                why[-1] = f"{why[-1]} {line.strip()}".strip()
            else:
                answers.append(line)
                why.append("")
                plays.append("")
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
        for shown in plays:
            if shown and _PLAY.fullmatch(shown) is None:
                raise LessonError(
                    f"{self.path}:{block.line}: > {shown}: write a story and its states, such as "
                    "> m2_is_lost 12-20, or > this 3-7"
                )
        return Prediction(asked, tuple(line[2:] for line in lines), marks.index("+ "), tuple(why),
                        tuple(plays))  # fmt: skip

    def _story(self, block: FencedBlock) -> Story:
        try:
            return parse(block.text, f"{self.path}")
        except StoryError as error:
            line = block.line + error.line - 1
            raise LessonError(f"{self.path}:{line}: {error.what}") from error


def read_lesson(path: Path) -> Lesson:
    """Reads a lesson. Raises LessonError if it has no title, OSError if there is no file."""
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


@dataclass(frozen=True)
class PageContext:
    """The place of a page: the prefix of its links, and whether a server is there.

    `ending` is what an address of a lesson ends in.
    """

    files: str = "/"
    lessons: str = "/lessons"
    index: str = "/lessons"
    ending: str = ""
    explorer: str | None = "/play"

    def lesson(self, name: str) -> str:
        """The address of a lesson."""
        return f"{self.lessons}/{name}{self.ending}"


SERVED = PageContext()
STATIC_SITE = PageContext("../board/", ".", "index.html", ".html", None)
"""In `played/` of a site that any host serves, beside `board/` with the page's own files."""


def index_page(folder: Path = FOLDER, place: PageContext = SERVED) -> str:
    """The page that lists the lessons."""
    items = "".join(
        f'<li value="{one.number}"><a href="{place.lesson(one.name)}">{html.escape(one.title)}</a>'
        "</li>"
        for one in lessons(folder)
    )
    return _page(
        "Lessons", '<main class="text"><h1>Lessons</h1><p>Seventeen lessons, each beside a living '
        "board: predict, step, break, repair, claim. Read down, or press → and ←.</p>"
        f'<ol class="index">{items}</ol></main>', place,
    )  # fmt: skip


def lesson_page(lesson: Lesson, place: PageContext = SERVED) -> str:
    """A lesson as a page: the text, and beside it the board that shows its stories."""
    from markdown_it import MarkdownIt

    packer = PageTable()
    runs = [run_of_story(story, packer) for story in lesson.stories]
    named: dict[str, int] = {}
    pieces: list[str] = []
    end = stories = 0
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    for found, block in zip(_BLOCK.finditer(lesson.text), lesson.blocks, strict=True):
        pieces.append(_prose(markdown.render(lesson.text[end : found.start()]), lesson, runs))
        if block.kind == "predict":
            question = lesson._question(block)
            for shown in question.plays:
                _name(shown, named, runs, packer, f"{lesson.path}:{block.line}")
            pieces.append(_asked(question, named, min(stories, len(lesson.stories) - 1), runs))
        elif block.kind == "story":
            pieces.append(_story_page(lesson._story(block), runs[stories], stories, place))
            stories += 1
        elif block.kind == "diagram":
            pieces.append(lesson.drawn(block))
        else:
            pieces.append(f'<pre tabindex="0"><code>{html.escape(block.text)}</code></pre>')
        end = found.end()
    pieces.append(_prose(markdown.render(lesson.text[end:]), lesson, runs))
    others = {one.number: one for one in lessons(lesson.path.parent)}
    ways = [
        f'<a href="{place.lesson(others[n].name)}">{word} {html.escape(others[n].title)}</a>'
        for n, word in ((lesson.number - 1, "←"), (lesson.number + 1, "→"))
        if n in others
    ]
    nav = (
        f'<nav class="ways" aria-label="Other lessons"><a href="{place.index}">All lessons</a> '
        f"{' '.join(ways)}</nav>"
    )
    body = (
        f'<main class="read"><article class="lesson">{"".join(pieces)}{_DRIVE}{nav}</article>'
        f"{_LIVING}</main>{data_block({'runs': runs, 'table': packer.table})}"
    )
    return _page(lesson.title, body, place)


_LIVING = (
    '<aside class="living" aria-label="Board">'
    '<div class="bar"><button id="back" type="button" data-word="back"></button>'
    '<button id="forward" type="button" data-word="forward"></button><p id="now"></p></div>'
    '<p id="said" role="status" aria-live="polite"></p><div id="veil" hidden></div>'
    '<div id="board" tabindex="-1"></div><div id="turn"></div>'
    '<details id="all"><summary data-word="fields"></summary><div id="state"></div></details>'
    "</aside>"
)
_DRIVE = (
    '<section class="drive"><h2>Your turn</h2><p>The board stands at the end of the story. Take '
    "any step from here, and see which claims hold.</p>"
    '<button id="drive" type="button" data-word="yours"></button></section>'
)


_LOOKS = {"step": "taken", "refused": "refused", "check": "check"}


def _name(
    shown: str, named: dict[str, int], runs: list[dict[str, Any]], packer: PageTable, where: str
) -> None:
    """Sees to it that the run of a story that an answer names is among the page's runs."""
    name = shown.partition(" ")[0]
    if name in ("", "this") or name in named:
        return
    path = STORIES / f"{name}.story"
    try:
        played = read_run(path)
    except (NoRunError, OSError) as error:
        raise LessonError(f"{where}: > {shown}: {error}") from error
    named[name] = len(runs)
    runs.append(run_of(played, frames_of(board(played.heading), played.lines), packer))


def _prose(text: str, lesson: Lesson, runs: list[dict[str, Any]]) -> str:
    def link(found: re.Match[str]) -> str:
        run, beat = int(found[1] or 1) - 1, int(found[2])
        if run >= len(lesson.stories) or beat >= len(runs[run]["beats"]):
            raise LessonError(f"{lesson.path}: at:{found[2]} is no beat of a story of this lesson")
        return f'<a class="state" href="#board" data-run="{run}" data-at="{beat}">'

    return _STATE.sub(link, text)


def _asked(
    question: Prediction, named: dict[str, int], this: int, runs: list[dict[str, Any]]
) -> str:
    answers = []
    for n, answer in enumerate(question.answers):
        right = n == question.right
        plays = ""
        if question.plays[n]:
            name, _, states = question.plays[n].partition(" ")
            run = named.get(name, this)
            end = len(runs[run]["beats"]) - 1
            first, last = states.split("-") if states else (str(max(0, end - _LAST)), str(end))
            plays = f' data-plays="{run} {first} {last}"'
        answers.append(
            f'<li><button type="button" data-right="{"yes" if right else "no"}"{plays} '
            f'data-why="{html.escape(question.why[n])}">{html.escape(answer)}</button></li>'
        )
    return (
        f'<section class="predict" data-run="{this}"><p><b>Predict.</b> '
        f"{html.escape(question.asked)}</p>"
        f'<ul>{"".join(answers)}</ul><p role="status"></p></section>'
    )


def _story_page(story: Story, run: dict[str, Any], number: int, place: PageContext) -> str:
    """A story as its steps in words, each of which the board can show."""
    items = "".join(
        f'<li data-run="{number}" data-at="{n}" class="beat {_LOOKS[one["kind"]]}'
        f'{" quiet" if one["quiet"] else ""}" title="{html.escape(one["label"])}">'
        f'<button type="button" tabindex="-1">{html.escape(one["words"])}</button>'
        + (f"<small>{html.escape(one['note'])}</small>" if one["note"] else "") + "</li>"
        for n, one in enumerate(run["beats"])
        if n
    )  # fmt: skip
    if place.explorer is not None:
        # From its beginning, with the steps to come.
        way = (f'<a class="play" href="{place.explorer}?at=0#{html.escape(run["address"])}">'
               "Play this in the explorer</a>")  # fmt: skip
    else:
        way = f"<code>insync play --run '#{html.escape(run['address'])}'</code>"
    return (
        f'<section class="story" data-run="{number}"><h3>{html.escape(story.title)}</h3>'
        f"<p><code>{html.escape(run['heading'])}</code></p>"
        f'<ol class="script">{items}</ol><p>{way}</p></section>'
    )


def _page(title: str, body: str, place: PageContext) -> str:
    scripts = "".join(
        f'<script src="{place.files}{name}"></script>'
        for name in ("words.js", "draw.js", "lesson.js")
    )
    start = '<a href="/">insync</a>' if place.explorer else '<a href="../index.html">insync</a>'
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)} — insync</title>"
        f'<link rel="stylesheet" href="{place.files}style.css"></head>'
        f'<body class="lessons"{" data-served" if place.explorer else ""}>'
        f'<header><h1 class="brand">{start}</h1><nav aria-label="Pages">'
        f'<a href="{place.index}">Lessons</a>'
        '<button id="projector" type="button" aria-pressed="false" data-word="projector"></button>'
        f"</nav></header>{body}{scripts}</body></html>"
    )
