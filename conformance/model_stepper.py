"""The model's side of a lock-step: the steps that it allows in a state, and how states differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from conformance.mapping import MAP, Facts, SystemMap
from impl.releases import DEFAULT
from model.language import RecordedSystem
from model.language.scalars import blank_term
from model.systems import system
from specs.lowering.grounding import Grounded
from specs.lowering.instances import Instance
from specs.lowering.python_code import PythonCode
from specs.state_text import StateText, text

Key = tuple[str, tuple[int, ...]]
"""A transition and its arguments, in the model's order."""


def _key(one: Instance) -> Key:
    """Transition and arguments; no transition takes a set."""
    return one.step.transition.name, tuple(int(cast("int", a)) for a in one.arguments)


class ModelStepper:
    """The model's side: a system compiled for some bounds, as its map says."""

    _kept: dict[object, ModelStepper] = {}

    def __init__(
        self, bounds: Mapping[str, int], about: SystemMap = MAP, version: str | None = None
    ) -> None:
        self.about = about
        self.recorded: RecordedSystem = system(about.system).recorded(
            version or DEFAULT, about.switches_of(version)
        )
        # No budget of faults is among these bounds: the walk's own weights keep faults rare.
        self.grounded = Grounded(self.recorded, bounds, [])
        self.code = PythonCode(self.grounded)
        self.reading = StateText(self.grounded)
        self._keys = [_key(one) for one in self.grounded.instances]
        self.instances: dict[Key, Instance] = dict(
            zip(self._keys, self.grounded.instances, strict=True)
        )
        self.parameters = {
            step.transition.name: tuple(step.parameters) for step in self.recorded.steps
        }
        self._number: dict[tuple[str, tuple[int, ...]], int] = {
            (cell.field.name, cell.index): cell.number for cell in self.grounded.cells
        }
        self._blank = [int(blank_term(cell.field.sort).args[0]) for cell in self.grounded.cells]
        self._unobserved = [
            cell.number for cell in self.grounded.cells if cell.field.name in about.unobserved
        ]
        # As states store them: a code less the least of its cell.
        self._low = self.code.low
        self._stored_blank = [
            blank - low for blank, low in zip(self._blank, self._low, strict=True)
        ]
        self._packed: type = type(self.code.initial)
        self._last: tuple[Any, dict[Key, Any]] | None = None
        self._fired = [0] * len(self.grounded.instances)
        self._refused = bytearray(len(self.grounded.reasons))

    @classmethod
    def of(
        cls, bounds: Mapping[str, int], about: SystemMap = MAP, version: str | None = None
    ) -> ModelStepper:
        """The model within these bounds, compiled at most once a process."""
        key = about.system, version, tuple(sorted(bounds.items()))
        if key not in cls._kept:
            cls._kept[key] = cls(bounds, about, version)
        return cls._kept[key]

    def enabled(self, state: Any) -> dict[Key, Any]:
        """Transition and arguments -> the next state, for all that is possible within the bounds.

        The last answer is cached, because a step asks several times about one state.
        """
        if self._last is not None and self._last[0] == state:
            return self._last[1]
        found = self.code.successors(state, self._fired, self._refused, {})
        names = self._keys
        keys: dict[Key, Any] = {names[number]: after for number, after in found}
        self._last = state, keys
        return keys

    def possible_beyond_bounds(self, key: Key, state: Any) -> bool:
        """Every requirement holds and only a bound forbids the step; or no such instance exists."""
        one = self.instances.get(key)
        if one is None:
            return True
        return self.code.first_refusal(one, state) is None

    def key(self, transition: str, arguments: Mapping[str, int]) -> Key:
        """A transition with its arguments in the model's order."""
        return transition, tuple(arguments[name] for name in self.parameters[transition])

    def differences(self, state: Any, facts: Facts) -> list[str]:
        """The leaves in which a model state and the implementation's facts differ, in words."""
        if self._same(state, facts):
            return []
        codes = self.code.decode(state)
        theirs = list(self._blank)
        beyond: list[str] = []
        for place, value in facts.items():
            number = self._number.get(place)
            if number is None:
                beyond.append(f"{place[0]}{list(place[1])} is beyond the bounds")
            else:
                theirs[number] = value
        for number in self._unobserved:
            theirs[number] = codes[number]
        if tuple(theirs) == codes:
            return beyond
        changes = self.reading.changes(codes, tuple(theirs))
        return beyond + [
            f"{path}: the model says {text(mine, is_set=self.reading.is_set(path))}, "
            f"the implementation {text(other, is_set=self.reading.is_set(path))}"
            for path, (mine, other) in changes.items()
        ]

    def _same(self, state: Any, facts: Facts) -> bool:
        theirs, numbers, low = self._stored_blank.copy(), self._number, self._low
        for place, value in facts.items():
            number = numbers.get(place)
            if number is None:
                return False
            theirs[number] = value - low[number]
        for number in self._unobserved:
            theirs[number] = state[number]
        try:
            return bool(self._packed(theirs) == state)
        except ValueError:
            return False  # no state stores such a value

    def why_not(self, key: Key, state: Any) -> str:
        """The first reason for which a transition is refused, or the bound that forbids it."""
        one = self.instances.get(key)
        if one is None:
            return "its arguments are beyond the bounds"
        position = self.code.first_refusal(one, state)
        if position is None:
            return "only a bound forbids it"
        return self.grounded.reasons[one.requires[position][1]][1]
