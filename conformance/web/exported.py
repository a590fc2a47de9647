"""A run for other tools: a Mermaid sequence diagram, and a test of pytest that plays it again."""

from __future__ import annotations

import re
from collections.abc import Sequence

from conformance.web.board import Frame
from conformance.web.explain import broken_by
from conformance.web.retold import Retold
from model.language.recording import Recorded
from model.language.sorts import Enumeration
from specs.story.heading import read_heading

_FEW = 4
"""Changes that a note shows; a diagram with all of them is no picture any more."""


def mermaid(told: Retold, frames: Sequence[Frame]) -> str:
    """A sequence diagram: an arrow where a step names two brokers, a note where it names one.

    Between the brokers stands ZooKeeper, which has the notes of the steps that name nobody.
    """
    steps = {one.transition.name: one for one in read_heading(told.heading).recorded.steps}
    lines = ["sequenceDiagram", f"    accTitle: {_clean(told.title)}"]
    lines.append("    participant zk as ZooKeeper")
    lines += [f"    participant b{one} as broker {one}" for one in frames[0].picture["brokers"]]
    for number, frame in enumerate(frames[1:], 1):
        brokers = _brokers_of(told.lines[number - 1], steps)
        label = _clean(f"{number} {frame.label}")
        if len(brokers) > 1:
            lines.append(f"    b{brokers[0]}->>b{brokers[1]}: {label}")
        else:
            place = f"b{brokers[0]}" if brokers else "zk"
            shown = [*frame.changes[:_FEW], *(["…"] if len(frame.changes) > _FEW else [])]
            lines.append(f"    Note over {place}: {'<br/>'.join([label, *map(_clean, shown)])}")
        lines += [f"    Note over zk: {_clean(name)} breaks" for name in broken_by(frames, number)]
    if told.loop is not None:
        lines.append(f"    Note over zk: and again from step {told.loop + 1}, without end")
    if told.diagnosis is not None:
        lines.append(f"    Note over zk: {_clean(told.diagnosis)}")
    return "\n".join(lines) + "\n"


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


def pytest_of(told: Retold, frames: Sequence[Frame]) -> str:
    """A test that plays the run and sees the same claims break, with nothing but this project."""
    last = frames[-1]
    broken = sorted(
        lamp.claim for lamp in last.lamps if lamp.kind.startswith("always") and not lamp.lit
    )
    name = re.sub(r"\W+", "_", told.title.lower()).strip("_")[:60] or "run"
    lines = [
        f'"""{_quoted(told.title)}"""',
        "",
        "from conformance.web.board import board",
        "",
        f'HEADING = "{told.heading}"',
        "LINES = [",
        *(f'    "{line}",' for line in told.lines[: len(frames) - 1]),
        "]",
        "",
        "",
        f"def test_{name}():",
        "    after = board(HEADING).frame(LINES)",
        "",
        "    always = [lamp for lamp in after.lamps if lamp.kind.startswith('always')]",
        f"    assert sorted(lamp.claim for lamp in always if not lamp.lit) == {broken!r}",
    ]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', "'''").rstrip('"')
