"""Changes of Python files as data: all are checked before any is written."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
WIDTH = 100


class NotPossible(Exception):
    """Why something cannot be added, and what to write instead; one line."""


@dataclass
class Edits:
    """A checkout's files after the changes: `new` are created, the others are changed."""

    root: Path
    texts: dict[str, str] = field(default_factory=dict)
    new: list[str] = field(default_factory=list)

    def read(self, path: str) -> str:
        """The file's text after the changes; NotPossible if it does not exist."""
        if path not in self.texts:
            try:
                self.texts[path] = (self.root / path).read_text(encoding="utf-8")
            except OSError as error:
                raise NotPossible(f"{path}: {error.strerror}; run this in a checkout") from error
        return self.texts[path]

    def create(self, path: str, text: str) -> None:
        """Adds a file that does not exist yet."""
        if (self.root / path).exists():
            raise NotPossible(f"{path} is there already; choose another name, or edit that file")
        self.texts[path] = text
        self.new.append(path)

    def put(self, path: str, text: str) -> None:
        """Replaces the text of an existing file; NotPossible if that is no Python."""
        try:
            ast.parse(text)
        except SyntaxError as error:
            raise NotPossible(f"{path} would not be Python any more: {error}") from error
        self.texts[path] = text

    def write(self) -> list[str]:
        """Write all files; returns their paths, sorted."""
        for path, text in self.texts.items():
            file = self.root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        return sorted(self.texts)


def checked_name(kind: str, name: str) -> str:
    """Checks that a name is one of functions and folders; else NotPossible."""
    if not NAME.match(name) or keyword.iskeyword(name):
        raise NotPossible(f"{name!r} is no name of a {kind}: write small letters, digits and _")
    return name


def with_imports(text: str, module: str, names: Iterable[str]) -> str:
    """Adds imports of a module's names to the text, sorted as ruff sorts them."""
    wanted = {*names}
    lines = text.splitlines(keepends=True)
    tree = ast.parse(text)
    froms = [one for one in tree.body if isinstance(one, ast.ImportFrom)]
    for one in froms:
        if one.module == module:
            wanted |= {alias.name for alias in one.names}
            assert one.end_lineno is not None, "a parsed text has positions"
            lines[one.lineno - 1 : one.end_lineno] = [_import_line(module, wanted)]
            return "".join(lines)
    if not wanted:
        return text
    later = [one for one in froms if (one.module or "") > module and one.module != "__future__"]
    before = [one for one in froms if one not in later]
    if later:
        at = later[0].lineno - 1
    elif before:
        at = before[-1].end_lineno or before[-1].lineno
    else:
        at = _after_docstring(tree)
        lines.insert(at, "\n")
        at += 1
    lines.insert(at, _import_line(module, wanted))
    return "".join(lines)


def _after_docstring(tree: ast.Module) -> int:
    first = tree.body[0] if tree.body else None
    is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return first.end_lineno or 0 if first is not None and is_text else 0


def _import_line(module: str, names: Iterable[str]) -> str:
    """Constants first, then classes, then functions: ruff's order."""
    ordered = sorted(names, key=lambda one: (not one.isupper(), not one[0].isupper(), one))
    line = f"from {module} import {', '.join(ordered)}\n"
    if len(line) <= WIDTH:
        return line
    return f"from {module} import (\n" + "".join(f"    {one},\n" for one in ordered) + ")\n"


def sorted_imports(text: str) -> str:
    """Sorts adjacent one-line imports by their modules."""
    lines = text.splitlines(keepends=True)
    at = [n for n, line in enumerate(lines) if line.startswith("from ")]
    if at and at == list(range(at[0], at[-1] + 1)):
        lines[at[0] : at[-1] + 1] = sorted(
            lines[at[0] : at[-1] + 1], key=lambda one: one.split()[1]
        )
    return "".join(lines)


def with_member(text: str, name: str, member: str) -> str:
    """Appends a member to the tuple called ``name`` in the text."""
    for one in ast.parse(text).body:
        targets = one.targets if isinstance(one, ast.Assign) else (
            [one.target] if isinstance(one, ast.AnnAssign) else []
        )  # fmt: skip
        value = getattr(one, "value", None)
        if not any(isinstance(each, ast.Name) and each.id == name for each in targets):
            continue
        if isinstance(value, ast.Tuple):
            return _appended(text, value, member)
    raise NotPossible(f"there is no tuple {name} = (...) to add {member} to")


def _appended(text: str, value: ast.Tuple, member: str) -> str:
    lines = text.splitlines(keepends=True)
    assert value.end_lineno is not None, "a parsed text has positions"
    assert value.end_col_offset is not None, "a parsed text has positions"
    if not value.elts:
        return _replaced(lines, value.lineno, value.col_offset,
                         value.end_lineno, value.end_col_offset, f"({member},)")  # fmt: skip
    last = value.elts[-1]
    assert last.end_lineno is not None, "a parsed text has positions"
    assert last.end_col_offset is not None, "a parsed text has positions"
    line = lines[last.end_lineno - 1]
    here = line.encode()[: last.end_col_offset].decode()
    rest = line.encode()[last.end_col_offset :].decode()
    comma = "" if len(value.elts) > 1 or not rest.startswith(",") else ","
    rest = rest.removeprefix(comma)
    if len(here) + len(member) + len(rest) + 1 < WIDTH:
        lines[last.end_lineno - 1] = f"{here}, {member}{rest}"
    else:
        indent = " " * 4
        lines[last.end_lineno - 1] = f"{here},\n{indent}{member}{rest}"
    return "".join(lines)


def _replaced(
    lines: list[str], row: int, column: int, end_row: int, end_column: int, new: str
) -> str:
    before = lines[row - 1].encode()[:column].decode()
    after = lines[end_row - 1].encode()[end_column:].decode()
    return "".join([*lines[: row - 1], before + new + after, *lines[end_row:]])
