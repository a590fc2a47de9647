"""Exports a run: a Mermaid sequence diagram, or a pytest test that plays it again."""

from __future__ import annotations

import re
from collections.abc import Sequence

from conformance.web.board import RunFrame
from conformance.web.explain import broken_by
from conformance.web.messages import FATES, lane_names
from conformance.web.run_files import ReplayedRun
from model.language.recording import Recorded
from model.language.sorts import Enumeration
from specs.story.heading import read_heading

_FEW = 4
"""Changes that a note shows; a diagram with all of them is no picture any more."""


_ARROWS = {"lost": ("-x", "--x"), "refused": ("-x", "--x"), "sent": ("-)", "--)"),
           "arrived": ("->>", "-->>")}  # fmt: skip
"""How a message is drawn, and an answer: with an open head it is on its way, with a cross lost."""


def mermaid(run: ReplayedRun, frames: Sequence[RunFrame]) -> str:
    """A sequence diagram: a note for each step, at its actor, and an arrow for each message.

    An arrow is drawn where a message is sent, and again where it arrives, is lost or is refused.
    """
    steps = {one.transition.name: one for one in read_heading(run.heading).recorded.steps}
    lines = ["sequenceDiagram", f"    accTitle: {_clean(run.title)}"]
    lines += [f"    participant {_lane(one)} as {name}"
              for one, name in lane_names(frames[0].picture)]  # fmt: skip
    for number, frame in enumerate(frames[1:], 1):
        brokers = _brokers_of(run.lines[number - 1], steps)
        label = _clean(f"{number} {frame.label}")
        shown = [*frame.changes[:_FEW], *(["…"] if len(frame.changes) > _FEW else [])]
        place = _lane(brokers[0]) if brokers else "zookeeper"
        lines.append(f"    Note over {place}: {'<br/>'.join([label, *map(_clean, shown)])}")
        for one in frame.picture["messages"]:
            if one["fate"] in _ARROWS:
                arrow = _ARROWS[one["fate"]][one["answer"]]
                what = _clean(f"{one['name']} {one['label']} ({FATES[one['fate']]})")
                lines += [f"    {_lane(one['source'])}{arrow}{_lane(target)}: {what}"
                          for target in one["targets"]]  # fmt: skip
        lines += [f"    Note over zookeeper: {_clean(name)} breaks"
                  for name in broken_by(frames, number)]  # fmt: skip
    if run.loop is not None:
        lines.append(f"    Note over zookeeper: and again from step {run.loop + 1}, without end")
    if run.diagnosis is not None:
        lines.append(f"    Note over zookeeper: {_clean(run.diagnosis)}")
    return "\n".join(lines) + "\n"


def _lane(key: str) -> str:
    return f"b{key}" if key.isdecimal() else key


def _brokers_of(line: str, steps: dict[str, Recorded]) -> list[str]:
    """The brokers that a line names, each once, in the order of the step's parameters."""
    name, *words = line.split()
    given = dict(word.split("=", 1) for word in words)
    sorts = steps[name].parameters.items()
    found = [given[key] for key, sort in sorts if isinstance(sort, Enumeration)]
    return list(dict.fromkeys(one for one in found if one.isdecimal()))


def _clean(text: str) -> str:
    """Mermaid ends a line at a semicolon and a label at a hash."""
    return text.replace("#", "no. ").replace(";", ",").replace("\n", " ")


def pytest_of(run: ReplayedRun, frames: Sequence[RunFrame]) -> str:
    """A test that plays the run and checks that the same claims break; needs only this project."""
    last = frames[-1]
    broken = sorted(lamp.claim for lamp in last.lamps if lamp.is_broken)
    name = re.sub(r"\W+", "_", run.title.lower()).strip("_")[:60] or "run"
    lines = [
        f'"""{_quoted(run.title)}"""',
        "",
        "from conformance.web.board import board",
        "",
        f'HEADING = "{run.heading}"',
        "LINES = [",
        *(f'    "{line}",' for line in run.lines[: len(frames) - 1]),
        "]",
        "",
        "",
        f"def test_{name}():",
        "    after = board(HEADING).frame(LINES)",
        "",
        "    always = [lamp for lamp in after.lamps if lamp.is_always]",
        f"    assert sorted(lamp.claim for lamp in always if not lamp.lit) == {broken!r}",
    ]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', "'''").rstrip('"')
