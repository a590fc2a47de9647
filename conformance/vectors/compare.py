"""Compares an answer with what a case expects.

An expected object names only what is checked: an answer may contain more. If the names are data
(partitions, brokers, topics), or there are none, the objects must be equal. Text for readers is not
compared; "messageContains" and "messageStartsWith" look for a text in the message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from conformance.vectors.cases import Case
from conformance.vectors.meanings import meaning, meant
from conformance.vectors.releases import NoRange, bounds
from conformance.vectors.remaining import Remaining
from impl.releases import Release

FOR_READERS = frozenset({"note", "why", "events"})
"""Names whose values are prose that explains an expectation."""

SAME_KEYS = frozenset(
    {
        "added", "assignment", "cachedAfter", "entries", "failed", "follower", "leader", "logDirs",
        "partitions", "readAfter", "read", "updated",
    }
)  # fmt: skip
"""Names of objects whose keys are data: nothing may be missing, and nothing be there besides."""

NAMED_BY_DATA = SAME_KEYS | {"replicas"}
"""Names of objects of which an empty one says that there is nothing."""

ANYTHING = frozenset({"(first)", "depends on election"})
"""Values that a case leaves open."""

RESULT = "result"
"""What an answer calls its one value, where cases call it differently."""

REST = "..."
"""In a list: any number of values."""

_IN_SYNC = frozenset({"isr", "maximalIsr", "requestedIsr"})
_ERRORS = frozenset({"error", "exception", "partitionError", "result", "topError"})
_STATES = frozenset({"state", "resultingState", "stateEntry"})
_MISSING = object()


class ByRule(dict[str, Any]):
    """An answer of the model's side that comes from a plain rule, not from a transition."""


_ALTERNATIVE = re.compile(r"(?P<name>\w+) \((?P<versions>[^)]*\d[^)]*)\)")
_QUOTED = re.compile(r"'[^']*'")


def agrees(expected: Any, got: Any, case: Case, name: str = "") -> bool:
    """Whether the answer is as the case expects; ``name`` is the field of both."""
    if isinstance(expected, str) and expected in ANYTHING:
        return True
    if isinstance(expected, str) and isinstance(got, Remaining):
        return got.agrees(expected)
    if type(expected) is int and isinstance(got, list):
        return expected == len(got)  # how many there are
    if isinstance(expected, dict) and isinstance(got, list):
        return _epoch_and_offset(expected) == got
    if isinstance(expected, dict):
        return isinstance(got, Mapping) and _object_agrees(expected, got, case, name)
    if isinstance(expected, list) and isinstance(got, Mapping):
        if expected == [*got.values()]:
            return True  # one for each name
        # Names alone are expected, in any order.
        expected, got = sorted(expected, key=str), sorted(got, key=str)
    if isinstance(expected, list):
        return isinstance(got, list | tuple) and _list_agrees(expected, list(got), case, name)
    if name in ("error", "exception", "result") and _is_none(expected):
        return _is_none(got)
    if name in _ERRORS and isinstance(expected, str) and isinstance(got, str):
        return _exception(error_name(expected, case.release)) == _exception(got.split(" ")[0])
    if name in _STATES and isinstance(expected, str) and isinstance(got, str):
        return got in (expected, f"{expected}Partition", f"{expected}Replica")
    if name.startswith("toBroker") and isinstance(expected, str) and isinstance(got, str):
        # A request alone, or with how much it tells: "UpdateMetadata(no partitions)".
        return expected == (got if "(" in expected else got.split("(")[0])
    if name in ("json", "data") and isinstance(expected, str) and isinstance(got, str):
        return bool(json.loads(expected) == json.loads(got))
    return type(expected) is type(got) and bool(expected == got)


def _epoch_and_offset(expected: Mapping[str, Any]) -> list[Any] | None:
    """A leader epoch and its offset in the order of answers, by the names of the two fields; None
    where the fields are others.
    """
    epochs = [name for name in expected if "epoch" in meaning(name).split()]
    offsets = [name for name in expected if "offset" in meaning(name).split()]
    if len(expected) != 2 or len(epochs) != 1 or len(offsets) != 1 or epochs == offsets:
        return None
    return [expected[epochs[0]], expected[offsets[0]]]


def _is_none(error: Any) -> bool:
    """No error, in the words of a protocol or of a test."""
    return error is None or error in ("NONE", "accept", "accepted", "ok")


def _exception(name: str) -> str:
    """An error by the words of its name: a code's, or those of the exception that has the code."""
    if name.isupper():
        name = "".join(word.capitalize() for word in name.split("_"))
    return name.removesuffix("Exception").lower()


def error_name(expected: str, release: str) -> str:
    """The name of the expected error; of several ("A (<=0.11) / B (1.0+)") the release's own."""
    for part in expected.split(" / "):
        found = _ALTERNATIVE.fullmatch(part)
        if found is None:
            break
        try:
            first, last = bounds(found["versions"])
        except NoRange:
            break  # the bracket says something else, for readers
        if first <= Release.of(release).parts <= last:
            return found["name"]
    return expected.split(" ")[0]


def _object_agrees(expected: dict[str, Any], got: Mapping[str, Any], case: Case, name: str) -> bool:
    wanted = {key: value for key, value in expected.items() if key not in FOR_READERS}
    if not expected and name in NAMED_BY_DATA:
        return not got
    if name in SAME_KEYS and set(wanted) != set(got):
        return False
    return all(_field_agrees(key, value, got, case) for key, value in wanted.items())


def _field_agrees(key: str, value: Any, got: Mapping[str, Any], case: Case) -> bool:
    if key in ("messageContains", "messageStartsWith"):
        message = str(got.get("message", ""))
        if "topic" not in case.input:  # the case does not say what the topic is called
            value, message = _QUOTED.sub("''", value), _QUOTED.sub("''", message)
        return message.startswith(value) if key.endswith("StartsWith") else value in message
    said = meant(key, got) if key not in got else key
    if said is None and RESULT in got and agrees(value, got[RESULT], case, key):
        return True
    if said is None and isinstance(value, str):  # a time, and what is left then in words
        when = "before" if key.lower().startswith(("before", "while", "until")) else "eventually"
        return isinstance(got.get(when), Remaining) and agrees(value, got[when], case, key)
    if said is None and key == "final" and got.get("rows"):
        return agrees(value, got["rows"][-1], case)
    if said is None and isinstance(value, dict) and value:
        # Fields that a case puts together, and the answer has side by side.
        return all(meant(one, got) is not None for one in value) and agrees(value, got, case)
    if key == "lines" and any(str(one).startswith("WARNING: ") for one in value or ()):
        got = {**got, "lines": [*got.get("warnings", ()), *got.get("lines", ())]}
    if key in _ERRORS and "wrapped" in got and agrees(value, got["wrapped"], case, key):
        return True
    if key.endswith("Set") and said is None:
        members = got.get(key.removesuffix("Set"), _MISSING)
        return isinstance(members, list | tuple) and sorted(members) == sorted(value)
    return said is not None and agrees(value, got[said], case, said)


def _list_agrees(expected: list[Any], got: list[Any], case: Case, name: str) -> bool:
    if name == "to" or (case.file == "partition_replication" and name in _IN_SYNC):
        # Brokers that the same is sent to, for each has a queue of its own; and Partition's sets.
        expected, got = sorted(expected), sorted(got)
    if REST in expected:
        cut = expected.index(REST)
        head, tail = expected[:cut], expected[cut + 1 :]
        if len(got) < len(head) + len(tail):
            return False
        ends = got[: len(head)] + (got[-len(tail) :] if tail else [])
        return _list_agrees(head + tail, ends, case, name)
    return len(expected) == len(got) and all(
        agrees(one, other, case, name) for one, other in zip(expected, got, strict=True)
    )
