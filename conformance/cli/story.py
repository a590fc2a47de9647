"""`insync story`: runs as text files, played on the model, compared with a recording."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from conformance.cli.chosen_system import refusals
from conformance.cli.common import (
    Progress,
    WrongUse,
    emit_json,
    finish,
    json_option,
    say,
    write_atomically,
)
from conformance.cli.keep_results import open_option, show_file
from conformance.cli.options import fault_option
from conformance.cli.remaining_time import left_of
from model.faults import fault_settings
from specs.story import Story, StoryOutcome, difference, play, read_story, rerecorded
from specs.story.heading import StoryHeading
from specs.verdict import Verdict, combine

SUFFIX = ".story"


@click.command()
@click.argument("files", metavar="FILES…", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--on",
    type=click.Choice(["model", "impl", "both"]),
    default="model",
    show_default=True,
    help="What plays the story: the model, the implementation beside it, or each in turn.",
)
@click.option("--accept", is_flag=True, help="Write the output into the files.")
@fault_option
@open_option
@json_option
def story(
    files: tuple[Path, ...],
    on: str,
    accept: bool,
    faults: tuple[str, ...],
    opens: bool,
    json_target: str | None,
) -> None:
    """Play stories: text files that tell a run step by step, with what each step changes.

    FILES are stories, or folders of them. A story is compared with what is recorded below each of
    its `----` lines. Exit code 1 says that one went otherwise, 3 that one checks nothing. With
    --fault a story is played where that goes wrong as well: what is beyond its limits is not then.
    --on impl has the implementation take the same steps, and compares every state; a story that
    does not apply to it says why.

    \b
    Example:
      insync story specs/stories
      insync story specs/stories --on impl
      insync story specs/stories/m2_is_lost.story --json -
      insync story mine.story --accept
      insync story mine.story --fault broker_crash
    """
    if faults and accept:
        raise WrongUse("--accept records a story as it stands; write either --accept or --fault")
    paths = _paths(files)
    if on != "model" and (accept or faults):
        option = "--accept" if accept else "--fault"
        raise WrongUse(f"{option} is for the model; leave out either {option} or --on {on}")
    with refusals():
        stories = [_with_faults(_read(path), faults) for path in paths]
    results: list[dict[str, Any]] = []
    sides = [side for side in ("model", "impl") if on in (side, "both")]
    began, of = time.monotonic(), len(paths) * len(sides)
    with Progress() as progress:
        for side in sides:
            for path, one in zip(paths, stories, strict=True):
                remaining = left_of(began, len(results), of)
                progress(f"story {len(results) + 1} of {of}{remaining}; {path.stem}")
                if side == "model":
                    outcome = play(one)
                    progress.wipe()
                    results.append(_reported(path, outcome, accept, json_target))
                else:
                    results.append(_played_by_impl(path, one, json_target, progress))
    played = [result for result in results if result.get("not_applicable") is None]
    verdict = combine(Verdict(result["verdict"]) for result in played)
    steps = sum(result["steps"] for result in played)
    checks = sum(result["checks"] for result in played)
    count = f"{len(paths)} stor{'y' if len(paths) == 1 else 'ies'}"
    where = "the model and the implementation" if on == "both" else f"the {_SIDES[on]}"
    say(f"{verdict}: {count}, {steps} steps, {checks} checks, on {where}", json_target)
    for line in _not_played(results):
        say(line, json_target)
    emit_json(json_target, {"format": "insync.story/1", "verdict": verdict, "on": on,
                            "stories": results})  # fmt: skip
    if opens:
        wrong = (one for one in results if Verdict(one["verdict"]) is not Verdict.HOLDS)
        worst = next(wrong, results[0])
        show_file(Path(worst["story"]))
    finish(verdict)


def _not_played(results: list[dict[str, Any]]) -> list[str]:
    """How many stories the implementation does not play, by kind of reason."""
    kinds = Counter(one["not_applicable_kind"] for one in results if one.get("not_applicable"))
    return [
        f"    not on the implementation: {count} stor{'y' if count == 1 else 'ies'} that "
        f"{kind if count > 1 else _of_one(kind)}"
        for kind, count in sorted(kinds.items())
    ]


def _of_one(kind: str) -> str:
    verb, _, rest = kind.partition(" ")
    return f"{verb}s {rest}"


_SIDES = {"model": "model", "impl": "implementation"}


def _played_by_impl(
    path: Path, story: Story, json_target: str | None, progress: Progress
) -> dict[str, Any]:
    """Has the implementation play one story, reports it, and gives its row of the JSON."""
    from conformance.play_story import replay_story

    replay = replay_story(story)
    progress.wipe()
    lines: list[str] = []
    if replay.why_not is not None:
        assert replay.kind is not None, "a reason is of a kind"
        head = "not applicable"
        lines.append(f"    {_of_one(replay.kind)}: {replay.why_not}")
    else:
        head = f"{replay.verdict}"
        if replay.failed is not None:
            line, why = replay.failed
            lines.append(f"{path}:{line}: {why}")
    recorded = story.heading.recorded if story.heading is not None else None
    other = recorded is not None and replay.release not in (None, recorded.version)
    where = f"on the implementation{f', as {replay.release}' if other else ''}"
    for text in [f"{head}  {path}  {where}", *lines]:
        say(text, json_target)
    return {
        "story": str(path),
        "title": story.title,
        "on": "impl",
        "verdict": replay.verdict.value,
        "not_applicable": replay.why_not,
        "not_applicable_kind": replay.kind,
        "release": replay.release,
        "steps": replay.steps,
        "checks": replay.compared + replay.refusals,
        "failed": None if replay.failed is None else
        {"line": replay.failed[0], "why": replay.failed[1]},
    }  # fmt: skip


def _paths(files: tuple[Path, ...]) -> list[Path]:
    if not files:
        raise WrongUse("name stories, or a folder of them; write: insync story specs/stories")
    paths: list[Path] = []
    for given in files:
        if given.is_dir():
            found = sorted(given.glob(f"**/*{SUFFIX}"))
            if not found:
                raise WrongUse(f"{given}: there is no file *{SUFFIX} in this folder; name another")
            paths += found
        elif given.exists():
            paths.append(given)
        else:
            raise WrongUse(f"{given}: there is no such file; name a story, such as {_example()}")
    return list(dict.fromkeys(paths))


def _example() -> str:
    return f"specs/stories/m2_is_lost{SUFFIX}"


def _read(path: Path) -> Story:
    try:
        return read_story(path)
    except OSError as error:
        raise WrongUse(f"{path}: {error.strerror}; name a story that can be read") from error


def _with_faults(story: Story, faults: tuple[str, ...]) -> Story:
    """The story in a world where more goes wrong."""
    heading = story.heading
    if heading is None or not faults:
        return story
    played = heading.recorded
    known = [fault_settings(played.system, name) for name in faults]
    switches = {name: value for one in known for name, value in one.switches.items()}
    room = {name: least for one in known for name, least in one.bounds.items()}
    given = {name: max(number, room.get(name, 0)) for name, number in heading.given.items()}
    recorded = played.system.recorded(played.version, {**played.without, **switches})
    return replace(story, heading=StoryHeading(recorded, given))


def _reported(
    path: Path, outcome: StoryOutcome, accept: bool, json_target: str | None
) -> dict[str, Any]:
    """Reports one story, re-records it where asked, and gives its row of the JSON."""
    lines: list[str] = []
    verdict = outcome.verdict
    if outcome.failed is not None:
        line, why = outcome.failed
        lines.append(f"{path}:{line}: {why}")
    else:
        lines = difference(outcome, path.read_text(encoding="utf-8"))
        if accept:
            _accept(path, outcome)
            verdict = Verdict.HOLDS if outcome.checks else Verdict.NOT_CHECKED
    for text in [
        f"{verdict}  {path}  {_subject_of(outcome)}",
        *lines,
        *_advice(outcome, accept, lines),
    ]:
        say(text, json_target)
    return {
        "story": str(path),
        "title": outcome.story.title,
        "verdict": verdict.value,
        "steps": outcome.steps,
        "checks": outcome.checks,
        "failed": None if outcome.failed is None else
        {"line": outcome.failed[0], "why": outcome.failed[1]},
        "difference": [] if outcome.failed is not None else lines,
        "accepted": accept and outcome.failed is None,
    }  # fmt: skip


def _subject_of(outcome: StoryOutcome) -> str:
    return outcome.story.title or "(no title: a comment in its first line would be one)"


def _accept(path: Path, outcome: StoryOutcome) -> None:
    try:
        if outcome.story.commands:
            write_atomically(path, rerecorded(outcome))
    except OSError as error:
        raise WrongUse(f"{path}: {error.strerror}; name a story that can be written") from error


def _advice(outcome: StoryOutcome, accept: bool, lines: list[str]) -> list[str]:
    if not outcome.checks and outcome.failed is None:
        return ["    it checks nothing: add a line such as `check CLAIM` or `refused STEP`"]
    if outcome.failed is not None:
        return ["    nothing was recorded: it does not play to its end"] if accept else []
    if accept:
        return ["    recorded" if lines else "    already as recorded"]
    if outcome.is_new:
        return ["    nothing is recorded yet: insync story FILE --accept writes the output"]
    return ["    if the new text is right: insync story FILE --accept"] if lines else []
