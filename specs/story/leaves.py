"""Writes a sparse state as readable leaves: `replica[1].isr`, `log[2]`, `zk.version`.

The paths and texts are those of `specs.state_text` for enumerated states, but the numbers of the
states have no limit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from model.former_names import field_now
from model.language import ProtocolError, RecordedSystem
from model.language.errors import unknown_name
from model.language.evaluate import Evaluator, Index, SparseState
from model.language.schema import Field
from model.language.sorts import Enumeration
from specs.state_text import log_part, plain, text


@dataclass(frozen=True)
class LeafPlace:
    """One leaf: a value, a set, or a whole log, at the keys of its maps."""

    name: str
    kind: str
    keys: Index
    path: str


class Leaves:
    """Groups the fields of a system into leaves; `kept` are the fields that are shown."""

    def __init__(self, twin: Evaluator, kept: Iterable[str]) -> None:
        self._twin = twin
        self._fields = twin.recorded.fields
        self._kept = set(kept)
        self._order = {name: position for position, name in enumerate(self._fields)}

    # -- places -------------------------------------------------------------------------------

    def _place(self, leaf: Field, index: Index) -> LeafPlace:
        name, kind, keep = leaf.name, "value", len(index)
        if leaf.set_from is not None:
            kind, keep = "set", leaf.set_from
        log = log_of(self._fields, leaf)
        if log is not None:
            name, kind, keep = log, "log", len(self._fields[f"{log}.end"].dims)
        keys = index[:keep]
        shown = "".join(
            f"[{sort.show(part)}]" for sort, part in zip(leaf.dims[:keep], keys, strict=True)
        )
        first, dot, rest = name.partition(".")
        return LeafPlace(name, kind, keys, f"{first}{shown}{dot}{rest}")

    def changes(self, before: SparseState, after: SparseState) -> list[str]:
        """`zk.isr: {1,2,3} → {1,2}`, a line for each leaf that differs, in the schema's order."""
        changed: dict[LeafPlace, tuple[int, Index]] = {}
        for name in sorted({*before, *after} & self._kept, key=self._order.__getitem__):
            old, new = before.get(name, {}), after.get(name, {})
            for index in sorted({*old, *new}):
                if old.get(index) != new.get(index):
                    place = self._place(self._fields[name], index)
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
        leaf = self._fields[place.name]
        if place.kind == "set":
            size = len(place.keys)
            entries = sorted(state.get(place.name, {}))
            members = [index[size:] for index in entries if index[:size] == place.keys]
            return [member[0] if len(member) == 1 else member for member in members]
        return plain(leaf.sort, self._twin.read(state, place.name, place.keys))

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
                place = self._place(leaf, index)
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
        keep = len(leaf.dims) if leaf.set_from is None else leaf.set_from
        log = log_of(self._fields, leaf)
        if log is not None:
            keep = len(self._fields[f"{log}.end"].dims)
        found: list[Index] = [()]
        for position, sort in enumerate(leaf.dims[:keep]):
            if isinstance(sort, Enumeration):
                parts = list(sort.domain(self._twin.bounds))
            else:
                parts = sorted({index[position] for index in state.get(leaf.name, {})})
            found = [(*index, part) for index in found for part in parts]
        return found


def _below(state: SparseState, leaf: Field, keys: Index) -> dict[Index, int]:
    """The entries of a field at these keys, in a state that leaves blank ones out."""
    entries = state.get(leaf.name, {})
    return {index: code for index, code in entries.items() if index[: len(keys)] == keys}


def log_of(fields: Mapping[str, Field], leaf: Field) -> str | None:
    """The log that a field is a part of; None if it is not part of a log."""
    if leaf.log is not None:
        return leaf.log
    log = leaf.name.removesuffix(".end")
    is_end = log != leaf.name and any(other.log == log for other in fields.values())
    return log if is_end else None


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
