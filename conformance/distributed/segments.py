"""Stores visited states as files: one segment per shard and level, written once, never changed.

    attempts/shard-00003-9f….npy     written by a task; nobody reads it
    visited/shard-00003/00012.npy    the same after the level was complete: renamed by the driver

A task that runs twice, one after the other or at once, writes two attempts under two names; the
driver takes the attempt of the task that succeeded. Every executor must see the folder.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from specs.native.store import Words


@dataclass(frozen=True)
class Segments:
    """The segments below one folder."""

    folder: str

    @property
    def _root(self) -> Path:
        return Path(self.folder)

    def _shard_folder(self, shard: int) -> Path:
        return self._root / "visited" / f"shard-{shard:05}"

    def attempt(self, shard: int, states: Words) -> str:
        """Writes states into a file of their own; returns its name."""
        name = f"shard-{shard:05}-{uuid.uuid4().hex}.npy"
        folder = self._root / "attempts"
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = folder / f"{name}.unfinished"
        with unfinished.open("wb") as file:
            np.save(file, states)
        unfinished.rename(folder / name)
        return name

    def commit(self, level: int, names: Iterable[tuple[int, str]]) -> None:
        """Makes the attempts (shard, name) the segments of a level; deletes all others."""
        for shard, name in sorted(names):
            self._shard_folder(shard).mkdir(parents=True, exist_ok=True)
            (self._root / "attempts" / name).rename(self._shard_folder(shard) / f"{level:05}.npy")
        for left in sorted((self._root / "attempts").glob("*")):
            left.unlink(missing_ok=True)

    def level(self, shard: int, level: int) -> Words | None:
        """The states that a level has found in a shard; None if there are none."""
        path = self._shard_folder(shard) / f"{level:05}.npy"
        return _read(path) if path.is_file() else None

    def visited(self, shard: int) -> Words:
        """Every committed state of a shard."""
        parts = [_read(path) for path in sorted(self._shard_folder(shard).glob("*.npy"))]
        return np.concatenate(parts) if parts else np.empty(0, np.uint64)


def _read(path: Path) -> Words:
    states: Words = np.load(path)
    return states
