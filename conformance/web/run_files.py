"""Reads a run from any file that contains one: a story, a trace, or JSON of a command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from conformance.web.replayed_run import NoRunError as NoRunError
from conformance.web.replayed_run import ReplayedRun as ReplayedRun
from impl.world.trace import opened
from model.language import ProtocolError
from model.systems import system
from specs.state_text import text
from specs.story.commands import StoryCommand
from specs.story.heading import heading_line
from specs.story.read import Story, StoryError, read_story


def read_run(path: Path, claim: str | None = None) -> ReplayedRun:
    """The run in a file; of several, that of `claim`. Raises NoRunError, OSError."""
    if path.suffix == ".story":
        if claim is not None:
            raise NoRunError(f"{path}: a story is one run; leave --claim {claim} out")
        return _story(path)
    try:
        with opened(path) as lines:
            content = "".join(lines)
    except ValueError as error:
        raise _no_json(path, error) from error
    if not content.strip():
        raise NoRunError(f"{path}: is empty; a run is what insync find --json FILE writes")
    if '"insync.trace/' in content.partition("\n")[0]:
        from conformance.web.trace_as_run import traced  # the replay takes a moment to load

        return traced(path)[0]
    try:
        data = json.loads(content)
    except (ValueError, RecursionError) as error:  # brackets nested too deep for the parser
        raise _no_json(path, error) from error
    if isinstance(data, dict) and isinstance(data.get("findings"), list):
        from conformance.web.trace_as_run import of_findings

        return of_findings(path, data["findings"], claim)
    found = _runs(data)
    if claim is not None:
        found = [run for run in found if run.get("claim") == claim]
    if not found:
        wanted = f"no run of {claim}" if claim else "no run"
        raise NoRunError(f"{path}: holds {wanted}; insync find CLAIM SYSTEM --json FILE writes one")
    try:
        return of_run(found[0])
    except (KeyError, TypeError, AttributeError) as error:
        raise NoRunError(f"{path}: its run lacks {error}; write it again with --json") from error
    except ProtocolError as error:
        raise NoRunError(f"{path}: {error}") from error


def _no_json(path: Path, error: Exception) -> NoRunError:
    line = getattr(error, "lineno", 1)
    return NoRunError(
        f"{path}:{line}: is no JSON; name a story, a trace, or what insync find --json FILE wrote"
    )


def _runs(data: Any) -> list[dict[str, Any]]:
    """Every object that looks like a run, in the file's order."""
    if isinstance(data, list):
        return [run for one in data for run in _runs(one)]
    if not isinstance(data, dict):
        return []
    if isinstance(data.get("steps"), list) and "system" in data and data["steps"]:
        return [data]
    return [run for value in data.values() for run in _runs(value)]


def of_run(run: dict[str, Any]) -> ReplayedRun:
    """A run in the form that `find --json` writes."""
    recorded = system(run["system"]).recorded(run["version"], run.get("without") or {})
    bounds = {name: int(number) for name, number in (run.get("bounds") or {}).items()}
    lines = tuple(line_of_step(step["step"], step["args"]) for step in run["steps"])
    verb = "reaches" if run.get("verdict") == "holds" else "breaks"
    title = f"{run['system']} {run['version']}: the shortest run that {verb} {run.get('claim')}"
    if run.get("sentence"):
        title += f": {run['sentence']}"
    return ReplayedRun(title, heading_line(recorded, bounds), lines, run.get("loop"))


def _story(path: Path) -> ReplayedRun:
    try:
        story = read_story(path)
    except StoryError as error:
        raise NoRunError(str(error)) from error
    if story.heading is None:
        raise NoRunError(f"{path}: has no line to play; see specs/stories for examples")
    return of_story(story)


def of_story(story: Story) -> ReplayedRun:
    """The run of a story that has a heading."""
    assert story.heading is not None
    heading = heading_line(story.heading.recorded, story.heading.given)
    lines = tuple(line_of(one) for one in story.commands if one.is_step)
    return ReplayedRun(story.title.lstrip("# ").strip(), heading, lines)


def line_of(command: StoryCommand) -> str:
    """A step as a story writes it: its label with spaces for brackets and commas."""
    step, _, arguments = command.label.rstrip(")").partition("(")
    return " ".join([step, *arguments.split(", ")]).strip()


def line_of_step(step: str, arguments: dict[str, Any]) -> str:
    """The same for a step of a run."""
    return " ".join([step, *(f"{name}={_value_text(value)}" for name, value in arguments.items())])


def _value_text(value: Any) -> str:
    return text(value, is_set=isinstance(value, list))
