"""`insync grade`: exercises, and the checker's judgement of answers."""

from __future__ import annotations

import textwrap
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
    show_table,
)
from conformance.cli.keep_results import KeepOptions, open_option, show_file
from specs.runs import Run
from specs.verdict import Verdict, combine

_EXAMPLE = """
\b
Example:
  insync grade                       # the exercises
  insync grade two-leaders           # one of them: what is asked, how an answer begins
  insync grade my-answer.story       # is it right?
"""


@click.command(epilog=_EXAMPLE)
@click.argument("names", metavar="[FILE…|EXERCISE]", nargs=-1)
@click.option(
    "--limit",
    "limit_s",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    show_default=True,
    help="The time limit of an answer; after it the answer is undecided.",
)
@open_option
@json_option
def grade(names: tuple[str, ...], limit_s: float, opens: bool, json_target: str | None) -> None:
    """List exercises, show one, or judge answers.

    An answer is a file whose first line names its exercise: a run is written as a story, a repair
    as the line that opens one, an invariant in Python (the file is run). Exit code 0 says that it
    is right, 1 that it is not, and why: the step that is refused, the run that still goes wrong,
    the state from which a step breaks the invariant; 2 that the checker cannot tell, or that
    --limit came first, 3 that there is nothing to judge. Each answer is judged in a process of its
    own, and one that cannot be read (64) keeps none of the others from being judged.
    """
    from model.former_names import exercise_now
    from specs.grading import exercises

    known = {one.name for one in exercises()}
    if not names:
        _list(json_target)
    elif len(names) == 1 and exercise_now(names[0]) in known and not Path(names[0]).exists():
        _show(names[0], json_target)
    else:
        _judge([_path(name) for name in names], limit_s, opens, json_target)


def _list(json_target: str | None) -> None:
    from specs.grading import exercises

    known = exercises()
    show_table(
        ["exercise", "asks", "claim", "title"],
        [(one.name, one.task, one.claim, one.title) for one in known],
        json_target,
        prose=["title"],
    )
    say("`insync grade EXERCISE` shows one; `insync grade FILE` judges an answer.", json_target)
    emit_json(
        json_target,
        {
            "format": "insync.exercises/1",
            "exercises": [
                {"name": one.name, "title": one.title, "task": one.task, "claim": one.claim}
                for one in known
            ],
        },
    )


def _show(name: str, json_target: str | None) -> None:
    from specs.grading import exercise

    asked = exercise(name)
    say(asked.text, json_target)
    say("\nAn answer begins so:\n", json_target)
    say(textwrap.indent(asked.skeleton, "    "), json_target)
    emit_json(
        json_target,
        {
            "format": "insync.exercises/1",
            "exercises": [
                {
                    "name": name, "title": asked.title, "task": asked.task, "claim": asked.claim,
                    "text": asked.text, "answer": asked.skeleton,
                }
            ],
        },
    )  # fmt: skip


def _path(name: str) -> Path:
    path = Path(name)
    if not path.is_file():
        raise WrongUse(f"{name}: there is no such file, and no exercise of that name; "
                       "insync grade lists them")  # fmt: skip
    return path


def _judge(paths: list[Path], limit_s: float, opens: bool, json_target: str | None) -> None:
    from specs.grading import ExerciseError, grade_in_own_process

    results: list[dict[str, Any]] = []
    unread: list[str] = []
    run: Run | None = None
    for number, path in enumerate(paths, 1):
        try:
            with Progress() as progress:
                progress(f"answer {number} of {len(paths)}: {path}")
                done = grade_in_own_process(path, progress, limit_s)
        except ExerciseError as error:
            unread.append(str(error))
            results.append(_result(path, None, Verdict.NOT_CHECKED, [str(error)]))
            continue
        except OSError as error:
            raise WrongUse(f"{path}: {error.strerror}; name a file to judge") from error
        name = done.answer.exercise.name
        run = run or done.run
        say(f"{path}: {done.word} ({name})", json_target)
        for line in done.lines:
            say(f"    {line}", json_target)
        results.append(_result(path, name, done.verdict, done.lines))
    verdict = combine(Verdict(one["verdict"]) for one in results)
    emit_json(json_target, {"format": "insync.grade/1", "verdict": verdict, "answers": results})
    for line in unread[:-1]:
        WrongUse(line).show()
    if unread:
        raise WrongUse(unread[-1])
    if opens and run is None and paths[0].suffix == ".story":
        show_file(paths[0])
    else:
        KeepOptions(None, opens).keep(run, json_target)
    finish(verdict)


def _result(path: Path, name: str | None, verdict: Verdict, why: list[str]) -> dict[str, Any]:
    return {"file": str(path), "exercise": name, "verdict": verdict, "why": why}
