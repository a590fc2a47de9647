"""Resolves the lines of a story in the recorded system, all of them before the story is played.

A line is a step's name with its parameters, `leader_shrinks_isr leader=1 replica=3`, or a word of
`WORDS` with its arguments.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from model.former_names import claim_now, step_now
from model.language import ProtocolError, RecordedSystem
from model.language.errors import unknown_name
from model.language.properties import DEADLOCK
from model.language.recording import Recorded, Transition
from model.language.schema import SetOf
from model.language.sorts import BOOL, Enumeration, Names, Numbers, Sort
from model.language.system import shown
from specs.story.heading import StoryHeading
from specs.story.leaves import fields_named

STEP = "step"

WORDS: dict[str, tuple[str, str]] = {
    "quietly": (STEP, "takes a step and does not tell it"),
    "refused": (STEP, "the step is not possible; tells the first reason that fails"),
    "check": ("claim", "tells whether a claim holds here"),
    "show": ("field", "tells the values of a field, or of all below it"),
    "mark": ("name", "remembers the state"),
    "same": ("name", "the state is again the one that was marked"),
}
"""Every word of the language of stories: what it takes, and what it does."""

ASSERTING = ("refused", "check", "same")

Arguments = dict[str, "int | frozenset[int]"]


@dataclass(frozen=True)
class StoryCommand:
    """One line: `verb` is a word of `WORDS`, or `step`; `what` a step, claim, field or name."""

    line: int
    verb: str
    what: str
    arguments: Arguments = field(default_factory=dict)
    label: str = ""

    @property
    def is_step(self) -> bool:
        """Does the line take a step?"""
        return self.verb in (STEP, "quietly")


def read_command(line: int, text: str, heading: StoryHeading) -> StoryCommand:
    """The command of a line; ProtocolError names the wrong word and the nearest valid one."""
    recorded = heading.recorded
    first, *rest = text.split()
    verb, words = (first, rest) if first in WORDS else (STEP, [first, *rest])
    takes = WORDS[verb][0] if verb in WORDS else STEP
    if not words:
        raise ProtocolError(f"{verb} what? write: {verb} {takes.upper()} ({WORDS[verb][1]})")
    if takes == STEP:
        return _read_step(line, verb, words, heading)
    if len(words) > 1:
        raise ProtocolError(f"{verb} takes one {takes}; {' '.join(words[1:])!r} is too much")
    if takes == "claim":
        words = [claim_now(words[0], recorded.system.name)]
    if takes == "claim" and words[0] not in (*recorded.claims, DEADLOCK):
        known = [*recorded.claims, DEADLOCK]
        raise ProtocolError(unknown_name(f"claim of {recorded.system.name}", words[0], known))
    if takes == "field":
        fields_named(recorded, words[0])
    return StoryCommand(line, verb, words[0])


def step_named(recorded: RecordedSystem, name: str, words: tuple[str, ...] = ()) -> Recorded:
    """A step of the version. The error for an unknown step suggests the nearest one.

    The error for a step of other versions names those versions.
    """
    name = step_now(name, recorded.system.name)
    steps = {step.transition.name: step for step in recorded.steps}
    if name in steps:
        return steps[name]
    for transition in recorded.system.transitions:
        if transition.name == name:
            raise ProtocolError(_of_another_version(recorded, transition, steps))
    kind = "word or step" if words else "step"
    raise ProtocolError(unknown_name(f"{kind} of {recorded.system.name}", name, [*words, *steps]))


def _of_another_version(recorded: RecordedSystem, step: Transition, here: Iterable[str]) -> str:
    system = recorded.system
    near = difflib.get_close_matches(step.name, sorted(here), n=1, cutoff=0.5)
    hint = f"; the nearest here is {near[0]}" if near else ""
    having = [name for name, one in system.versions.items() if step.applies(one.switches)]
    who = f"version {having[0]} has" if len(having) == 1 else f"versions {', '.join(having)} have"
    where = f"{who} it" if having else "no version has it as it is"
    changed = "".join(f" with {name}={shown(value)}" for name, value in recorded.without.items())
    return f"{system.name} {recorded.version}{changed} has no step {step.name}: {where}{hint}"


def _read_step(line: int, verb: str, words: list[str], heading: StoryHeading) -> StoryCommand:
    name, *given = words
    step = step_named(heading.recorded, name, tuple(WORDS) if verb == STEP else ())
    arguments: Arguments = {}
    for word in given:
        parameter, equals, value = word.partition("=")
        if not equals:
            example = " ".join(f"{key}=…" for key in step.parameters)
            raise ProtocolError(f"{word!r} has no name; write: {name} {example}".rstrip())
        if parameter not in step.parameters:
            raise ProtocolError(unknown_name(f"parameter of {name}", parameter, step.parameters))
        if parameter in arguments:
            raise ProtocolError(f"{parameter} is given twice")
        arguments[parameter] = _value(step.parameters[parameter], parameter, value, heading)
    missing = [parameter for parameter in step.parameters if parameter not in arguments]
    if missing:
        raise ProtocolError(f"{name} also needs {', '.join(f'{one}=…' for one in missing)}")
    return StoryCommand(line, verb, step.transition.name, arguments, step_text(step, arguments))


def _value(
    sort: Sort | SetOf, parameter: str, text: str, heading: StoryHeading
) -> int | frozenset[int]:
    if isinstance(sort, SetOf):
        if not (text.startswith("{") and text.endswith("}")):
            raise ProtocolError(f"{parameter}={text}: write a set without spaces: {{1,2}}")
        parts = [part for part in text[1:-1].split(",") if part]
        return frozenset(_code(sort.element, parameter, part, heading) for part in parts)
    return _code(sort, parameter, text, heading)


def _code(sort: Sort, parameter: str, text: str, heading: StoryHeading) -> int:
    """A value by its text, as the model's engineers write it."""
    if isinstance(sort, Names) or sort is BOOL or isinstance(sort, Enumeration):
        by_text = {sort.show(code): code for code in sort.domain(heading.step_bounds)}
        if text in by_text:
            return by_text[text]
        raise ProtocolError(
            f"there is no {sort.name} {text} ({parameter}={text}); one of: {', '.join(by_text)}"
        )
    assert isinstance(sort, Numbers)
    if sort.none_allowed and text == "none":
        return sort.none_code
    if not text.isdecimal() or int(text) < sort.low:
        raise ProtocolError(
            f"{parameter}={text}: {text!r} is no {sort.name}; write a number from {sort.low} on"
        )
    return int(text)


def step_text(step: Recorded, arguments: Arguments) -> str:
    """`leader_shrinks_isr(leader=1, replica=3)`, as runs print it."""
    shown = step.shown({name: arguments[name] for name in step.parameters})
    return f"{step.transition.name}({', '.join(shown)})"


def step_line(step: Recorded, arguments: Mapping[str, int | frozenset[int]]) -> str:
    """`leader_shrinks_isr leader=1 replica=3`, as stories write it."""
    return " ".join([step.transition.name, *step.shown(arguments)])
