"""The code that is compared with the model is the code that serves clients: held by its imports."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterable
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("model", "specs", "impl", "conformance")
IMPL = ROOT / "impl"
CORE = IMPL / "core"

FORBIDDEN = {
    "asyncio", "concurrent", "multiprocessing", "os", "pathlib", "queue", "random", "selectors",
    "signal", "socket", "subprocess", "tempfile", "threading", "time",
}  # fmt: skip
"""Threads, clocks, files, sockets and chance: all of it comes through a port, or with a call."""


def files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(path: Path) -> set[str]:
    """What a file imports, by full name; what is taken from a package counts as a module."""
    found: set[str] = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found.update(one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            found.add(node.module)
            found.update(f"{node.module}.{one.name}" for one in node.names)
    return found


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
    wrong = {
        path.name: sorted(roots & FORBIDDEN)
        for path in files(CORE)
        if (roots := {one.partition(".")[0] for one in imports(path)}) & FORBIDDEN
    }

    assert wrong == {}


def test_the_core_knows_neither_the_shell_nor_the_simulator() -> None:
    wrong = {
        path.name: sorted(one for one in imports(path) if one.startswith(outside))
        for path in files(CORE)
        for outside in ("impl.server", "impl.sim", "impl.world", "impl.admin")
        if any(one.startswith(outside) for one in imports(path))
    }

    assert wrong == {}


def test_every_module_of_the_core_serves_clients_and_is_simulated() -> None:
    assert core_modules() - used_by("server") == set()
    assert core_modules() - used_by("sim", "world") == set()


def test_no_method_of_the_implementation_is_replaced_at_run_time() -> None:
    root = IMPL.parent
    wrong = [
        f"{path.relative_to(root)}:{number}"
        for folder in ("impl", "conformance")
        for path in files(root / folder)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if "method-assign" in line
    ]

    assert wrong == []


def test_no_modules_import_one_another_in_a_circle() -> None:
    """Imports for types alone and imports within functions count as well."""
    named = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for room in PACKAGES
        for path in files(ROOT / room)
    }
    uses = {one: modules_used(path, named) - {one} for one, path in named.items()}

    TopologicalSorter(uses).prepare()  # CycleError names the circle


def twice(paths: Iterable[Path]) -> set[str]:
    """Class names that stand in several places of some files."""
    names = Counter(
        node.name for path in paths for node in tree(path).body if isinstance(node, ast.ClassDef)
    )
    return {name for name, times in names.items() if times > 1}


def test_no_class_name_stands_twice() -> None:
    """Neither in one package nor in two, and not in the tests beside them either."""
    assert twice(path for room in (*PACKAGES, "tests") for path in files(ROOT / room)) == set()


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
            if path.parent.name not in ("protocol", "language", "zoo")
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
