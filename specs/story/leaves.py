"""Writes a sparse state as readable leaves: `replica[1].isr`, `log[2]`, `zk.version`.

The paths and texts are those of `specs.state_text` for enumerated states, but the numbers of the
states have no limit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from model.former_names import field_now
from model.language import ProtocolError, RecordedSystem
from model.language.errors import unknown_name
from model.language.evaluate import Evaluator, Index, SparseState
from model.language.schema import Field
from model.language.sorts import Enumeration
from specs.state_text import LeafPlace, keys_of, log_of, log_part, place_of, plain, text


class Leaves:
    """Groups the fields of a system into leaves; `kept` are the fields that are shown."""

    def __init__(self, twin: Evaluator, kept: Iterable[str]) -> None:
        self._twin = twin
        self._fields = twin.recorded.fields
        self._kept = set(kept)
        self._order = {name: position for position, name in enumerate(self._fields)}

    def changes(self, before: SparseState, after: SparseState) -> list[str]:
        """`zk.isr: {1,2,3} → {1,2}`, a line for each leaf that differs, in the schema's order."""
        changed: dict[LeafPlace, tuple[int, Index]] = {}
        for name in sorted({*before, *after} & self._kept, key=self._order.__getitem__):
            old, new = before.get(name, {}), after.get(name, {})
            for index in sorted({*old, *new}):
                if old.get(index) != new.get(index):
                    place = place_of(self._fields, self._fields[name], index)
                    changed.setdefault(place, (self._order[name], place.keys))
        return [
            f"{place.path}: {self.value_text(place, before)} → {self.value_text(place, after)}"
            for place in sorted(changed, key=changed.__getitem__)
        ]

    # -- values -------------------------------------------------------------------------------

    def value_text(self, place: LeafPlace, state: SparseState) -> str:
        """A leaf's value as text."""
        return text(self._value(place, state), is_set=place.kind == "set")

    def _value(self, place: LeafPlace, state: SparseState) -> Any:
        if place.kind == "log":
            return self._log(place, state)
        return value_of(self._twin, self._fields[place.name], place.keys, state)

    def _log(self, place: LeafPlace, state: SparseState) -> list[dict[str, Any]]:
        end = self._twin.read(state, f"{place.name}.end", place.keys)
        parts = [leaf for leaf in self._fields.values() if leaf.log == place.name]
        start = len(f"{place.name}.at.")
        return [
            {
                leaf.name[start:]: log_part(
                    leaf, len(place.keys) + 1, _below(state, leaf, (*place.keys, offset))
                )
                for leaf in parts
            }
            for offset in range(end)
        ]

    # -- by name ------------------------------------------------------------------------------

    def named(self, wanted: str, state: SparseState) -> list[str]:
        """`zk.isr: {1,2}` for a path, a line for each leaf below it or of it.

        A map over numbers shows only its non-blank entries. Raises ProtocolError for a path that
        the system does not have.
        """
        name, keys = _split(wanted)
        fields = fields_named(self._twin.recorded, wanted)
        places: dict[LeafPlace, None] = {}
        for leaf in fields:
            for index in self._indices(leaf, state):
                place = place_of(self._fields, leaf, index)
                shown = tuple(
                    sort.show(part) for sort, part in zip(leaf.dims, place.keys, strict=False)
                )
                if shown[: len(keys)] == keys:
                    places[place] = None
        if not places:
            where = "".join(f"[{key}]" for key in keys)
            raise ProtocolError(f"{name} has nothing at {where}: show {name} shows where it has")
        return [f"{place.path}: {self.value_text(place, state)}" for place in places]

    def _indices(self, leaf: Field, state: SparseState) -> list[Index]:
        """The map keys of a field: all of an enumeration, of numbers those with an entry."""
        found: list[Index] = [()]
        for position, sort in enumerate(leaf.dims[: keys_of(self._fields, leaf)]):
            if isinstance(sort, Enumeration):
                parts = list(sort.domain(self._twin.bounds))
            else:
                parts = sorted({index[position] for index in state.get(leaf.name, {})})
            found = [(*index, part) for index in found for part in parts]
        return found


def value_of(twin: Evaluator, leaf: Field, keys: Index, state: SparseState) -> Any:
    """A field that is no part of a log, as plain data: a value, or the members of a set."""
    if leaf.set_from is None:
        return plain(leaf.sort, twin.read(state, leaf.name, keys))
    size = len(keys)
    members = [index[size:] for index in sorted(state.get(leaf.name, {})) if index[:size] == keys]
    return [member[0] if len(member) == 1 else member for member in members]


def _below(state: SparseState, leaf: Field, keys: Index) -> dict[Index, int]:
    """The entries of a field at these keys, in a state that leaves blank ones out."""
    entries = state.get(leaf.name, {})
    return {index: code for index, code in entries.items() if index[: len(keys)] == keys}


def fields_named(recorded: RecordedSystem, wanted: str) -> list[Field]:
    """The fields at a path or below it; the error for an unknown path suggests the nearest one."""
    name, _ = _split(wanted)
    name = field_now(recorded.system.name, name)
    fields = recorded.fields
    found = [
        leaf
        for leaf in fields.values()
        if name in (leaf.name, log_of(fields, leaf)) or leaf.name.startswith(f"{name}.")
    ]
    if not found:
        first = name.partition(".")[0]
        parts = [known for known in fields if known.startswith(f"{first}.")]
        whole = {known.partition(".")[0] for known in fields}
        raise ProtocolError(unknown_name(f"field of {recorded.system.name}", name, parts or whole))
    return found


def _split(wanted: str) -> tuple[str, tuple[str, ...]]:
    """`replica[2].isr` -> `replica.isr`, (2,): indices stand behind the first part."""
    match = re.fullmatch(r"(\w+)((?:\[\w+\])*)((?:\.\w+)*)", wanted)
    if match is None:
        raise ProtocolError(f"{wanted!r} is no field; write it as a story tells it: replica[2].isr")
    return match[1] + match[3], tuple(re.findall(r"\w+", match[2]))
