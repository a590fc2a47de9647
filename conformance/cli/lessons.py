"""`insync lessons`: whether everything that the lessons claim is what the model does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from conformance.cli.common import (
    Progress,
    WrongUse,
    emit_json,
    finish,
    json_option,
    say,
    write_atomically,
)
from specs.verdict import Verdict, combine

_EXAMPLE = """
\b
Example:
  insync lessons
  insync lessons specs/lessons/07-truncating-to-the-high-watermark.md
  insync play                       # the lessons are served there, at /lessons
"""


@click.command(epilog=_EXAMPLE)
@click.argument("files", metavar="[FILES…]", nargs=-1, type=click.Path(path_type=Path))
@click.option("--accept", is_flag=True, help="Write what the stories tell now into the files.")
@json_option
def lessons(files: tuple[Path, ...], accept: bool, json_target: str | None) -> None:
    """Play the stories of lessons, and see that each question has one right answer.

    FILES are lessons, in Markdown; all of specs/lessons if none is named. Exit code 1 says that a
    lesson says something else than the model does.
    """
    from conformance.web.lessons import FOLDER

    paths = files or tuple(sorted(FOLDER.glob("*.md")))
    if not paths:
        raise WrongUse(f"{FOLDER}: there is no lesson; name one")
    with Progress() as progress:
        results = []
        for number, path in enumerate(paths, 1):
            progress(f"lesson {number} of {len(paths)}: {path.stem}")
            results.append(_checked(path, accept))
    for result in results:
        say(f"{result['verdict']}  {result['lesson']}  {result['title']}", json_target)
        for line in result["wrong"]:
            say(f"    {line}", json_target)
    verdict = combine(Verdict(result["verdict"]) for result in results)
    say(f"{verdict}: {len(results)} lessons", json_target)
    emit_json(json_target, {"verdict": verdict, "lessons": results})
    finish(verdict)


def _checked(path: Path, accept: bool) -> dict[str, Any]:
    from conformance.web.lessons import LessonError, read_lesson

    try:
        lesson = read_lesson(path)
        if accept:
            write_atomically(path, lesson.accepted())
            lesson = read_lesson(path)
        questions, stories, wrong = lesson.questions, lesson.stories, lesson.check()
    except LessonError as error:
        raise WrongUse(str(error)) from error
    except OSError as error:
        raise WrongUse(f"{path}: {error.strerror}; name a lesson") from error
    verdict = Verdict.BROKEN if wrong else Verdict.HOLDS if stories else Verdict.NOT_CHECKED
    return {
        "lesson": str(path), "number": lesson.number, "title": lesson.title,
        "verdict": verdict.value, "questions": len(questions), "stories": len(stories),
        "wrong": wrong,
    }  # fmt: skip
