"""Which lines of `impl.core` run while the implementation is compared with the model.

A line counts as walked if it ran between two comparisons of a lock-step or of a walk over edges.
Lines are those of function bodies; what runs when a module is imported is not counted. What no walk
reaches has a reason in `not_walked.json`, by function, or is reported as unexplained.
"""

from __future__ import annotations

import inspect
import json
import pkgutil
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import CodeType, FrameType, TracebackType
from typing import Any, Self

import impl.core

FORMAT = "insync.coverage/1"
REASONS = Path(__file__).with_name("not_walked.json")
ASKED = 0.95
"""The share of lines that is asked for."""

Lines = dict[str, set[int]]
"""By module, numbers of lines."""


def modules() -> list[str]:
    """The modules of `impl.core`, sorted by name."""
    return sorted(f"impl.core.{one.name}" for one in pkgutil.iter_modules(impl.core.__path__))


@cache
def _functions(module: str) -> tuple[tuple[str, frozenset[int]], ...]:
    """Each function of a module by qualified name, with the lines of its body."""
    found = import_module(module)
    compiled = compile(inspect.getsource(found), str(found.__file__), "exec")
    return tuple(sorted(_bodies(compiled)))


def _bodies(code: CodeType) -> Iterator[tuple[str, frozenset[int]]]:
    for constant in code.co_consts:
        if not isinstance(constant, CodeType):
            continue
        is_function = constant.co_flags & inspect.CO_OPTIMIZED
        if is_function and constant.co_name != "<genexpr>":
            first = constant.co_firstlineno
            lines = {line for _, _, line in constant.co_lines() if line is not None}
            yield constant.co_qualname, frozenset(lines - {first})
        yield from _bodies(constant)


@dataclass(frozen=True)
class Missing:
    """The lines of one function that no walk reached, and why (empty: nobody said)."""

    module: str
    function: str
    lines: tuple[int, ...]
    why: str


class CoreCoverage:
    """Notes the lines of `impl.core` that run inside of ``with``, in this thread."""

    def __init__(self, walked: Mapping[str, Iterable[int]] | None = None) -> None:
        self.walked: Lines = {module: set() for module in modules()}
        for module, lines in (walked or {}).items():
            self.walked.setdefault(module, set()).update(lines)
        self._names = {str(import_module(name).__file__): name for name in modules()}

    def __enter__(self) -> Self:
        assert threading.current_thread() is threading.main_thread(), "walks run in one thread"
        sys.settrace(self._called)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        sys.settrace(None)

    def _called(self, frame: FrameType, event: str, argument: object) -> Any:
        name = self._names.get(frame.f_code.co_filename)
        if name is None:
            return None
        add = self.walked[name].add

        def line(inner: FrameType, event: str, argument: object) -> Any:
            if event == "line":
                add(inner.f_lineno)
            return line

        add(frame.f_lineno)  # a coroutine that is resumed tells no line of its own
        return line

    # The report

    def rows(self) -> list[tuple[str, int, int]]:
        """(module, lines walked, lines), sorted by module."""
        found = []
        for module in modules():
            all_of = {line for _, lines in _functions(module) for line in lines}
            found.append((module, len(all_of & self.walked[module]), len(all_of)))
        return found

    @property
    def share(self) -> float:
        """Walked lines of all lines; 0 if there are none."""
        rows = self.rows()
        total = sum(lines for _, _, lines in rows)
        return sum(walked for _, walked, _ in rows) / total if total else 0.0

    def missing(self) -> list[Missing]:
        """What no walk reached, by function, with its reason."""
        why, found = reasons(), []
        for module in modules():
            for function, lines in _functions(module):
                left = tuple(sorted(lines - self.walked[module]))
                if left:
                    name = function.replace(".<locals>", "")
                    found.append(Missing(module, name, left, why.get(f"{module} {name}", "")))
        return found

    def as_json(self) -> dict[str, Any]:
        """Plain data, which `read` takes up again."""
        return {
            "format": FORMAT,
            "share": round(self.share, 4),
            "modules": {m: {"walked": w, "lines": n} for m, w, n in self.rows()},
            "missing": [
                {"module": m.module, "function": m.function, "lines": m.lines, "why": m.why}
                for m in self.missing()
            ],
            "walked": {module: sorted(lines) for module, lines in self.walked.items()},
        }


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
    except ValueError as error:
        raise ValueError(f"{path}: is no JSON ({error}); name a file of --coverage") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise ValueError(f"{path}: is no {FORMAT}; name a file that --coverage wrote, or a new one")
    return CoreCoverage(found["walked"])
