"""Reports as plain data: what `--json` writes, what files keep, and what pages are drawn from.

A report is a dataclass. Its fields are its keys, in their order; a field's metadata says what is
otherwise. `ALSO` has what a report shows beside its fields, before them:

    @dataclass
    class Walked:
        ALSO: ClassVar = parts("verdict", system=at("recorded.system.name"))

        recorded: RecordedSystem = field(metadata=HIDDEN)
        steps: int
        seconds: float = field(metadata=rounded(3))
        by: str | None = field(metadata=called("noticed_by"))
        details: dict[str, Any] = field(metadata=FLAT)

        @property
        def verdict(self) -> Verdict: ...

A report that shows other things than its fields says which as `SHOWN`, and then needs not be a
dataclass. Verdicts and other enums are their words,
sets and counters are sorted, paths are text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from operator import attrgetter
from pathlib import PurePath
from typing import Any

Metadata = Mapping[str, object]

HIDDEN: Metadata = {"hidden": True}
"""The field is no part of the data."""

FLAT: Metadata = {"flat": True}
"""The field is a mapping or a report, and its keys stand among those of the report."""

COUNTED: Metadata = {"counted": True}
"""Of the field only its length is shown."""


def rounded(digits: int) -> Metadata:
    """The field is a number, shown with so many digits after the point; None stays None."""
    return {"digits": digits}


def picked(*keys: str) -> Metadata:
    """Of the report in the field, or of each in a list, only these keys."""
    return {"picked": keys}


def its(attribute: str) -> Metadata:
    """Of the object in the field only this attribute is shown; None stays None."""
    return {"its": attribute}


def at(path: str, *more: Metadata) -> Metadata:
    """For `parts`: where the value stands in the report, as `recorded.system.name`."""
    return _joined({"at": path}, *more)


def called(key: str, *more: Metadata) -> Metadata:
    """The field has another name in the data."""
    return _joined({"key": key}, *more)


def parts(*names: str, **others: Metadata) -> Mapping[str, Metadata]:
    """For `ALSO` and `SHOWN`: properties by their names, and other things by their keys."""
    return {**{name: {} for name in names}, **others}


def _joined(*parts: Metadata) -> Metadata:
    return {name: value for part in parts for name, value in part.items()}


def as_data(value: object) -> Any:
    """A report, or anything made of reports, as what JSON knows. TypeError for anything else."""
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, PurePath):
        return str(value)
    if not isinstance(value, type) and (is_dataclass(value) or hasattr(value, "SHOWN")):
        return dict(_entries(value))
    if isinstance(value, Counter):
        return {key: value[key] for key in sorted(value)}
    if isinstance(value, Mapping):
        return {key: as_data(one) for key, one in value.items()}
    if isinstance(value, set | frozenset):
        return [as_data(one) for one in sorted(value)]
    if isinstance(value, Iterator | Sequence):
        return [as_data(one) for one in value]
    raise TypeError(f"no JSON form for {type(value).__name__}: {value!r}; make it plain data first")


def rows(reports: Iterable[object], **beside: object) -> list[dict[str, Any]]:
    """The data of each report; `beside` are keys that stand before its own."""
    return [{**as_data(beside), **as_data(one)} for one in reports]


def keys_of(report: Any) -> list[str]:
    """The keys of a report, or of a class of reports; of what is flat in it, that part's name."""
    return [key for key, _, _ in _named(report)]


def _named(report: Any) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """The key, the path to the value, and what is said of it, of everything that is shown."""
    shown = getattr(report, "SHOWN", None)
    for name, said in (getattr(report, "ALSO", {}) if shown is None else shown).items():
        yield name, said.get("at", name), said
    for one in fields(report) if shown is None else ():
        if not one.metadata.get("hidden"):
            yield one.metadata.get("key", one.name), one.name, one.metadata


def _entries(report: Any) -> Iterator[tuple[str, Any]]:
    for key, path, said in _named(report):
        data = _shown(attrgetter(path)(report), said)
        if said.get("flat"):
            yield from data.items()
        else:
            yield key, data


def _shown(value: Any, said: Mapping[str, Any]) -> Any:
    if value is None:
        return None
    if "counted" in said:
        return len(value)
    if "digits" in said:
        return round(value, said["digits"])
    if "its" in said:
        return as_data(getattr(value, said["its"]))
    return _picked(as_data(value), said["picked"]) if "picked" in said else as_data(value)


def _picked(data: Any, keys: Sequence[str]) -> Any:
    if isinstance(data, list):
        return [_picked(one, keys) for one in data]
    return {key: data[key] for key in keys}
