"""Sets a system of the model to a given state and takes single transitions, to answer a test
vector. Only the transitions that are used are compiled. Offsets, epochs and ids of a vector exceed
the bounds; since the protocol only compares them, each is replaced by its rank (`Ranks`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from impl.releases import Release
from model.language import System
from model.language.sorts import Names, Numbers
from model.systems import system
from specs.lowering.grounding import Grounded
from specs.lowering.instances import Instance
from specs.lowering.python_code import PythonCode

Place = tuple[str, tuple[int, ...]]
"""A cell: the field's name and its indices."""


class TwoAnswers(AssertionError):
    """Two encodings of one rule in the model give different answers; the message has both."""


class Ranks:
    """Replaces each number of a vector by its rank in ascending order."""

    def __init__(self, values: Iterable[int], first: int = 0) -> None:
        self.values = sorted(set(values))
        self.first = first

    def of(self, value: int) -> int:
        """The rank of a number that was named."""
        return self.values.index(value) + self.first

    def value(self, rank: int) -> int:
        """The number of a rank."""
        return self.values[rank - self.first]

    @property
    def last(self) -> int:
        """The greatest rank."""
        return len(self.values) - 1 + self.first


def preset_of(named: str | System, release: str) -> str:
    """The system's version for a release: its own, else the newest before it, else the oldest."""
    whole = _system(named)
    if release in whole.also:
        return release
    versions = sorted(whole.versions, key=lambda known: Release.of(known).parts)
    before = [known for known in versions if Release.of(release).since(known)]
    return before[-1] if before else versions[0]


def _system(named: str | System) -> System:
    return system(named) if isinstance(named, str) else named


class ModelStage:
    """One system under one version, with some of its transitions, within bounds."""

    _kept: dict[tuple[object, ...], ModelStage] = {}

    def __init__(
        self,
        whole: System,
        version: str,
        transitions: tuple[str, ...],
        bounds: Mapping[str, int],
        changed: Mapping[str, object],
    ) -> None:
        asked = tuple(step for step in whole.transitions if step.name in transitions)
        recorded = replace(whole, transitions=asked, claims=()).recorded(version, changed)
        self.grounded = Grounded(recorded, bounds, [])
        self.code = PythonCode(self.grounded)
        self.cells = {(cell.field.name, cell.index): cell for cell in self.grounded.cells}

    @classmethod
    def of(
        cls,
        named: str | System,
        version: str,
        transitions: Iterable[str],
        bounds: Mapping[str, int],
        **changed: object,
    ) -> ModelStage:
        """The stage for these, compiled at most once a process."""
        steps = tuple(sorted(transitions))
        whole = _system(named)
        version = preset_of(whole, version)
        key = (whole.name, version, steps, *sorted(bounds.items()), *sorted(changed.items()))
        if key not in cls._kept:
            cls._kept[key] = cls(whole, version, steps, bounds, changed)
        return cls._kept[key]

    def state(self, values: Mapping[Place, object], other: Any = None) -> Any:
        """A state, by default the initial one, with some cells changed.

        A value may be a number, a name, or None.
        """
        codes = list(self.code.decode(self.code.initial if other is None else other))
        for place, value in values.items():
            cell = self.cells[place]
            codes[cell.number] = _coded(cell.field.sort, value)
        return self.code.encode(codes)

    def read(self, state: Any, name: str, *index: int) -> Any:
        """A cell as plain data: None, a name, or a number."""
        cell = self.cells[name, index]
        code = self.code.decode(state)[cell.number]
        sort = cell.field.sort
        if isinstance(sort, Names):
            return sort.values[code]
        if isinstance(sort, Numbers) and sort.none_allowed and code == sort.none_code:
            return None
        return code

    def step(self, transition: str, state: Any, *arguments: int | None) -> Any:
        """The state after a transition, None if it is not possible.

        ``arguments`` are the first ones; of the others, such as the partition, the first values
        with which it is possible are taken.
        """
        found = self._instances(transition, arguments)
        if not found:
            raise KeyError(f"{transition}{arguments} is beyond the bounds")
        attempts = (self.code.attempt(one, state) for one in found)
        return next((after for after in attempts if after is not None), None)

    def attempt(self, transition: str, state: Any, *arguments: int | None) -> Any:
        """As ``step``; None too where the release has no such transition."""
        found = self._instances(transition, arguments)
        return self.step(transition, state, *arguments) if found else None

    def advance(self, state: Any, actor: int) -> tuple[str, Any] | None:
        """The first possible transition whose first argument is this broker, with the next
        state."""
        for one in self.grounded.instances:
            if one.arguments[0] == actor:
                after = self.code.attempt(one, state)
                if after is not None:
                    return str(one.step.transition.name), after
        return None

    def _instances(self, transition: str, arguments: tuple[int | None, ...]) -> list[Instance]:
        return [
            one
            for one in self.grounded.instances
            if one.step.transition.name == transition
            and tuple(one.arguments)[: len(arguments)] == arguments
        ]


def _coded(sort: Any, value: object) -> int:
    if isinstance(sort, Names):
        return sort.values.index(str(value))
    if value is None:
        return int(sort.none_code) if isinstance(sort, Numbers) else 0
    return int(value)  # type: ignore[call-overload,no-any-return]
