"""Every export of the systems to TLA+, made once, and what is wrong with its grammar."""

from __future__ import annotations

import re
from typing import Any

import pytest

from model.language import System
from model.systems import SYSTEMS
from specs.tla import Export, exported

VARIANTS = [(system, version) for system in SYSTEMS.values() for version in system.versions]
newest_variants = pytest.mark.parametrize(
    ("system", "version"),
    [
        pytest.param(
            system,
            version,
            marks=[] if version in (system.default_version, "0.10", "2.7") else [pytest.mark.deep],
            id=f"{system.name}-{version}",
        )
        for system, version in VARIANTS
    ],
)
"""Each system as it is by default, oldest and newest; what lies between runs with --deep, since an
export takes half a second, and twice that where the grammar reads it."""


made: dict[tuple[str, str | None], Export] = {}


def export_of(system: System, version: str | None = None) -> Export:
    if (system.name, version) not in made:
        made[system.name, version] = exported(system.recorded(version), system.limits({}))
    return made[system.name, version]


def code(text: str) -> str:
    """The module without its comments, its white space evened out."""
    return " ".join(re.sub(r"\\\*[^\n]*", "", text).split())


def comments(text: str) -> str:
    """The text of the comments, as one line."""
    return " ".join(" ".join(re.findall(r"\\\*([^\n]*)", text)).split())


def parsed(module: str) -> Any:
    """The root of the module's tree."""
    grammar = pytest.importorskip(
        "tree_sitter_tlaplus", reason="tree-sitter-tlaplus, a grammar of TLA+, is not installed"
    )
    tree_sitter = pytest.importorskip("tree_sitter", reason="tree-sitter is not installed")
    spoken = tree_sitter.Language(grammar.language())
    return tree_sitter.Parser(spoken).parse(module.encode()).root_node


def errors_in(module: str) -> list[str]:
    found: list[str] = []

    def look(node: Any) -> None:
        if node.type == "ERROR" or node.is_missing:
            line = node.start_point[0]
            found.append(f"line {line + 1}: {module.splitlines()[line]}")
        for child in node.children:
            look(child)

    root = parsed(module)
    if root.has_error:  # of a whole tree: a module has a hundred thousand nodes to look at
        look(root)
    return found
