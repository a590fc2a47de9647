"""Bracketed TLA+ expressions: records, functions, tuples, sets, EXCEPT, arguments."""

from __future__ import annotations

from dataclasses import dataclass

from specs.tla.layout import LayoutNode, Word, hanging, indented


@dataclass(frozen=True)
class Enclosed(LayoutNode):
    """Items between brackets: a call, a record, a tuple, a set."""

    opening: str
    items: tuple[LayoutNode, ...]
    closing: str

    def flat(self) -> str:
        return self.opening + ", ".join(item.flat() for item in self.items) + self.closing

    def broken(self, width: int) -> list[str]:
        used = len(self.opening)
        lines: list[str] = []
        for number, item in enumerate(self.items):
            last = number == len(self.items) - 1
            start = " " * used if number else self.opening
            lines += hanging(start, item.lines(width - used - 1), self.closing if last else ",")
        return lines


@dataclass(frozen=True)
class Labelled(LayoutNode):
    """`name |-> value` in a record, `!.name = value` in an EXCEPT."""

    label: str
    arrow: str
    value: LayoutNode

    def flat(self) -> str:
        return f"{self.label} {self.arrow} {self.value.flat()}"

    def broken(self, width: int) -> list[str]:
        start = f"{self.label} {self.arrow} "
        if len(start) > width // 3:
            return [start.rstrip(), *indented(self.value.lines(width - 4), 4)]
        return hanging(start, self.value.lines(width - len(start)))


@dataclass(frozen=True)
class Comprehension(LayoutNode):
    r"""`[x \in S |-> body]`, a function, or `{x \in S : body}`, a set."""

    opening: str
    variable: str
    domain: LayoutNode
    arrow: str
    body: LayoutNode
    closing: str

    def _head(self) -> str:
        return rf"{self.opening}{self.variable} \in {self.domain.flat()} {self.arrow}"

    def flat(self) -> str:
        return f"{self._head()} {self.body.flat()}{self.closing}"

    def broken(self, width: int) -> list[str]:
        body = indented(self.body.lines(width - 5), 4)
        body[-1] += self.closing
        return [self._head(), *body]


@dataclass(frozen=True)
class ExceptUpdate(LayoutNode):
    """`[base EXCEPT !.part = value, ...]`."""

    base: LayoutNode
    changes: tuple[LayoutNode, ...]

    def flat(self) -> str:
        changes = ", ".join(change.flat() for change in self.changes)
        return f"[{self.base.flat()} EXCEPT {changes}]"

    def broken(self, width: int) -> list[str]:
        lines = [f"[{self.base.flat()} EXCEPT"]
        for change in self.changes:
            lines += indented(change.lines(width - 5), 4)
            lines[-1] += ","
        lines[-1] = lines[-1][:-1] + "]"
        return lines


def call(name: str, *arguments: LayoutNode) -> LayoutNode:
    """`name(a, b)`, or just `name` without arguments."""
    return Enclosed(f"{name}(", arguments, ")") if arguments else Word(name)
