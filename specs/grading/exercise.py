"""Reads exercises from Markdown: the task in words, and the checker's question in one block.

    # Two leaders at once
    Text: what is wanted, and a hint.
    ```exercise
    reach two_brokers_believe_they_lead    one of: reach, break, repair, prove, and a claim
    system classic version kip_320 brokers 3 log 2 records 2 epoch 1
    most 9                         steps (reach, break) or changes (repair); may be left out
    ```

`prove` names a claim that has a proof; `without INVARIANT` names the invariant removed from it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from model.former_names import exercise_now
from model.language import ProtocolError
from model.language.errors import unknown_name
from specs.story.heading import StoryHeading, read_heading

FOLDER = Path(__file__).resolve().parents[1] / "exercises"

TASKS = {
    "reach": "play a run that ends where the claim is so",
    "break": "play a run that ends where the claim is broken",
    "repair": "change switches until the claim holds",
    "prove": "write the invariant that the proof lacks",
}
"""What an exercise can ask for."""

_BLOCK = re.compile(r"^```exercise\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class ExerciseError(ProtocolError):
    """An exercise or an answer that cannot be read: `FILE:LINE: what is wrong, what is right`."""


@dataclass(frozen=True)
class Exercise:
    """One exercise: its system, its claim, and the most steps or changes."""

    name: str
    title: str
    text: str
    task: str
    claim: str
    opening: str
    """The heading of the system, as a story has it; for `prove` it is empty."""
    most: int | None
    missing: tuple[str, ...]
    """For `prove`: the invariants that were taken out."""

    @cached_property
    def heading(self) -> StoryHeading:
        """The system that is played or explored."""
        return read_heading(self.opening)

    @property
    def skeleton(self) -> str:
        """The first lines of an answer."""
        first = f"# exercise {self.name}"
        if self.task == "prove":
            return (
                f"{first}\nfrom specs.invariants import invariant\n\n\n"
                '@invariant("in one sentence", why="what would break without it")\n'
                "def its_name(now):\n    return ..."
            )
        after = "" if self.task == "repair" else "\n\n(steps, one a line)"
        return f"{first}\n{self.opening}{after}"


def exercises(folder: Path = FOLDER) -> tuple[Exercise, ...]:
    """Every exercise of a folder, by name."""
    return tuple(_read(path) for path in sorted(folder.glob("*.md")))


def exercise(name: str, folder: Path = FOLDER) -> Exercise:
    """The exercise with a name; the error for an unknown name suggests the nearest one."""
    known = {one.name: one for one in exercises(folder)}
    name = exercise_now(name)
    if name not in known:
        raise ProtocolError(unknown_name("exercise", name, sorted(known)))
    return known[name]


def _read(path: Path) -> Exercise:
    text = path.read_text(encoding="utf-8")
    found = _BLOCK.search(text)
    title = re.match(r"# (\S.*)", text)
    if found is None or title is None:
        raise ExerciseError(f"{path}:1: an exercise has a title, `# …`, and a block ```exercise")
    start = text.count("\n", 0, found.start(1)) + 1
    task = claim = opening = ""
    most: int | None = None
    missing: list[str] = []
    for number, line in enumerate(found[1].splitlines(), start):
        word, _, rest = line.partition(" ")
        if word in TASKS:
            task, claim = word, rest.strip()
        elif word == "system":
            opening = line.strip()
        elif word == "most" and rest.isdecimal():
            most = int(rest)
        elif word == "without":
            missing.append(rest.strip())
        elif line.strip():
            raise ExerciseError(
                f"{path}:{number}: {line!r} is no line of an exercise; write one of: "
                f"{', '.join(TASKS)}, system, most N, without INVARIANT"
            )
    if not claim or bool(opening) is (task == "prove") or bool(missing) is not (task == "prove"):
        raise ExerciseError(
            f"{path}:{start}: write a task with its claim ({', '.join(TASKS)}); and a system, or "
            "for prove what it goes without"
        )
    prose = (text[: found.start()] + text[found.end() :]).strip()
    return Exercise(path.stem, title[1], prose, task, claim, opening, most, tuple(missing))
