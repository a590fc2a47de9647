"""A packed state, read leaf by leaf as a person writes it: `now["replica.epoch", 1]`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from model.language.grounding import Grounded
from model.language.python_code import PythonCode, State
from specs.reading import plain

Key = tuple[object, ...]


class Layout:
    """Where the leaves of a grounded system stand, and what their codes mean."""

    def __init__(self, code: PythonCode) -> None:
        self.code = code
        grounded: Grounded = code.grounded
        self.places: dict[object, tuple[int, list[Any]]] = {}
        for cell in grounded.cells:
            values = [plain(cell.field.sort, value) for value in cell.domain]
            key: object = (cell.field.name, *cell.index) if cell.index else cell.field.name
            self.places[key] = (cell.number, values)

    @cached_property
    def brokers(self) -> range:
        """Every broker."""
        return self.range("brokers")

    def range(self, bound: str) -> range:
        """From 1 to a bound of the instance."""
        return range(1, self.code.grounded.bounds[bound] + 1)


class View:
    """One state. A leaf is asked for by its field, then its indices."""

    __slots__ = ("_places", "layout", "state")

    def __init__(self, layout: Layout, state: State) -> None:
        self.layout, self.state = layout, state
        self._places: Mapping[object, tuple[int, list[Any]]] = layout.places

    def __getitem__(self, key: object) -> Any:
        number, values = self._places[key]
        return values[self.state[number]]

    def members(self, name: str, *index: object) -> frozenset[int]:
        """The brokers in a set."""
        return frozenset(b for b in self.layout.brokers if self[(name, *index, b)])

    def records(self, log: str, *index: object, part: str = "id") -> tuple[Any, ...]:
        """A part of every record of a log, in order."""
        end = self[(f"{log}.end", *index)]
        return tuple(self[(f"{log}.at.{part}", *index, o)] for o in range(end))
