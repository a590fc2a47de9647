"""Remaining time of a command, estimated from how long its parts took the last time.

The figures are kept in the cache of machine code, one small file a command. They are of this
machine, and only ever shown; a file that cannot be read or written means that nothing is estimated.
"""

from __future__ import annotations

import contextlib
import json
import re
import time
from dataclasses import dataclass, field
from pathlib import Path

from conformance.cli.common import write_atomically


def left_of(began: float, done: int, of: int) -> str:
    """`, about 20 s left`, estimated from the duration of the finished parts.

    ``began`` is `time.monotonic()` at the start; nothing is said before a part is done.
    """
    if not 0 < done < of:
        return ""
    return f", about {(time.monotonic() - began) / done * (of - done):.0f} s left"


@dataclass
class DurationEstimate:
    """A command of so many parts, and how long it took before (None: it never ran)."""

    file: Path
    parts: int
    before_s: float | None
    _began: float = field(default_factory=time.monotonic)

    @classmethod
    def of(cls, command: str, parts: int = 1) -> DurationEstimate:
        """The estimate for a command; its options are part of its name."""
        from specs.native.jit import cache_folder

        name = re.sub(r"[^A-Za-z0-9]+", "-", command).strip("-")
        file = cache_folder() / "pace" / f"{name}.json"
        before: float | None = None
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            before = float(json.loads(file.read_text(encoding="utf-8"))["seconds"])
        return cls(file, parts, before)

    def first_time(self, text: str) -> str:
        """The text for a first run; for a later run, how long the last one took."""
        if self.before_s is None:
            return text
        return f"the last run took {self.before_s:.0f} s"

    def left(self) -> str:
        """`, about 20 s left`; empty if that is unknown."""
        if self.before_s is None:
            return ""
        seconds = self.before_s - (time.monotonic() - self._began)
        return f", about {seconds:.0f} s left" if seconds >= 1 else ", nearly done"

    def keep(self) -> None:
        """Store how long the command took."""
        seconds = round(time.monotonic() - self._began, 1)
        with contextlib.suppress(OSError):
            self.file.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self.file, json.dumps({"seconds": seconds}) + "\n")
