"""What the page asks, and the answers: each a function from a JSON object to plain data.

Raises ProtocolError, whose message is shown as it is, for what makes no sense.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.web.board import Board, board
from conformance.web.compare import NoComparisonError, compared, packed, under
from conformance.web.retold import Retold, line_of_step
from model.language import ProtocolError
from model.systems import SYSTEMS
from model.versions import SWITCHES
from specs.story.play import play
from specs.story.read import RULE, parse
from specs.story.rerecord import rerecorded

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
            "bounds": [{"name": n, "default": b.default, "least": b.least, "what": b.what}
                       for n, b in one.bounds.items()],
        }
        for one in SYSTEMS.values()
    ]  # fmt: skip


def at(asked: dict[str, Any]) -> dict[str, Any]:
    """The state after some lines: its picture, claims, the steps that can happen and the others."""
    here, lines = _game(asked)
    possible, refused = here.cards(here.at(lines))
    return {"heading": here.heading_text, "frame": here.frame(lines), "possible": possible,
            "refused": refused}  # fmt: skip


def run(asked: dict[str, Any]) -> dict[str, Any]:
    """Every state on a run, for a look back; stops at the first line that is not possible."""
    here, lines = _game(asked)
    frames = []
    for end in range(len(lines) + 1):
        try:
            frames.append(here.frame(lines[:end]))
        except ProtocolError as error:
            return {"heading": here.heading_text, "frames": frames, "error": str(error)}
    return {"heading": here.heading_text, "frames": frames, "error": None}


def saved(asked: dict[str, Any]) -> list[dict[str, str]]:
    """The guards without which a claim would break by the next step."""
    here, lines = _game(asked)
    return here.guards_that_save(lines)


def goals(asked: dict[str, Any]) -> list[dict[str, str]]:
    """What can be looked for: every claim, to be broken or to be reached."""
    here, _ = _game(asked)
    return [
        {"claim": claim.name, "kind": claim.kind, "sentence": claim.sentence}
        for claim, _ in here.heading.recorded.claims.values()
        if claim.kind != "eventually"
    ]


def way(asked: dict[str, Any]) -> dict[str, Any]:
    """The shortest run from the beginning that breaks a claim, or reaches a `sometimes`."""
    from specs.explorer import find  # numba and LLVM take a moment

    here, _ = _game(asked)
    recorded = here.heading.recorded
    claim = str(asked.get("claim", ""))
    recorded.claim(claim)
    bounds = recorded.system.limits(here.heading.given)
    found, shortest = find(recorded, bounds, claim, max_states=MOST_STATES)
    if shortest is None:
        why = "no run within the bounds does" if found.complete else "not found in so many states"
        return {"lines": None, "why": why, "distinct": found.distinct, "bounds": bounds}
    lines = [line_of_step(step.step, step.args) for step in shortest.steps]
    return {"lines": lines, "why": None, "distinct": found.distinct, "bounds": bounds}


def story(asked: dict[str, Any]) -> dict[str, str]:
    """The game as a story, recorded, ready to be kept and played again."""
    here, lines = _game(asked)
    title = str(asked.get("title") or "A run").strip().replace("\n", " ").rstrip(".")
    written = "\n".join([f"# {title}.", here.heading_text, "", *lines, RULE]) + "\n"
    return {"text": rerecorded(play(parse(written, "run.story")))}


def compare(asked: dict[str, Any]) -> dict[str, Any]:
    """Two runs in lock-step: `left` and `right`, or `left` and the same steps `under` a version."""
    left = _told(asked.get("left"), "left")
    if "under" in asked:
        right = under(left, str(asked["under"]))
    else:
        right = _told(asked.get("right"), "right")
    try:
        return packed(compared(left, right))
    except NoComparisonError as error:
        raise ProtocolError(str(error)) from error


def _told(run: Any, which: str) -> Retold:
    if not isinstance(run, list) or not run or not all(isinstance(one, str) for one in run):
        raise ProtocolError(f"{which} is a run: its heading, then its lines, a text each")
    return Retold(run[0], " ".join(run[0].split()), tuple(run[1:]))


def _game(asked: dict[str, Any]) -> tuple[Board, list[str]]:
    heading, lines = asked.get("heading"), asked.get("lines", [])
    if not isinstance(heading, str):
        raise ProtocolError("name the system: system replication version 2.3 brokers 3")
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        raise ProtocolError("lines are the steps of a story, a text each")
    return board(" ".join(heading.split())), lines


ANSWERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "systems": systems, "at": at, "run": run, "saved": saved, "goals": goals, "way": way,
    "story": story, "compare": compare,
}  # fmt: skip
