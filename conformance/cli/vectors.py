"""`insync vectors`: cases of Kafka's behaviour, answered by the model and the implementation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from conformance.cli.common import WrongUse, emit_json, finish, json_option, say
from conformance.cli.coverage_option import coverage_option, measured
from conformance.cli.keep_results import open_option, show_comparison

if TYPE_CHECKING:
    from conformance.vectors.case_results import Disagreement, FileResult
    from conformance.vectors.cases import Case

_EXAMPLE = """
\b
Example:
  insync vectors tests/data/vectors/*.json
  insync vectors tests/data/vectors/assignment.json --on both
"""

_SHOWN = 5  # failures a file, in the human report; the JSON has all
_WIDTH = 300
DISAGREE = "disagree"
"""The verdict of its own: model and implementation differ on what both answer (exit code 1)."""


@click.command(epilog=_EXAMPLE)
@click.argument("files", nargs=-1, required=True, metavar="FILES...")
@click.option(
    "--on",
    "side",
    type=click.Choice(["model", "impl", "both"]),
    default="impl",
    show_default=True,
    help="The side that answers.",
)
@coverage_option
@open_option
@json_option
def vectors(
    files: tuple[str, ...], side: str, coverage: str | None, opens: bool, json_target: str | None
) -> None:
    """Put each case of FILES to the model, the implementation, or both.

    A case is asked under the newest supported release among its `versions`. Exits 1 when an answer
    is wrong, 2 when nobody answers an operation, 3 when nothing was checked. What a side is known
    not to answer is listed beforehand, with the reason. --open lays what is expected beside what
    was answered, for every answer that is wrong. --coverage counts lines that ran where the model
    answers rightly, too.
    """
    from conformance.vectors.case_results import (
        SIDES,
        answers_of,
        disagreements,
        judge,
        overall,
    )

    if coverage is not None and side != "both":
        raise WrongUse("--coverage is of answers that the model gives, too; write --on both")
    read = [(path, _read(path)) for path in _paths(files)]
    rows: list[FileResult] = []
    differ: list[Disagreement] = []
    for path, cases in read:
        asked = [judge(path.name, cases, one, answers_of(one)) for one in SIDES if _asks(side, one)]
        rows += asked
        if len(asked) == len(SIDES):
            differ += disagreements(*asked)
    if coverage is not None:
        _cover(read, coverage, json_target)
    _table(rows, json_target)
    for line in [
        *_failed_cases(rows),
        *_differing(differ),
        *_answer_sources(rows),
        *_reasoned(rows),
    ]:
        say(line, json_target)
    verdict = overall(rows)
    emit_json(json_target, _payload(rows, differ, DISAGREE if differ else verdict.value))
    if opens:
        _show_in_the_browser(rows, json_target)
    finish(verdict)


def _cover(read: list[tuple[Path, list[Case]]], coverage: str, json_target: str | None) -> None:
    """Put to the implementation what the model answers rightly, and note what runs."""
    from conformance.vectors.case_results import Outcome, answers_of, judge

    answers = answers_of("impl")
    asked = [(path.name, judge(path.name, cases, "model", answers_of("model")))
             for path, cases in read]  # fmt: skip
    with measured(coverage, json_target):
        for name, row in asked:
            judge(name, [one.case for one in row.judged if one.outcome is Outcome.PASSED], "impl",
                  answers)  # fmt: skip


def _show_in_the_browser(rows: list[FileResult], json_target: str | None) -> None:
    from conformance.vectors.case_results import Outcome
    from conformance.web.findings import of_answers

    wrong = [
        (f"{row.file}, case {one.case.number} on {row.on}: {one.case.name}",
         _short(one.case.expected), _short(one.got))
        for row in rows for one in row.judged if one.outcome is Outcome.FAILED
    ]  # fmt: skip
    if not wrong:
        say("there is no wrong answer to show", json_target)
        return
    show_comparison(of_answers(wrong), "system replication")


def _asks(side: str, one: str) -> bool:
    return side in (one, "both")


def _paths(files: tuple[str, ...]) -> list[Path]:
    paths = [Path(name) for name in files]
    for path in paths:
        if path.is_dir():
            raise WrongUse(f"{path} is a folder; write {path}/*.json")
        if not path.exists():
            raise WrongUse(f"{path} does not exist; name files of vectors, such as election.json")
    return paths


def _read(path: Path) -> list[Case]:
    from conformance.vectors.cases import BadCasesFile, read_cases

    try:
        return read_cases(path)
    except BadCasesFile as error:
        raise WrongUse(str(error)) from error


def _table(rows: list[FileResult], json_target: str | None) -> None:
    from conformance.cli.common import show_table
    from conformance.vectors.case_results import Outcome

    names = [outcome.value for outcome in Outcome]
    cells: list[list[object]] = [
        [row.file, row.on, row.verdict.value, *(row.count(outcome) for outcome in Outcome)]
        for row in rows
    ]
    if len(rows) > 1:
        for side in dict.fromkeys(row.on for row in rows):
            counts = [sum(r.count(o) for r in rows if r.on == side) for o in Outcome]
            cells.append(["all", side, None, *counts])
    show_table(["file", "on", "verdict", *names], cells, json_target, right=names)


def _failed_cases(rows: list[FileResult]) -> list[str]:
    """The cases that went wrong, the first few of each file."""
    from conformance.vectors.case_results import Outcome

    lines = []
    for row in rows:
        wrong = [one for one in row.judged if one.outcome in (Outcome.FAILED, Outcome.UNANSWERED)]
        for one in wrong[:_SHOWN]:
            case = one.case
            where = f"{row.file}, case {case.number} on {row.on}, as {case.release}: {case.name}"
            if one.outcome is Outcome.UNANSWERED:
                lines += [where, f"  nobody answers {case.operation}", ""]
                continue
            lines += [
                where,
                f"  expected  {_short(case.expected)}",
                f"  got       {_short(one.got)}",
            ]
            lines.append("")
        if len(wrong) > _SHOWN:
            lines.append(f"{row.file} on {row.on}: {len(wrong) - _SHOWN} more; --json FILE has all")
    return lines


def _differing(differ: list[Disagreement]) -> list[str]:
    return [
        f"disagree: {one.case.file}.json, case {one.case.number} ({one.case.name}): "
        f"model {one.model.outcome.value}, impl {one.impl.outcome.value}"
        for one in differ
    ]


def _answer_sources(rows: list[FileResult]) -> list[str]:
    """Which of the model's answers are its transitions'."""
    answered = sum(one.outcome.checked for row in rows if row.on == "model" for one in row.judged)
    if not answered:
        return []
    ruled = sum(row.by_rule for row in rows)
    return [
        f"model: {answered - ruled} of {answered} answers are those of its transitions and their "
        f"tables, {ruled} of plain rules beside it",
        "",
    ]


def _reasoned(rows: list[FileResult]) -> list[str]:
    reasons = _reasons(rows)
    return ["not applicable:", *(f"  {n} × {why}" for why, n in reasons.items())] if reasons else []


def _reasons(rows: list[FileResult]) -> dict[str, int]:
    from conformance.vectors.case_results import Outcome

    found: dict[str, int] = {}
    for row in rows:
        for one in row.judged:
            if one.outcome is Outcome.NOT_APPLICABLE:
                reason = f"{row.on}: {one.got}"
                found[reason] = found.get(reason, 0) + 1
    return found


def _short(value: object) -> str:
    from conformance.vectors.case_results import plain

    text = json.dumps(plain(value), ensure_ascii=False)
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"


def _payload(rows: list[FileResult], differ: list[Disagreement], verdict: str) -> dict[str, Any]:
    from conformance.vectors.case_results import Outcome, plain

    return {
        "verdict": verdict,
        "files": [
            {
                "file": row.file,
                "on": row.on,
                "verdict": row.verdict.value,
                "passed": row.count(Outcome.PASSED),
                "failed": row.count(Outcome.FAILED),
                "not_applicable": row.count(Outcome.NOT_APPLICABLE),
                "unanswered": row.count(Outcome.UNANSWERED),
                "by_rule": row.by_rule,
                "failures": [
                    {
                        "case": one.case.name,
                        "number": one.case.number,
                        "operation": one.case.operation,
                        "release": one.case.release,
                        "expected": one.case.expected,
                        "got": plain(one.got),
                    }
                    for one in row.judged
                    if one.outcome is Outcome.FAILED
                ],
                "reasons": _reasons([row]),
            }
            for row in rows
        ],
        "disagreements": [
            {
                "file": f"{one.case.file}.json",
                "case": one.case.name,
                "number": one.case.number,
                "model": {"outcome": one.model.outcome.value, "got": plain(one.model.got)},
                "impl": {"outcome": one.impl.outcome.value, "got": plain(one.impl.got)},
            }
            for one in differ
        ],
    }
