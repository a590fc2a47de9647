"""What a command and the processes that it starts hold in memory at most, by what they are."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

DRIVER, WORKERS, JVM = "driver", "python workers", "jvm"
_EVERY = 0.2  # seconds between two looks


def measured(command: Sequence[str], seconds: float) -> tuple[str, dict[str, int]]:
    """Run a command to its end; its standard output, and the most MiB that each kind held at once.

    Raises subprocess.CalledProcessError when it fails, TimeoutExpired when it takes too long.
    """
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    peak = dict.fromkeys((DRIVER, WORKERS, JVM), 0)
    over = threading.Event()

    def look() -> None:
        while not over.wait(_EVERY):
            for kind, held in _held(process.pid).items():
                peak[kind] = max(peak[kind], held >> 10)

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    try:
        said, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.terminate()
        process.wait(timeout=30)
        raise
    finally:
        over.set()
        looking.join()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return said, peak


def _held(root: int) -> dict[str, int]:
    """KiB that are held now by a process and all below it."""
    held = dict.fromkeys((DRIVER, WORKERS, JVM), 0)
    for pid in _below(root):
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        except (OSError, IndexError):
            continue  # it has just ended
        name = os.path.basename(words[0].decode())
        kind = JVM if name == "java" else DRIVER if pid == root else WORKERS
        held[kind] += pages * os.sysconf("SC_PAGE_SIZE") // 1024
    return held


def _below(root: int) -> Iterable[int]:
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                reported = Path(f"/proc/{entry}/stat").read_text()
            except OSError:
                continue
            parent = int(reported.rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(entry))
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found
