"""Breaks a TLA+ expression into lines: on one line if it fits, else broken by its structure.

A node has the precedence of its outermost operator, so that parentheses are written only where
they are needed. TLA+ lists of conjuncts and disjuncts are sensitive to columns: a broken list has
bullets, and the text of each item is to the right of its bullet.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

# How tightly an operator binds; the numbers are TLA+'s own precedences.
OPEN = 0  # quantifiers, IF, CHOOSE: they reach as far to the right as they can
IMPLIES = 1
EQUIVALENT = 2
JUNCTION = 3
NOT = 4
COMPARE = 5
SETS = 8
PLUS = 10
ATOM = 20


class LayoutNode:
    """One expression."""

    level = ATOM

    def flat(self) -> str:
        """The expression on one line."""
        raise AssertionError(f"{type(self).__name__} does not say how it is written")

    def broken(self, width: int) -> list[str]:
        """The expression on several lines; the first starts at column 0."""
        return [self.flat()]

    def lines(self, width: int) -> list[str]:
        """One line if it is no wider than `width` columns, several otherwise."""
        flat = self.flat()
        return [flat] if len(flat) <= width else self.broken(width)


def indented(lines: Sequence[str], by: int) -> list[str]:
    """The lines, moved to the right."""
    return [" " * by + line for line in lines]


def hanging(prefix: str, lines: Sequence[str], suffix: str = "") -> list[str]:
    """The lines after a prefix; later lines are aligned with the first."""
    placed = [prefix + lines[0], *indented(lines[1:], len(prefix))]
    placed[-1] += suffix
    return placed


def inside(node: LayoutNode, level: int) -> LayoutNode:
    """The node as an operand of an operator that binds as tightly as `level`."""
    return Parenthesised(node) if node.level <= level else node


@dataclass(frozen=True)
class Word(LayoutNode):
    """A name, a literal, or anything else that is never broken."""

    text: str

    def flat(self) -> str:
        return self.text


@dataclass(frozen=True)
class Parenthesised(LayoutNode):
    """`(...)`."""

    inner: LayoutNode

    def flat(self) -> str:
        return f"({self.inner.flat()})"

    def broken(self, width: int) -> list[str]:
        return hanging("(", self.inner.lines(width - 2), ")")


@dataclass(frozen=True)
class Infix(LayoutNode):
    """`left operator right`."""

    operator: str
    left: LayoutNode
    right: LayoutNode
    level: int

    def _sides(self) -> tuple[LayoutNode, LayoutNode]:
        # A conclusion may be a list or a quantifier: it reaches to the end anyway.
        right = self.right if self.level == IMPLIES else inside(self.right, self.level)
        return inside(self.left, max(self.level, JUNCTION)), right

    def flat(self) -> str:
        left, right = self._sides()
        return f"{left.flat()} {self.operator} {right.flat()}"

    def broken(self, width: int) -> list[str]:
        left, right = self._sides()
        start = f"{left.flat()} {self.operator} "
        if self.operator in ("=", r"\in") and len(start) <= min(24, width // 3):
            return hanging(start, right.lines(width - len(start)))
        first = left.lines(width - len(self.operator) - 1)
        first[-1] += f" {self.operator}"
        return [*first, *indented(right.lines(width - 4), 4)]


@dataclass(frozen=True)
class Prefix(LayoutNode):
    """`~operand`, `SUBSET operand`."""

    operator: str
    operand: LayoutNode
    level: int = NOT

    def _operand(self) -> LayoutNode:
        return inside(self.operand, COMPARE if self.level == NOT else self.level)

    def flat(self) -> str:
        return self.operator + self._operand().flat()

    def broken(self, width: int) -> list[str]:
        used = len(self.operator)
        return hanging(self.operator, self._operand().lines(width - used))


@dataclass(frozen=True)
class Junction(LayoutNode):
    """A conjunction or a disjunction of two or more parts."""

    operator: str
    parts: tuple[LayoutNode, ...]
    level = JUNCTION

    def flat(self) -> str:
        return f" {self.operator} ".join(inside(part, JUNCTION).flat() for part in self.parts)

    def broken(self, width: int) -> list[str]:
        bullet = f"{self.operator} "
        return [
            line for part in self.parts for line in hanging(bullet, part.lines(width - len(bullet)))
        ]


@dataclass(frozen=True)
class Binder(LayoutNode):
    r"""`\A x, y \in S, z \in T : body`: no set depends on a variable of the same binder."""

    sign: str
    over: tuple[tuple[tuple[str, ...], LayoutNode], ...]
    body: LayoutNode
    level = OPEN

    def _head(self) -> str:
        ranges = (rf"{', '.join(names)} \in {domain.flat()}" for names, domain in self.over)
        return f"{self.sign} {', '.join(ranges)} :"

    def flat(self) -> str:
        return f"{self._head()} {self.body.flat()}"

    def broken(self, width: int) -> list[str]:
        return [self._head(), *indented(self.body.lines(width - 4), 4)]


def bound(sign: str, name: str, domain: LayoutNode, body: LayoutNode) -> Binder:
    """A quantifier; two in a row are written as one where the inner set allows it."""
    if (
        not isinstance(body, Binder)
        or body.sign != sign
        or any(re.search(rf"\b{name}\b", inner.flat()) for _, inner in body.over)
    ):
        return Binder(sign, (((name,), domain),), body)
    (names, inner), *rest = body.over
    if inner.flat() == domain.flat():
        return Binder(sign, (((name, *names), domain), *rest), body.body)
    return Binder(sign, (((name,), domain), *body.over), body.body)


@dataclass(frozen=True)
class If(LayoutNode):
    """IF condition THEN one ELSE other."""

    condition: LayoutNode
    then: LayoutNode
    otherwise: LayoutNode
    level = OPEN

    def flat(self) -> str:
        return f"IF {self.condition.flat()} THEN {self.then.flat()} ELSE {self.otherwise.flat()}"

    def broken(self, width: int) -> list[str]:
        lines: list[str] = []
        case: LayoutNode = self
        start = "IF "
        while isinstance(case, If):
            flat = f"{start}{case.condition.flat()} THEN {case.then.flat()}"
            if len(flat) <= width:
                lines.append(flat)
            else:
                lines += hanging(start, case.condition.lines(width - len(start)))
                then = " " * (len(start) - len("IF ")) + "THEN "
                lines += hanging(then, case.then.lines(width - len(then)))
            case, start = case.otherwise, "ELSE IF "
        return [*lines, *hanging("ELSE ", case.lines(width - 5))]


def junction(operator: str, parts: Sequence[LayoutNode]) -> LayoutNode:
    """The conjunction or disjunction of the parts; of one: the part."""
    return parts[0] if len(parts) == 1 else Junction(operator, tuple(parts))
