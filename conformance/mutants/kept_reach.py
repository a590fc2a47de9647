"""A file that stores what the judges of mutants run, which takes minutes to measure.

One JSON object a line: a head with a digest of all code and data that a judge depends on, then the
judges in order. A file for other code, or a damaged one, is written anew.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

FORMAT = "insync.mutants.reach/1"
ROOT = Path(__file__).parents[2]
READ = ("conformance", "impl", "model", "specs", "tests/data/vectors")
"""Folders of what judges run and read."""


@dataclass(frozen=True)
class JudgeRun:
    """The measurement of a judge: seconds of processor time; by module, the numbers of the mutants
    that differ."""

    seconds: float
    differ: Mapping[str, list[int]]


@cache
def _digest() -> str:
    found = hashlib.sha256(sys.version.encode())
    for folder in READ:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and path.suffix != ".pyc" and path.name not in _KEPT:
                found.update(f"{path.relative_to(ROOT)}\0".encode())
                found.update(path.read_bytes())
    return found.hexdigest()[:16]


_KEPT = ("score.json", "survivors.json", "not_walked.json")
"""No judge reads them."""


class KeptReach:
    """The measurements so far, by judge; without a file they are kept in memory only."""

    def __init__(self, file: Path | None) -> None:
        self.file, self.measured = file, dict[str, JudgeRun]()
        head = {"format": FORMAT, "code": _digest()} if file is not None else {}
        lines = _objects(file) if file is not None and file.exists() else []
        if lines and lines[0] == head:
            for one in lines[1:]:
                name = str(one.pop("judge"))
                self.measured[name] = JudgeRun(**one)  # type: ignore[arg-type]
        elif file is not None:
            file.write_text(json.dumps(head) + "\n", encoding="utf-8")

    def add(self, judge: str, seconds: float, differ: Mapping[str, set[int]]) -> JudgeRun:
        """Stores the measurement of a judge."""
        some = {module: sorted(numbers) for module, numbers in differ.items() if numbers}
        found = self.measured[judge] = JudgeRun(round(seconds, 3), some)
        if self.file is not None:
            with self.file.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"judge": judge, **asdict(found)}) + "\n")
        return found


def _objects(file: Path) -> list[dict[str, object]]:
    """Its whole lines; a line that an interrupted run left cut is taken off."""
    text = file.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        file.write_text(whole, encoding="utf-8")
    try:
        return [json.loads(line) for line in whole.splitlines()]
    except ValueError:  # no file of these, or a damaged one: all is measured anew
        return []
