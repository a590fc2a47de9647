"""How long it takes until the first state is explored: in fresh processes, with and without caches.

Run as a program, this file sets one system up, once, and prints what that took.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from specs.native.compiled_loops import loops_folder

ROOT = Path(__file__).parents[2]


@dataclass
class SetUp:
    """Seconds: `imports` of numba and LLVM, `wall` and `cpu` from the recorded text to machine code
    with all loops loaded, `process` from start to end, one explored state included. `caches`: what
    was compiled before: nothing, the loops that all systems share, or all."""

    name: str
    caches: str
    imports: float
    wall: float
    cpu: float
    process: float
    from_cache: bool

    def as_json(self) -> dict[str, Any]:
        """All of it."""
        return asdict(self)


def set_ups(systems: Iterable[str], cold_loops: bool = True) -> list[SetUp]:
    """Each system at its default size. `cold_loops`: also once with nothing compiled at all."""
    found: list[SetUp] = []
    kept = loops_folder().parent
    with tempfile.TemporaryDirectory() as folder:
        for number, system in enumerate(systems):
            if number == 0 and cold_loops:
                kept = Path(folder) / "loops"
                found.append(_once(system, "none", Path(folder) / "none", kept))
            fresh = Path(folder) / f"fresh-{system}"
            found.append(_once(system, "loops", fresh, kept))
            found.append(_once(system, "all", fresh, kept))
    return found


def _once(system: str, caches: str, cache: Path, loops: Path) -> SetUp:
    environment = {**os.environ, "INSYNC_CACHE": str(cache), "NUMBA_CACHE_DIR": str(loops)}
    began = time.perf_counter()
    said = subprocess.run(
        [sys.executable, "-m", "tests.bench.setup", system],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    return SetUp(system, caches, process=time.perf_counter() - began, **json.loads(said))


def _set_up(system: str) -> dict[str, Any]:
    began = time.perf_counter()
    for name in ("llvmlite.binding", "numba"):
        importlib.import_module(name)
    imported = time.perf_counter()
    cpu = time.process_time()
    from model.systems import SYSTEMS
    from specs.exploration import grounded_for
    from specs.native.kernel import kernel_of
    from specs.native.search import Options, Search

    chosen = SYSTEMS[system]
    kernel = kernel_of(grounded_for(chosen.recorded(), chosen.limits({}), None))
    search = Search(kernel, Options(max_states=1), lambda line: None)
    done = time.perf_counter()
    figures = {
        "imports": imported - began,
        "wall": done - imported,
        "cpu": time.process_time() - cpu,
        "from_cache": kernel.machine.from_cache,
    }
    search.go()
    return figures


if __name__ == "__main__":
    print(json.dumps(_set_up(sys.argv[1])))
