"""Measures which lines of `impl.core` run while the implementation is compared with the model.

A line counts as walked if it ran between two comparisons of a lock-step or of a walk over edges.
Only lines of function bodies count, not what runs when a module is imported. A line that no walk
reaches has a reason in `not_walked.json`, by function, or is reported as unexplained.
"""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import impl.core
from conformance.line_recorder import LineRecorder, lines_of
from specs.rendering import at, parts, rounded

FORMAT = "insync.coverage/1"
REASONS = Path(__file__).with_name("not_walked.json")
ASKED = 0.95
"""The share of lines that is asked for."""


def modules() -> list[str]:
    """The modules of `impl.core`, sorted by name."""
    return sorted(f"impl.core.{one.name}" for one in pkgutil.iter_modules(impl.core.__path__))


@dataclass(frozen=True)
class Missing:
    """The lines of one function that no walk reached, and the reason (empty: none is given)."""

    module: str
    function: str
    lines: tuple[int, ...]
    why: str


class CoreCoverage(LineRecorder):
    """Records the lines of `impl.core` that run inside of ``with``.

    `read` reads a report of it back.
    """

    SHOWN = parts("format", "missing", "walked", share=rounded(4), modules=at("by_module"))
    format = FORMAT

    def __init__(self, walked: Mapping[str, Iterable[int]] | None = None) -> None:
        super().__init__(modules())
        for module, lines in (walked or {}).items():
            self.walked[module].update(lines)

    # The report

    def rows(self) -> list[tuple[str, int, int]]:
        """(module, lines walked, lines), sorted by module."""
        found = []
        for module in modules():
            all_of = {line for _, lines in lines_of(module) for line in lines}
            found.append((module, len(all_of & self.walked[module]), len(all_of)))
        return found

    @property
    def share(self) -> float:
        """Walked lines of all lines; 0 if there are none."""
        rows = self.rows()
        total = sum(lines for _, _, lines in rows)
        return sum(walked for _, walked, _ in rows) / total if total else 0.0

    @property
    def by_module(self) -> dict[str, dict[str, int]]:
        """Lines walked and lines there are, by module."""
        return {module: {"walked": walked, "lines": n} for module, walked, n in self.rows()}

    @property
    def missing(self) -> list[Missing]:
        """The lines that no walk reached, by function, with the reason."""
        why, found = reasons(), []
        for module in modules():
            for function, lines in lines_of(module):
                left = tuple(sorted(lines - self.walked[module]))
                if left:
                    name = function.replace(".<locals>", "")
                    found.append(Missing(module, name, left, why.get(f"{module} {name}", "")))
        return found

    def needless(self) -> list[str]:
        """Functions (`module function`) that have a reason although all their lines were walked."""
        lacking = {f"{one.module} {one.function}" for one in self.missing}
        return sorted(set(reasons()) - lacking)


def reasons() -> dict[str, str]:
    """`module function` -> why no walk reaches it, or reaches it only in part."""
    found: dict[str, str] = {}
    for entry in json.loads(REASONS.read_text(encoding="utf-8")):
        for function in entry["functions"]:
            found[f"{entry['module']} {function}"] = entry["because"]
    return found


def read(path: Path) -> CoreCoverage:
    """The coverage that another command wrote. ValueError for another file."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: is no JSON ({error}); name a file of --coverage") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise ValueError(f"{path}: is no {FORMAT}; name a file that --coverage wrote, or a new one")
    return CoreCoverage(found["walked"])
