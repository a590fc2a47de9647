"""Reads and writes the JSON of znodes as Kafka does; errors name the position."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any


class MalformedZnode(ValueError):
    """A znode's text is invalid; the message names the position and the correction."""

    def __init__(self, path: str, where: str, why: str) -> None:
        super().__init__(f"{path}: {where}: {why}")
        self.path = path
        self.where = where
        self.why = why


class NumberFormatException(ValueError):  # Kafka's name, which logs and tools tell
    """A text that is not a number, as Java's ``toInt`` refuses it."""

    def __init__(self, text: str) -> None:
        super().__init__(f'For input string: "{text}"')


def number_of(text: str) -> int:
    """The 32-bit number in a text, as ``Integer.parseInt`` reads it.

    NumberFormatException for any other text, including one with a blank or an underscore.
    """
    if re.fullmatch(r"[+-]?[0-9]+", text) is None or not -(1 << 31) <= int(text) < 1 << 31:
        raise NumberFormatException(text)
    return int(text)


def numbers_of(text: str, separator: str) -> list[int]:
    """The numbers of a list; as in Java's split, a separator at the end is ignored."""
    return [number_of(part) for part in text.removesuffix(separator).split(separator)]


def write(fields: Mapping[str, object]) -> str:
    """Compact JSON, fields in the given order."""
    return json.dumps(fields, separators=(",", ":"), ensure_ascii=False)


class ZnodeFields:
    """The object in a znode's text, or in one of its fields, decoded field by field.

    ``where`` is the position: "line 1 column 9" for text that is not JSON, else a field's name.
    """

    def __init__(self, path: str, fields: object, where: str = "the text") -> None:
        if not isinstance(fields, dict):
            raise MalformedZnode(path, where, f"is {_shown(fields)}, not a JSON object")
        self.path = path
        self.fields: dict[str, Any] = fields
        self.where = "" if where == "the text" else f"{where}."

    @staticmethod
    def of(path: str, text: str, versions: range | None = None) -> ZnodeFields:
        """Read a text. With ``versions``, its ``version`` must be one of them."""
        try:
            fields = json.loads(text)
        except json.JSONDecodeError as error:
            place = f"line {error.lineno} column {error.colno}"
            raise MalformedZnode(path, place, f"no JSON ({error.msg.lower()})") from error
        reader = ZnodeFields(path, fields)
        if versions is not None and reader.whole("version") not in versions:
            known = f"{versions.start} to {versions.stop - 1}"
            raise reader.wrong("version", f"is {fields['version']}, and known are {known}")
        return reader

    def wrong(self, name: str, why: str) -> MalformedZnode:
        """The error that names a field."""
        return MalformedZnode(self.path, f"{self.where}{name}", why)

    def has(self, name: str) -> bool:
        """Whether the field is there and not null."""
        return self.fields.get(name) is not None

    def has_only(self, *names: str) -> None:
        """Raise MalformedZnode for a field that is not in the list."""
        for name in self.fields:
            if name not in names:
                raise self.wrong(name, f"is no field; there are {', '.join(names)}")

    def any(self, name: str) -> Any:
        """The field, of any type; MalformedZnode if it is missing."""
        if name not in self.fields:
            raise self.wrong(name, "is missing")
        return self.fields[name]

    def whole(self, name: str) -> int:
        """A whole number."""
        value = self.any(name)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.wrong(name, f"is {_shown(value)}, not a whole number")
        return value

    def string(self, name: str) -> str:
        """A text."""
        value = self.any(name)
        if not isinstance(value, str):
            raise self.wrong(name, f"is {_shown(value)}, not a string")
        return value

    def sequence(self, name: str) -> list[Any]:
        """A list."""
        value = self.any(name)
        if not isinstance(value, list):
            raise self.wrong(name, f"is {_shown(value)}, not a list")
        return value

    def ids(self, name: str) -> tuple[int, ...]:
        """A list of whole numbers."""
        values = self.sequence(name)
        for number, value in enumerate(values):
            if not isinstance(value, int) or isinstance(value, bool):
                raise self.wrong(f"{name}[{number}]", f"is {_shown(value)}, not a whole number")
        return tuple(values)

    def string_map(self, name: str) -> dict[str, str]:
        """A map from text to text."""
        inner = self.inner(name)
        return {key: inner.string(key) for key in inner.fields}

    def inner(self, name: str) -> ZnodeFields:
        """The object in a field."""
        return ZnodeFields(self.path, self.any(name), f"{self.where}{name}")

    def entries(self, name: str) -> list[ZnodeFields]:
        """The objects in a list."""
        return [
            ZnodeFields(self.path, entry, f"{self.where}{name}[{number}]")
            for number, entry in enumerate(self.sequence(name))
        ]


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:37] + "..."
