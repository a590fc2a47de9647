"""Reads `protocol-N.log`: all that the threads of one start of a broker logged, in order.

Log4j writes a line as a whole, so the file has one order. A line is placed where its statement ran:
lines of one thread are in that thread's order, and lines logged under one lock in the lock's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

_LINE = re.compile(r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\] \[([^\]]*)\] (.*) \(([^()\s]+)\)")


class LogLine(NamedTuple):
    """One line: time (s since 1970, to a ms), thread, text, and logger."""

    number: int
    at: float
    thread: str
    text: str
    logger: str


def lines_in(path: Path) -> Iterator[LogLine]:
    """The lines of a file, without stack traces and a truncated last line."""
    with path.open(encoding="utf-8", errors="replace") as lines:
        for number, raw in enumerate(lines, 1):
            found = _LINE.fullmatch(raw.rstrip("\n"))
            if found is not None:
                at = datetime.strptime(found[1], "%Y-%m-%d %H:%M:%S,%f").timestamp()
                yield LogLine(number, at, found[2], found[3], found[4])


def ids_in(text: str) -> list[int]:
    """The whole numbers of a list as a line shows it: "1, 2", "Set(1, 2)"."""
    return [int(one) for one in re.findall(r"\d+", text)]
