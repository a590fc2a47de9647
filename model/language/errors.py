"""Errors of the notation: each error message has the line to write instead."""

from __future__ import annotations

import difflib
import linecache
import re
import sys
from collections.abc import Iterable


class ProtocolError(Exception):
    """A protocol text that the notation refuses."""


class ImpossibleValue(ProtocolError):
    """A transition would give a field a value that is structurally impossible.

    A bound that is merely exceeded is not an error: that successor is pruned and counted.
    """


_HERE = ("model/language/", "model\\language\\")


def author_line() -> str:
    """`file:line: text` of the innermost frame outside the notation, for error messages."""
    frame = sys._getframe(1)
    while frame is not None:
        filename = frame.f_code.co_filename
        if not any(part in filename for part in _HERE) and "contextlib" not in filename:
            text = linecache.getline(filename, frame.f_lineno).strip()
            return f"{filename.rsplit('/', 1)[-1]}:{frame.f_lineno}: `{text}`"
        if frame.f_back is None:
            break
        frame = frame.f_back
    return "(no source line)"


def instead(line: str) -> str:
    """What to write instead of a line that takes the truth value of an expression."""
    text = line.split("`")[1] if "`" in line else line
    text = re.sub(r"\"[^\"]*\"|'[^']*'", '""', text)  # the words of a reason are no operators
    if re.match(r"(el)?if\b|while\b", text):
        return "write require(condition, reason), or when(condition, then, otherwise) for a value"
    if " if " in text and " else " in text:
        return "write when(condition, then, otherwise)"
    if re.search(r"\band\b", text):
        return "write all_of(a, b) instead of `a and b`"
    if re.search(r"\bor\b", text):
        return "write any_of(a, b) instead of `a or b`"
    if re.search(r"\bnot in\b", text):
        return "write not_(members.has(x)) instead of `x not in members`"
    if re.search(r"\bnot\b", text):
        return "write not_(a) instead of `not a`"
    if re.search(r"\bin\b", text):
        return "write members.has(x) instead of `x in members`"
    if re.search(r"\b(any|all|min|max|sum|sorted)\(", text):
        return "write some / every / smaller / larger / how_many over the sort"
    if re.search(r"\bis\b", text):
        return "write is_none(x) instead of `x is None`"
    if len(re.findall(r"<=|>=|<|>|==", text)) > 1:
        return "write all_of(a < b, b < c) instead of `a < b < c`"
    return "write require(condition, reason), when(...), all_of, any_of or not_"


def no_truth_value() -> ProtocolError:
    """The error for an expression used as a truth value."""
    line = author_line()
    return ProtocolError(
        f"{line}: an expression has no truth value while the protocol is being read; "
        f"{instead(line)}"
    )


def a(noun: str) -> str:
    """`a broker`, `an epoch`."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def unknown_name(kind: str, name: str, choices: Iterable[str]) -> str:
    """`unknown KIND 'name': did you mean 'x'? It has: a, b, c`."""
    known = sorted(choices)
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"unknown {kind} {name!r}: {hint}one of: {', '.join(known)}"
