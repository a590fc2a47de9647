"""Lines of the module: comments, definitions, conjuncts with their reasons, lists of names."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Sequence

from specs.tla.layout import LayoutNode, hanging, indented

WIDTH = 100
REASON_AT = 64
"""Reasons stand beside their conditions, no further right than this; above them otherwise."""


def comment(text: str, indent: str = "") -> list[str]:
    r"""Lines of `\* text`, wrapped; the author's line breaks are kept."""
    lines: list[str] = []
    for line in inspect.cleandoc(text).split("\n"):
        deeper = " " * (len(line) - len(line.lstrip()))
        room = WIDTH - len(indent) - 3 - len(deeper)
        wrapped = textwrap.wrap(line.strip(), room, break_long_words=False) or [""]
        lines += [f"{indent}\\* {deeper}{part}".rstrip() for part in wrapped]
    return lines


def conjuncts(parts: Sequence[tuple[LayoutNode, str]], indent: str) -> list[str]:
    r"""`/\ condition  \* reason` for each; a reason that does not fit is above it."""
    shown = [
        (indented(hanging("/\\ ", body.lines(WIDTH - len(indent) - 3)), len(indent)), remark)
        for body, remark in parts
    ]
    beside = [
        len(lines[0])
        for lines, remark in shown
        if len(lines) == 1 and len(lines[0]) + len(remark) + 5 <= WIDTH
    ]
    column = max((one for one in beside if one <= REASON_AT), default=0)
    result: list[str] = []
    for lines, remark in shown:
        line = f"{lines[0]:<{column}}  \\* {remark}"
        if not remark:
            result += lines
        elif len(lines) == 1 and len(line) <= WIDTH:
            result.append(line)
        else:
            result += [*comment(remark, indent), *lines]
    return result


def definition(name: str, body: LayoutNode, width: int = WIDTH) -> list[str]:
    """`name == body`, on one line where it fits."""
    flat = f"{name} == {body.flat()}"
    if len(flat) <= width:
        return [flat]
    return [f"{name} ==", *indented(body.lines(width - 4), 4)]


def let(lines: list[str]) -> list[str]:
    """The lines of LET ... IN around definitions; none for none."""
    if not lines:
        return []
    return [*hanging("    LET ", [*lines[:-1], f"{lines[-1]} IN"])]


def section(title: str, parts: Sequence[list[str]]) -> list[list[str]]:
    """The parts under a rule and a title; nothing for no parts."""
    if not parts:
        return []
    ruled = f"{'':-<100}\n\\* {title}".split("\n")
    return [ruled, *parts]


def listed(names: Sequence[tuple[str, str]]) -> list[str]:
    """Names with commas between, and remarks."""
    lines = []
    for number, (name, remark) in enumerate(names):
        comma = "," if number < len(names) - 1 else ""
        lines.append(f"    {name + comma:<24}  \\* {remark}" if remark else f"    {name}{comma}")
    return lines


def tuple_of(name: str, members: Sequence[str]) -> list[str]:
    """`name == <<a, b, c>>`."""
    flat = f"{name} == <<{', '.join(members)}>>"
    if len(flat) <= WIDTH:
        return [flat]
    lines, line = [f"{name} =="], "    <<"
    for number, member in enumerate(members):
        piece = member + (", " if number < len(members) - 1 else ">>")
        if len(line) + len(piece) > WIDTH:
            lines.append(line.rstrip())
            line = "      "
        line += piece
    return [*lines, line]
