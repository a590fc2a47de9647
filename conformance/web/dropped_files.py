"""Checks log files dropped into the page on this machine, and keeps them for a while.

Each upload has its own folder, deleted when the server ends. The page shows the result of `insync
check` on the folder: the same command, in its own process, of at most ten minutes (`SECONDS`).
"""

from __future__ import annotations

import re
import secrets
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterable
from dataclasses import dataclass, field
from pathlib import Path

MOST_SETS, MOST_FILES, MOST_BYTES, MOST_DEEP = 20, 3000, 1_000_000_000, 8
SECONDS = 600
_PART = re.compile(r"[\w+@=,~#%() -][\w.+@=,~#%() -]{0,200}", re.ASCII)
_VERDICTS = {0: "holds", 1: "broken", 2: "unknown", 3: "not checked"}


class RefusedError(Exception):
    """The files cannot be accepted or checked; the message says why."""


@dataclass
class DroppedFiles:
    """The sets of files of a server."""

    _room: tempfile.TemporaryDirectory[str] | None = None
    _sets: dict[str, int] = field(default_factory=dict)
    _files: dict[str, int] = field(default_factory=dict)

    def begin(self) -> str:
        """The name of a new, empty set. Raises RefusedError if there are too many."""
        if len(self._sets) >= MOST_SETS:
            raise RefusedError(f"{MOST_SETS} sets of files were dropped already; reload the page")
        if self._room is None:
            self._room = tempfile.TemporaryDirectory(prefix="insync-dropped-")
        name = secrets.token_hex(8)
        self._sets[name] = self._files[name] = 0
        (self._folder(name) / "logs").mkdir(parents=True)
        return name

    async def add(self, name: str, path: str, content: AsyncIterable[bytes]) -> int:
        """Stores a file of a set; returns its size. Stores nothing if it raises RefusedError."""
        to = self._folder(name) / "logs" / place_of(path)
        if self._files[name] >= MOST_FILES:
            raise RefusedError(f"more than {MOST_FILES} files; use insync check FOLDER")
        to.parent.mkdir(parents=True, exist_ok=True)
        size = 0
        try:
            with to.open("wb") as file:
                async for part in content:
                    size += len(part)
                    if self._sets[name] + size > MOST_BYTES:
                        raise RefusedError("more than a gigabyte; use insync check FOLDER")
                    file.write(part)
        except (RefusedError, OSError) as error:
            to.unlink(missing_ok=True)
            raise RefusedError(str(error)) from error
        self._sets[name] += size
        self._files[name] += 1
        return size

    def check(self, name: str) -> dict[str, str | None]:
        """The result of `insync check` for a set: its verdict, its text, where its report is."""
        folder = self._folder(name)
        logs = folder / "logs"
        inner = list(logs.iterdir())
        if not inner:
            raise RefusedError("no file was dropped")
        cluster = inner[0] if len(inner) == 1 and inner[0].is_dir() else logs
        command = [sys.executable, "-m", "conformance.cli", "check", str(cluster),
                   "--engine", "local", "--report", str(self.report(name))]  # fmt: skip
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=SECONDS, check=False,
                cwd=Path(__file__).resolve().parents[2],
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise RefusedError(f"not done after {SECONDS} s; use insync check FOLDER") from error
        output = done.stdout + (done.stderr if done.returncode not in _VERDICTS else "")
        lines = output.replace(f"{logs}/", "").strip().splitlines()
        output = "\n".join(line for line in lines if not line.startswith("the report is in "))
        verdict = _VERDICTS.get(done.returncode)
        if verdict is None:
            raise RefusedError(output.splitlines()[-1] if output else "the check failed")
        shown = None
        if self.report(name).is_file():
            shown = f"/logs/{name}/report"
            text = self.report(name).read_text(encoding="utf-8")  # files as they were dropped
            self.report(name).write_text(text.replace(f"{logs}/", ""), encoding="utf-8")
        return {"verdict": verdict, "output": output, "report": shown}

    def report(self, name: str) -> Path:
        """The path of the report of a set of files."""
        return self._folder(name) / "report.html"

    def _folder(self, name: str) -> Path:
        if name not in self._sets or self._room is None:
            raise RefusedError("there is no such set of files; drop them again")
        return Path(self._room.name) / name


def place_of(path: str) -> Path:
    """A dropped file's place in its set. Raises RefusedError for one that could lead out of it."""
    parts = path.split("/")
    if len(parts) > MOST_DEEP or not all(_PART.fullmatch(part) for part in parts):
        raise RefusedError(
            f"{path[:80]!r} is no name for a log file; rename it, or use insync check"
        )
    return Path(*parts)
