"""Reads a story's first line: `system replication version 2.3 without fetch_fencing brokers 3`.

After the system, pairs of words in any order: `version V`, `without SWITCH` (a Boolean switch, as
it was before the fix), `with SWITCH=VALUE`, and `BOUND N` for every bound named.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from model.former_names import switch_now
from model.language import ProtocolError, RecordedSystem, System
from model.language.errors import unknown_name
from model.language.recording import Recorded, nodes
from model.language.schema import SetOf
from model.language.sorts import Bounded, Enumeration, Numbers, Sort
from model.language.terms import Term
from model.systems import system
from model.versions import SWITCHES

OPENING = "system replication version 2.3 brokers 3"

ROOM = 64
"""Numbers that a guard or a claim ranges over, where the story names no bound: none is reached."""


@dataclass(frozen=True)
class StoryHeading:
    """The system on which a story is played, recorded for its version and switches, and its bounds.

    `given` are the bounds that the story names; steps beyond one are refused.
    """

    recorded: RecordedSystem
    given: dict[str, int]

    @cached_property
    def step_bounds(self) -> dict[str, int]:
        """The bounds for steps: sizes, and bounds that guards name; other numbers have no limit."""
        own = self.recorded.system
        named = {*_enumerated(self.recorded), *_named_at_first(self.recorded)}
        sizes = {name: own.bounds[name].default or ROOM for name in sorted(named)}
        limits = dict.fromkeys(_named_by_limit(self.recorded), ROOM)
        return {**limits, **sizes, **self.given}

    def claim_bounds(self, greatest: int) -> dict[str, int]:
        """The bounds for claims, which range over all numbers: cells beyond the greatest number are
        blank.
        """
        room = dict.fromkeys(self.recorded.system.bounds, max(ROOM, greatest + 1))
        return {**room, **self.step_bounds}


def read_heading(text: str) -> StoryHeading:
    """The heading in a line; ProtocolError names the wrong word."""
    words = text.split()
    if words[:1] != ["system"] or len(words) < 2:
        raise ProtocolError(
            f"a story begins with its system, not with {reprlib.repr(text)}; "
            f"write a line such as: {OPENING}"
        )
    chosen = system(words[1])
    version: str | None = None
    changed: dict[str, object] = {}
    bounds: dict[str, int] = {}
    for key, value in _pairs(words[2:]):
        if key == "version":
            chosen.version(version := value)
        elif key in ("without", "with"):
            name, setting = _thrown_back(value) if key == "without" else _setting(value)
            if name not in chosen.switches:
                raise ProtocolError(unknown_name(f"switch of {chosen.name}", name, chosen.switches))
            changed[name] = setting
        else:
            bounds[key] = _number(chosen, key, value)
    chosen.limits(bounds)
    return StoryHeading(chosen.recorded(version, changed), bounds)


def _pairs(words: list[str]) -> Iterable[tuple[str, str]]:
    if len(words) % 2:
        raise ProtocolError(f"{words[-1]!r} has no value; write pairs of words: {OPENING}")
    return zip(words[::2], words[1::2], strict=True)


def _thrown_back(name: str) -> tuple[str, object]:
    name = switch_now(name)
    values = SWITCHES[name].values if name in SWITCHES else (False,)
    if not isinstance(values[0], bool):
        shown = ", ".join(map(str, values))
        raise ProtocolError(f"{name} is one of {shown}; write which: with {name}={values[0]}")
    return name, values[0]


def _setting(text: str) -> tuple[str, object]:
    name, equals, value = text.partition("=")
    name = switch_now(name)
    values = SWITCHES[name].values if name in SWITCHES else ()
    if not equals:
        raise ProtocolError(f"with {text}: write with SWITCH=VALUE, such as with truncation=hw")
    by_text = {str(known).lower(): known for known in values}
    if values and value.lower() not in by_text:
        raise ProtocolError(unknown_name(f"value of {name}", value, by_text))
    return name, by_text.get(value.lower(), value)


def _number(chosen: System, name: str, value: str) -> int:
    words = ["version", "without", "with", *chosen.bounds]
    if name not in chosen.bounds:
        raise ProtocolError(unknown_name(f"word or bound of {chosen.name}", name, words))
    if not value.isdecimal():
        raise ProtocolError(f"{name} {value}: {value!r} is not a whole number, as in {name} 3")
    return int(value)


def heading_line(recorded: RecordedSystem, bounds: dict[str, int]) -> str:
    """The line that `read_heading` reads as this heading."""
    words = ["system", recorded.system.name, "version", recorded.version]
    for name, value in sorted(recorded.without.items()):
        before = SWITCHES[name].values[0] if name in SWITCHES else False
        plainly = isinstance(value, bool) and value is before
        words += ["without", name] if plainly else ["with", f"{name}={value}"]
    for name, number in bounds.items():
        words += [name, str(number)]
    return " ".join(words)


def _parameters(step: Recorded) -> Iterable[Sort]:
    for sort in step.parameters.values():
        yield sort.element if isinstance(sort, SetOf) else sort


def _enumerated(recorded: RecordedSystem) -> list[str]:
    """The bounds that are the size of an enumeration: no state can be read without them."""
    sorts = [sort for leaf in recorded.fields.values() for sort in (*leaf.dims, leaf.sort)]
    sorts += [sort for step in recorded.steps for sort in _parameters(step)]
    return sorted({sort.bound for sort in sorts if isinstance(sort, Enumeration)})


def _named_at_first(recorded: RecordedSystem) -> set[str]:
    """The bounds that the initial state names: how much there is of something."""
    return set(_bounds_in([one.value for one in recorded.initial]))


def _named_by_limit(recorded: RecordedSystem) -> list[str]:
    """The bounds that a guard or a write names by `limit`, or ranges over to their end."""
    terms: list[Term] = []
    for step in recorded.steps:
        terms += [one.condition for one in step.requires] + [one.value for one in step.writes]
    return _bounds_in(terms)


def _bounds_in(terms: list[Term]) -> list[str]:
    found: set[str] = set()
    for term in nodes(*terms):
        if term.op == "bound":
            found.add(str(term.args[0]))
        elif term.op in ("every", "some", "count", "least") and term.args[2] is None:
            sort = term.args[0].sort
            if isinstance(sort, Numbers) and isinstance(sort.high, Bounded):
                found.add(sort.high.bound)
    return sorted(found)
