"""The code that is compared with the model is the code that serves clients: held by its imports."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterable
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("model", "specs", "impl", "conformance")
IMPL = ROOT / "impl"
CORE = IMPL / "core"

PURE = {
    "__future__", "abc", "bisect", "collections", "contextlib", "copy", "dataclasses", "enum",
    "functools", "heapq", "itertools", "math", "operator", "re", "types", "typing",
}  # fmt: skip
"""What the core may import beside `impl`: nothing with a clock, thread, file, socket or chance. All
of that comes through a port, or with a call."""

OUTSIDE = ("impl.server", "impl.sim", "impl.world", "impl.admin", "impl.disk", "impl.wire")
"""The shell, the simulator, and what else knows the core or does I/O."""

ACTS = {"open", "print", "input", "exec", "eval", "compile", "__import__", "breakpoint"}
"""Functions that need no import."""


def files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(module: ast.Module) -> set[str]:
    """What a module imports, by full name; what is taken from a package counts as a module, and
    what is named by its place alone as one that nothing may import."""
    found: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            found.update(one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            name = "." * node.level + (node.module or "")
            found.add(name)
            found.update(f"{name}.{one.name}" for one in node.names)
    return found


def imports(path: Path) -> set[str]:
    return imported(tree(path))


def impure(module: ast.Module) -> set[str]:
    """What of a module of the core has a clock, a thread or I/O, or may have."""
    names = {one for one in imported(module) if one.split(".")[0] not in (*PURE, "impl")}
    outside = {one for one in imported(module) if one.startswith(OUTSIDE)}
    called = {
        node.func.id
        for node in ast.walk(module)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    return names | outside | (called & ACTS)


def replaced(module: ast.Module) -> list[int]:
    """The lines that give an object another method, or a class of another module another attribute.

    By assignment, or by `setattr`: of an object it may restore fields by name (`put_back`).
    """
    foreign = {
        (one.asname or one.name).split(".")[0]
        for node in ast.walk(module)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for one in node.names
    }
    found = list[int]()
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            named = len(node.args) == 3 and isinstance(node.args[1], ast.Constant)
            holder = node.args[0] if node.args else None
            is_foreign = isinstance(holder, ast.Name) and holder.id in foreign
            if node.func.id == "setattr" and (named or is_foreign):
                found.append(node.lineno)
        targets = node.targets if isinstance(node, ast.Assign) else []
        found += [
            one.lineno
            for one in targets
            if isinstance(one, ast.Attribute) and isinstance(root(one), ast.Name)
            and root(one).id in foreign
        ]  # fmt: skip
    return found


def root(node: ast.expr) -> ast.Name:
    """The name that an attribute of an attribute begins with."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node  # type: ignore[return-value]


def modules_used(path: Path, named: Collection[str]) -> set[str]:
    """The modules among ``named`` that a file imports; a package only for names of its own."""
    found: set[str] = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found.update(one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            inside = (f"{node.module}.{one.name}" for one in node.names)
            found.update(one if one in named else node.module for one in inside)
    return found & set(named)


def core_modules() -> set[str]:
    return {f"impl.core.{path.stem}" for path in CORE.glob("*.py") if path.stem != "__init__"}


def used_by(*folders: str) -> set[str]:
    """The modules of the core that some folders import, by way of others of the core too."""
    waiting = {
        one for folder in folders for path in files(IMPL / folder) for one in imports(path)
    } & core_modules()
    found: set[str] = set()
    while waiting:
        one = waiting.pop()
        found.add(one)
        path = CORE / f"{one.rpartition('.')[2]}.py"
        waiting |= (imports(path) & core_modules()) - found
    return found


def test_the_core_has_no_clock_thread_file_or_socket() -> None:
    wrong = {path.name: sorted(found) for path in files(CORE) if (found := impure(tree(path)))}

    assert wrong == {}


@pytest.mark.parametrize(
    "planted",
    [
        "import time", "import datetime", "from threading import Lock", "import asyncio",
        "import sched", "import io", "import os.path", "import http.client", "import random",
        "import sys", "import logging", "import importlib", "import impl.disk",
        "from impl import server", "from impl.world.candidates import each_leader",
        "from ..server import api",
        "from . import api", "def f() -> object:\n    return open('/x')", "print('x')",
        "t = __import__('time')",
    ],
)  # fmt: skip
def test_what_the_core_may_not_have_is_noticed(planted: str) -> None:
    assert impure(ast.parse(planted))


def test_every_module_of_the_core_serves_clients_and_is_simulated() -> None:
    assert core_modules() - used_by("server") == set()
    assert core_modules() - used_by("sim", "world") == set()


def test_no_method_of_the_implementation_is_replaced_at_run_time() -> None:
    home = IMPL.parent
    silenced = [
        f"{path.relative_to(home)}:{number}"
        for folder in ("impl", "conformance")
        for path in files(home / folder)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if "method-assign" in line
    ]
    by_name = [
        f"{path.relative_to(home)}:{number}"
        for folder in ("impl", "conformance/vectors")
        for path in files(home / folder)
        for number in replaced(tree(path))
    ]

    assert silenced + by_name == []


@pytest.mark.parametrize(
    "planted",
    [
        "from impl.core.api import ControllerApi\nControllerApi.alter = None",
        "import impl.core.api as api\napi.ControllerApi.alter = None",
        "from impl.core.api import ControllerApi\nsetattr(ControllerApi, name, None)",
        "setattr(move.controller.reassigner, 'begin', None)",
    ],
)
def test_a_method_that_is_replaced_is_noticed(planted: str) -> None:
    assert replaced(ast.parse(planted))


def test_no_modules_import_one_another_in_a_circle() -> None:
    """Imports for types alone and imports within functions count as well."""
    named = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for room in PACKAGES
        for path in files(ROOT / room)
    }
    uses = {one: modules_used(path, named) - {one} for one, path in named.items()}

    TopologicalSorter(uses).prepare()  # CycleError names the circle


def twice(modules: Iterable[ast.Module]) -> set[str]:
    """Class names that stand in several places of some modules, inside others or functions too."""
    names = Counter(
        node.name
        for module in modules
        for node in ast.walk(module)
        if isinstance(node, ast.ClassDef)
    )
    return {name for name, times in names.items() if times > 1}


def test_no_class_name_stands_twice() -> None:
    """Neither in one package nor in two, and not in the tests beside them either."""
    rooms = (*PACKAGES, "tests")

    assert twice(tree(path) for room in rooms for path in files(ROOT / room)) == set()


@pytest.mark.parametrize(
    "planted", ["class A: ...", "def f():\n    class A: ...", "if True:\n    class A: ..."]
)
def test_a_class_name_that_stands_twice_is_noticed(planted: str) -> None:
    assert twice([ast.parse("class A: ..."), ast.parse(planted)]) == {"A"}


def test_what_systems_share_is_used_by_what_is_recorded() -> None:
    """Nothing of `model/protocol` stands beside the transitions and claims, and is not of them."""
    model = IMPL.parent / "model"
    uses: dict[str, set[str]] = {}
    for path in files(model / "protocol"):
        for node in tree(path).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                uses[node.name] = names_in(node)
    waiting = set().union(
        *(
            names_in(tree(path))
            for path in files(model)
            if path.parent.name not in ("protocol", "language", "bugs")
        )
    ) & set(uses)
    used = set[str]()
    while waiting:
        one = waiting.pop()
        used.add(one)
        waiting |= (uses[one] & set(uses)) - used

    assert set(uses) - used == set(), "used by no transition and no claim"


def names_in(tree: ast.AST) -> set[str]:
    """The names that some code reads; what is only imported is not read."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
