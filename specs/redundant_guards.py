"""Reads `# redundant because …`: authors' reasons for guards whose removal breaks no claim.

The mark stands directly above a `require`, or at its end:

    # redundant because a follower's leader is another: it spares the slots that stay empty.
    require(broker != leader, "a replica asks another, not itself")

A guard in a shared helper is marked in the helper, for every transition that uses it; or, for one
transition alone, in the body of that transition, by the guard's reason:

    # redundant "the process runs", because a process that does not run leads nothing.
"""

from __future__ import annotations

import ast
import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from model.language import RecordedSystem

MARK = "redundant because "
BY_REASON = re.compile(r'redundant "([^"]+)",? because ')


@dataclass
class Marks:
    """(transition, reason) -> (the author's words, is the mark in the transition itself)"""

    found: dict[tuple[str, str], tuple[str, bool]] = field(default_factory=dict)

    def get(self, step: str, reason: str) -> tuple[str | None, bool]:
        """The words of a guard's mark, and whether the mark is in the transition; None: no mark."""
        return self.found.get((step, reason), (None, False))


def marks_of(recorded: RecordedSystem) -> Marks:
    """Every mark in the sources of the system's transitions and of the helpers they call."""
    marks = Marks()
    for step in recorded.steps:
        name, function = step.transition.name, step.transition.function
        reasons = {one.reason for one in step.requires}
        for helper in _functions(function, set()):
            for reason, words in _marks_in(helper):
                if reason in reasons:
                    marks.found.setdefault((name, reason), (words, helper is function))
    return marks


def _functions(function: Callable[..., Any], seen: set[object]) -> Iterator[Callable[..., Any]]:
    """A transition's function, then the helpers that it calls by name, as deep as they go."""
    if function in seen or not inspect.isfunction(function):
        return
    seen.add(function)
    yield function
    for called in _called_by(function):
        yield from _functions(called, seen)


@functools.cache  # the systems and their releases share most of their helpers
def _called_by(function: Callable[..., Any]) -> tuple[Callable[..., Any], ...]:
    """What a function calls by name, but for the notation's own words."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    named = [
        function.__globals__.get(node.func.id)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]
    return tuple(one for one in named if one is not None and not _is_of_the_notation(one))


def _is_of_the_notation(called: object) -> bool:
    return str(getattr(called, "__module__", "")).startswith("model.language")


@functools.cache
def _marks_in(function: Callable[..., Any]) -> tuple[tuple[str, str], ...]:
    """(reason, words) for each mark in one function's own text."""
    return tuple(_marks_in_source(textwrap.dedent(inspect.getsource(function))))


def _marks_in_source(source: str) -> Iterator[tuple[str, str]]:
    lines = source.splitlines()
    comments = {number: _comment(line) for number, line in enumerate(lines, 1) if _comment(line)}
    for node in ast.walk(ast.parse(source)):
        reason = _reason(node)
        if reason is None or not isinstance(node, ast.expr):
            continue
        text = _above(comments, lines, node.lineno)
        text += " ".join(comments.get(n, "") for n in range(node.lineno, _last(node) + 1))
        if MARK in text:
            yield reason, text.split(MARK, 1)[1].strip()
    for number in sorted(comments):
        named = BY_REASON.search(comments[number])
        if named is not None:
            text = " ".join([comments[number], *_following(comments, lines, number)])
            yield named[1], text[named.end() :].strip()


def _reason(node: ast.AST) -> str | None:
    """The reason of a `require(condition, "reason")`."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return None
    if node.func.id != "require" or len(node.args) != 2:
        return None
    reason = node.args[1]
    is_text = isinstance(reason, ast.Constant) and isinstance(reason.value, str)
    return str(reason.value) if is_text and isinstance(reason, ast.Constant) else None


def _comment(line: str) -> str:
    """The comment of a line; a `#` inside a text is none."""
    quoted = re.sub(r'"[^"]*"', lambda text: "x" * len(text[0]), line)
    return line[quoted.index("#") + 1 :].strip() if "#" in quoted else ""


def _is_comment_only(line: str) -> bool:
    return line.strip().startswith("#")


def _above(comments: dict[int, str], lines: list[str], number: int) -> str:
    """The comment right above a line, which may have several lines itself."""
    found: list[str] = []
    number -= 1
    while number >= 1 and _is_comment_only(lines[number - 1]):
        found.append(comments.get(number, ""))
        number -= 1
    return " ".join(reversed(found)) + (" " if found else "")


def _following(comments: dict[int, str], lines: list[str], number: int) -> list[str]:
    """The rest of a comment that goes on below its first line."""
    found: list[str] = []
    number += 1
    while number <= len(lines) and _is_comment_only(lines[number - 1]):
        found.append(comments.get(number, ""))
        number += 1
    return found


def _last(node: ast.expr) -> int:
    return node.end_lineno or node.lineno
