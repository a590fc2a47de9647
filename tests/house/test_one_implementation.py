"""The code that is compared with the model is the code that serves clients: held by its imports."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable
from graphlib import TopologicalSorter
from pathlib import Path

IMPL = Path(__file__).parents[2] / "impl"
CORE = IMPL / "core"

FORBIDDEN = {
    "asyncio", "concurrent", "multiprocessing", "os", "pathlib", "queue", "random", "selectors",
    "signal", "socket", "subprocess", "tempfile", "threading", "time",
}  # fmt: skip
"""Threads, clocks, files, sockets and chance: all of it comes through a port, or with a call."""


def files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def imports(path: Path) -> set[str]:
    """What a file imports, by full name; what is taken from a package counts as a module."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            found.add(node.module)
            found.update(f"{node.module}.{one.name}" for one in node.names)
    return found


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


def test_no_modules_of_the_implementation_import_one_another_in_a_circle() -> None:
    named = {
        ".".join(path.relative_to(IMPL.parent).with_suffix("").parts): imports(path)
        for path in files(IMPL)
        if path.stem != "__init__"
    }
    uses = {one: sorted(asked & (named.keys() - {one})) for one, asked in named.items()}

    TopologicalSorter(uses).prepare()  # CycleError names the circle


OPEN_ROOMS = ("conformance/pipeline",)
"""Rooms whose classes may still share a name; to be shortened, never to be added to."""


def settled(folder: Path) -> list[Path]:
    """The files of a folder that are in no open room."""
    root = IMPL.parent
    return [
        path
        for path in files(folder)
        if not path.relative_to(root).as_posix().startswith(tuple(f"{one}/" for one in OPEN_ROOMS))
    ]


def twice(paths: Iterable[Path]) -> set[str]:
    """Class names that stand in several places of some files."""
    names = Counter(
        node.name
        for path in paths
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    )
    return {name for name, times in names.items() if times > 1}


def test_no_class_name_stands_twice_in_the_implementation() -> None:
    assert twice(files(IMPL)) == set()


def test_no_class_name_stands_twice_in_the_specification_and_its_checks() -> None:
    rooms = (IMPL.parent / room for room in ("model", "specs", "conformance"))

    assert twice(path for room in rooms for path in settled(room)) == set()


def test_an_open_room_is_one_that_there_is() -> None:
    assert [one for one in OPEN_ROOMS if not (IMPL.parent / one).exists()] == []


def test_what_systems_share_is_used_by_what_is_recorded() -> None:
    """Nothing of `model/protocol` stands beside the transitions and claims, and is not of them."""
    model = IMPL.parent / "model"
    uses: dict[str, set[str]] = {}
    for path in files(model / "protocol"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                uses[node.name] = names_in(node)
    waiting = set().union(
        *(
            names_in(ast.parse(path.read_text(encoding="utf-8")))
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
