"""The cache of numba's compiled loops: a folder named by a hash of all source files of the loops.

Numba identifies a function by the file that defines it, but compiled code contains functions of
other files. After a change of the hash function in one file, for example, numba would still load
the old loops of another file, which would look up states at wrong places.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import os
import shutil
import tempfile
from pathlib import Path

import numba

from specs.native.jit import cache_folder


def sources_key(folder: Path) -> str:
    """A hash of every file of a folder that declares loops or what they call, by name and text."""
    seen = hashlib.sha256()
    for path in sorted(folder.glob("*.py")):
        text = path.read_bytes()
        if b"@njit" in text or b"@intrinsic" in text:
            seen.update(path.name.encode() + b"\0" + text + b"\0")
    return seen.hexdigest()[:32]


def loops_folder() -> Path:
    """NUMBA_CACHE_DIR, else `loops` beside the machine code; below it, one folder a version."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    base = Path(chosen) if chosen else cache_folder() / "loops"
    return base / sources_key(Path(__file__).parent)


@functools.cache
def keep_loops() -> None:
    """Call this before any loop is declared. Where nothing can be cached, this process compiles
    for itself alone."""
    folder = loops_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        folder = Path(tempfile.mkdtemp(prefix="insync-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    vars(numba.config)["CACHE_DIR"] = str(folder)
