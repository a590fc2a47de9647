"""Answers requests of the page: functions from a JSON object to plain data.

Invalid requests raise ProtocolError, whose message is shown unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from conformance.web.address import address, open_address
from conformance.web.board import Board, RunFrame, board
from conformance.web.compare import NoComparisonError, compared, packed, under
from conformance.web.explain import frames_of, markdown, page
from conformance.web.goals import EXAMPLES, READY, possible, prepare, reads, shortest
from conformance.web.phrases import phrase
from conformance.web.printed_run import svg
from conformance.web.run_exports import mermaid, pytest_of
from conformance.web.run_files import ReplayedRun, line_of_step
from model.bugs.known import known_for
from model.language import ProtocolError
from model.systems import SYSTEMS
from model.versions import SWITCHES
from specs.rendering import as_data
from specs.story.play import play
from specs.story.read import RULE, parse
from specs.story.rerecord import rerecorded

if TYPE_CHECKING:
    from specs.exploration import Report

MOST_STATES = 3_000_000
"""A goal is looked for in as many states; beyond, the answer is that it was not found."""


def systems(_asked: dict[str, Any]) -> list[dict[str, Any]]:
    """What can be opened: systems, their versions, switches and bounds."""
    return [
        {
            "name": one.name,
            "about": one.about,
            "versions": [{"name": v.name, "about": v.about} for v in one.versions.values()],
            "default": one.default_version,
            "switches": [
                {"name": name, "about": about,
                 "values": [str(value).lower() for value in SWITCHES[name].values]
                 if name in SWITCHES else [], "source": SWITCHES[name].source
                 if name in SWITCHES else ""}
                for name, about in one.switches.items()
            ],
            "goal": EXAMPLES.get(one.name, ""),
            "bounds": [{"name": n, "default": b.default, "least": b.least, "what": b.what}
                       for n, b in one.bounds.items()],
        }
        for one in SYSTEMS.values()
    ]  # fmt: skip


def state_after(asked: dict[str, Any]) -> dict[str, Any]:
    """The state after some lines: its picture, claims, the steps that can happen and the others."""
    here, lines = _board_and_lines(asked)
    cards, refused = here.choices(lines)
    return {"heading": here.heading_text, "frame": here.frame(lines), "possible": cards,
            "refused": refused, "address": address(here.heading_text, lines)}  # fmt: skip


def opening(asked: dict[str, Any]) -> dict[str, Any]:
    """The run of an address, how many of its lines are possible, and changes since the address."""
    found = open_address(str(asked.get("address", "")))
    count, refused = _possible(board(found.heading), found.lines)
    said = ", and ".join(filter(None, [found.said, refused])) or None
    return {"heading": found.heading, "lines": found.lines[:count], "said": said}


def check(asked: dict[str, Any]) -> dict[str, Any]:
    """How many lines of a game are possible, and why the next is not."""
    here, lines = _board_and_lines(asked)
    count, refused = _possible(here, lines)
    return {"heading": here.heading_text, "lines": lines[:count], "said": refused}


def _possible(here: Board, lines: Sequence[str]) -> tuple[int, str | None]:
    for end in range(1, len(lines) + 1):
        try:
            here.at(lines[:end])
        except ProtocolError as error:
            return end - 1, str(error)
    return len(lines), None


def words(asked: dict[str, Any]) -> list[str]:
    """The lines in plain words, independent of a run."""
    return [phrase(line) if line.strip() else line for line in _lines(asked)]


def saved(asked: dict[str, Any]) -> list[dict[str, str]]:
    """The guards without which a claim would break by the next step."""
    here, lines = _board_and_lines(asked)
    return here.guards_that_save(lines)


def goals(asked: dict[str, Any]) -> list[dict[str, str]]:
    """The goals that have a name: the usual ones first, then every claim."""
    here, _ = _board_and_lines(asked)
    recorded = here.heading.recorded
    known = {name: claim for name, (claim, _) in recorded.claims.items()
             if claim.kind != "eventually"}  # fmt: skip
    ready = READY.get(recorded.system.name, {})
    first = [(words, known[name]) for words, name in ready.items() if name in known]
    others = [
        (f"{'reach' if claim.kind == 'sometimes' else 'break'} {name}", claim)
        for name, claim in known.items()
        if name not in ready.values()
    ]
    return [
        {"words": words, "claim": claim.name, "kind": claim.kind, "sentence": claim.sentence}
        for words, claim in [*first, *others]
    ]


def way(asked: dict[str, Any], report: Report = lambda line: None) -> dict[str, Any]:
    """The shortest path to a goal: `claim` to be broken or reached, `goal` in the notation, or a
    `step` to become possible; `from` the beginning, or the shown state ("here").

    `report` is called with the progress; what it raises ends the search."""
    here, lines = _board_and_lines(asked)
    recorded = here.heading.recorded
    claim, goal = None, None
    if "step" in asked:
        goal = possible(*here.read(str(asked["step"]), 1))
    elif "goal" in asked:
        goal = reads(recorded, str(asked["goal"]))
    else:
        claim = str(asked.get("claim", ""))
        recorded.claim(claim)
    from_here = asked.get("from") == "here"
    state = here.at(lines) if from_here else None
    bounds = recorded.system.limits(here.heading.given)
    known = known_for(recorded, claim) if claim is not None else None
    if known is not None:
        given = here.heading.given
        bounds |= {name: n for name, n in known.raised.items() if name not in given}
    found, run = shortest(recorded, state, bounds, claim, goal, MOST_STATES, report)
    within = found.grounded.bounds
    if run is None:
        why = "no run within the bounds does" if found.complete else "not found in so many states"
        none = [
            name for name, n in within.items() if n == 0 and not recorded.system.bounds[name].least
        ]
        return {"lines": None, "why": why, "distinct": found.distinct, "bounds": within,
                "ruled_out": none}  # fmt: skip
    after = [line_of_step(step.step, step.args) for step in run.steps]
    return {"lines": [*lines, *after] if from_here else after, "more": len(after), "why": None,
            "distinct": found.distinct, "bounds": within}  # fmt: skip


def preparations(heading: str) -> Iterator[None]:
    """Prepares the goals that a game offers first, a part at a time.

    Errors of a goal are reported when it is requested, not here.
    """
    recorded = board(heading).heading.recorded
    bounds = recorded.system.limits(board(heading).heading.given)
    known = [name for name in READY.get(recorded.system.name, {}).values()
             if name in recorded.claims]  # fmt: skip
    for number, name in enumerate(known):
        with suppress(ProtocolError):
            prepare(recorded, bounds, name)
        yield
        if number == 0:
            way({"heading": "system classic brokers 2 log 1 records 1", "claim": "strong_isr"})
            yield


def story(asked: dict[str, Any]) -> dict[str, str]:
    """The game as a recorded story, ready to be saved and played again."""
    here, lines = _board_and_lines(asked)
    title = str(asked.get("title") or "A run").strip().replace("\n", " ").rstrip(".")
    written = "\n".join([f"# {title}.", here.heading_text, "", *lines, RULE]) + "\n"
    return {"text": rerecorded(play(parse(written, "run.story")))}


def kept(asked: dict[str, Any]) -> dict[str, str]:
    """The game in a `form` to save: a story, a picture, a diagram, a page, a test, or data."""
    form = str(asked.get("form", "story"))
    if form == "story":
        return {"text": story(asked)["text"], "name": "run.story"}
    here, lines = _board_and_lines(asked)
    played = ReplayedRun(str(asked.get("title") or "A run"), here.heading_text, tuple(lines))
    frames = frames_of(here, lines)
    if form == "json":
        data = {"title": played.title, "heading": played.heading, "lines": lines,
                "frames": as_data(frames)}  # fmt: skip
        return {"text": json.dumps(data, indent=1, ensure_ascii=False) + "\n", "name": "run.json"}
    if form not in FORMS:
        raise ProtocolError(f"{form!r} is no form; there are story, json, {', '.join(FORMS)}")
    return {"text": FORMS[form](played, frames), "name": f"test_run.{form}" if form == "py"
            else f"run.{form}"}  # fmt: skip


FORMS: dict[str, Callable[[ReplayedRun, Sequence[RunFrame]], str]] = {
    "svg": svg, "mmd": mermaid, "py": pytest_of, "md": markdown, "html": page,
}  # fmt: skip


def compare(asked: dict[str, Any]) -> dict[str, Any]:
    """Two runs in lock-step: `left` and `right`, or `left` and the same steps `under` a version."""
    left = _run_of(asked.get("left"), "left")
    if "under" in asked:
        right = under(left, str(asked["under"]))
    else:
        right = _run_of(asked.get("right"), "right")
    try:
        return packed(compared(left, right))
    except NoComparisonError as error:
        raise ProtocolError(str(error)) from error


def _run_of(run: Any, which: str) -> ReplayedRun:
    if not isinstance(run, list) or not run or not all(isinstance(one, str) for one in run):
        raise ProtocolError(f"{which} is a run: its heading, then its lines, a text each")
    return ReplayedRun(run[0], " ".join(run[0].split()), tuple(run[1:]))


def _board_and_lines(asked: dict[str, Any]) -> tuple[Board, list[str]]:
    heading, lines = asked.get("heading"), _lines(asked)
    if not isinstance(heading, str):
        raise ProtocolError("name the system: system replication version 2.3 brokers 3")
    return board(" ".join(heading.split())), lines


def _lines(asked: dict[str, Any]) -> list[str]:
    lines = asked.get("lines", [])
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        raise ProtocolError("lines are the steps of a story, a text each")
    return lines


ANSWERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "systems": systems, "at": state_after, "saved": saved, "goals": goals, "way": way,
    "story": story, "kept": kept, "compare": compare, "opened": opening, "check": check,
    "words": words,
}  # fmt: skip
