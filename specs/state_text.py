"""Writes states in readable form: sets as {1,2}, logs as lists of records, none as none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from model.language.scalars import blank_term
from model.language.schema import Field, SetOf
from model.language.sorts import BOOL, Enumeration, Names, Numbers, Sort
from specs.lowering.grounding import Grounded
from specs.lowering.instances import Cell, Instance

Leaves = dict[str, Any]
"""Path -> plain value: bool, int, None, a name, a sorted list (a set), a list of dicts (a log)."""


def plain(sort: Sort, code: int) -> Any:
    """A code as plain data: none is None, a named value its name."""
    if sort is BOOL:
        return bool(code)
    if isinstance(sort, Names):
        return sort.values[code]
    if isinstance(sort, Enumeration):
        return code or None
    if isinstance(sort, Numbers) and sort.none_allowed and code == sort.none_code:
        return None
    return code


def text(value: Any, *, is_set: bool = False) -> str:
    """Plain data as text: {1,2}, none, true, [id 0 epoch 1, ...]."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{" + ",".join(f"{text(k)}: {text(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        if any(isinstance(item, dict) for item in value):
            records = (
                " ".join(f"{k} {text(v, is_set=True)}" for k, v in item.items()) for item in value
            )
            return "[" + ", ".join(records) + "]"
        inner = ",".join(text(item) for item in value)
        return f"{{{inner}}}" if is_set else f"[{inner}]"
    if isinstance(value, tuple):
        return "(" + ",".join(text(item) for item in value) + ")"
    return str(value)


def log_part(field: Field, keys: int, cells: Mapping[tuple[int, ...], int]) -> Any:
    """A part of one record of a log, from its cells by index: a value, a sorted list of members
    (a set), or a dict without the blank ones (a map). `keys`: how many indices the record has.
    """
    blank = int(blank_term(field.sort).args[0])
    if keys == len(field.dims):
        (code,) = cells.values() or (blank,)
        return plain(field.sort, code)
    found = {
        tuple(
            plain(sort, part) for sort, part in zip(field.dims[keys:], index[keys:], strict=True)
        ): plain(field.sort, code)
        for index, code in sorted(cells.items())
        if code != blank
    }
    short = {key[0] if len(key) == 1 else key: value for key, value in found.items()}
    return list(short) if field.set_from == keys else short


@dataclass(frozen=True)
class LeafPlace:
    """One leaf: a value, a set, or a whole log, at the keys of its maps."""

    name: str
    kind: str
    keys: tuple[int, ...]
    path: str


def place_of(fields: Mapping[str, Field], leaf: Field, index: tuple[int, ...]) -> LeafPlace:
    """The leaf that a field's value at an index is a part of."""
    name, kind, keep = leaf.name, "value", keys_of(fields, leaf)
    if leaf.set_from is not None:
        kind = "set"
    log = log_of(fields, leaf)
    if log is not None:
        name, kind = log, "log"
    keys = index[:keep]
    shown = "".join(
        f"[{sort.show(part)}]" for sort, part in zip(leaf.dims[:keep], keys, strict=True)
    )
    # `view.isr[1]` reads better as `view[1].isr`: indices go behind the first part.
    first, dot, rest = name.partition(".")
    return LeafPlace(name, kind, keys, f"{first}{shown}{dot}{rest}")


def keys_of(fields: Mapping[str, Field], leaf: Field) -> int:
    """How many indices of a field are keys of maps, rather than members or offsets."""
    log = log_of(fields, leaf)
    if log is not None:
        return len(fields[f"{log}.end"].dims)
    return len(leaf.dims) if leaf.set_from is None else leaf.set_from


def log_of(fields: Mapping[str, Field], leaf: Field) -> str | None:
    """The log that a field is a part of; None if it is not part of a log."""
    if leaf.log is not None:
        return leaf.log
    log = leaf.name.removesuffix(".end")
    is_end = log != leaf.name and any(other.log == log for other in fields.values())
    return log if is_end else None


class StateText:
    """Groups the cells of a grounded system into readable leaves."""

    def __init__(self, grounded: Grounded) -> None:
        self._groups: dict[str, list[Cell]] = {}
        self._kind: dict[str, str] = {}
        for cell in grounded.cells:
            place = place_of(grounded.recorded.fields, cell.field, cell.index)
            self._groups.setdefault(place.path, []).append(cell)
            self._kind[place.path] = place.kind

    def leaves(self, codes: tuple[int, ...]) -> Leaves:
        """Codes by cell -> every leaf as plain data, in the schema's order."""
        return {path: self._value(path, codes) for path in self._groups}

    def _value(self, path: str, codes: tuple[int, ...]) -> Any:
        cells, kind = self._groups[path], self._kind[path]
        if kind == "set":
            first = cells[0].field.set_from or 0
            members = [cell.index[first:] for cell in cells if codes[cell.number]]
            return [member[0] if len(member) == 1 else list(member) for member in members]
        if kind == "log":
            return self._log(cells, codes)
        return plain(cells[0].field.sort, codes[cells[0].number])

    @staticmethod
    def _log(cells: list[Cell], codes: tuple[int, ...]) -> list[dict[str, Any]]:
        last = next(cell for cell in cells if cell.field.log is None)
        depth, end = len(last.index), codes[last.number]
        parts: list[dict[Field, dict[tuple[int, ...], int]]] = [{} for _ in range(end)]
        for cell in cells:
            if cell.field.log is not None and cell.index[depth] < end:
                here = parts[cell.index[depth]].setdefault(cell.field, {})
                here[cell.index] = codes[cell.number]
        return [
            {
                field.name.removeprefix(f"{field.log}.at."): log_part(field, depth + 1, found)
                for field, found in record.items()
            }
            for record in parts
        ]

    def changes(self, before: tuple[int, ...], after: tuple[int, ...]) -> dict[str, list[Any]]:
        """Leaf path -> [before, after], for the leaves that differ."""
        return {
            path: [self._value(path, before), self._value(path, after)]
            for path, cells in self._groups.items()
            if any(before[cell.number] != after[cell.number] for cell in cells)
        }

    def change_text(self, path: str, pair: list[Any]) -> str:
        """`view[1].isr: {1,2,3} → {1,2}`."""
        is_set = self._kind[path] == "set"
        return f"{path}: {text(pair[0], is_set=is_set)} → {text(pair[1], is_set=is_set)}"

    def is_set(self, path: str) -> bool:
        """Does the path name a set?"""
        return self._kind.get(path) == "set"


def shown_arguments(instance: Instance) -> dict[str, Any]:
    """An instance's parameters in readable form: `none` is None, a named value its name.

    A name with a space is not from the author: it is internal and stands for a looked-up value.
    """
    return {
        name: sorted(plain(sort.element, code) for code in value)
        if isinstance(sort, SetOf) and isinstance(value, frozenset)
        else plain(cast(Sort, sort), cast(int, value))
        for (name, sort), value in zip(
            instance.step.parameters.items(), instance.arguments, strict=True
        )
        if " " not in name
    }


def named(arguments: Mapping[str, Any]) -> str:
    """`leader=1, laggard=2`."""
    return ", ".join(f"{k}={text(v, is_set=isinstance(v, list))}" for k, v in arguments.items())
