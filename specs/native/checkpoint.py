"""Checkpoints of a search: whole levels on disk, named by everything that determines them.

A folder has `checkpoint.json` and one file of states that it names. Both are written under
temporary names and renamed, `checkpoint.json` last, so that a crash during a write leaves the
previous checkpoint intact.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import tempfile
import time
import zlib
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from model.language import ProtocolError
from specs.lowering.symmetry import canonical_text
from specs.native.kernel import Kernel
from specs.native.store import FIRST_TABLE, LOAD, Spans, StateStore, Words

FORMAT = "insync.checkpoint/1"
DESCRIPTION = "checkpoint.json"
EVERY_SECONDS = 60.0


class ResumableSearch(Protocol):
    """The part of a search that a checkpoint saves and restores: whole levels and their counts."""

    store: StateStore
    levels: list[Spans]
    generated: int
    dead_ends: int
    settled: dict[str, int]
    open: set[str]
    fired: npt.NDArray[np.int64]
    refused: npt.NDArray[np.uint8]
    pruned: npt.NDArray[np.int64]

    @property
    def stopped(self) -> str | None:
        """Why it is not complete."""


class Checkpoint:
    """One folder for one search."""

    def __init__(self, folder: Path, kernel: Kernel) -> None:
        self.folder, self.kernel = folder, kernel
        self._saved = time.perf_counter()
        self._code = self._hash_of_code()
        if folder.exists() and not folder.is_dir():
            raise ProtocolError(f"{folder} is a file; name a folder for --checkpoint")

    def is_due(self) -> bool:
        """Is the last checkpoint old enough to write the next one?"""
        return time.perf_counter() - self._saved > EVERY_SECONDS

    def identity(self) -> dict[str, Any]:
        """The properties that a search must share with a checkpoint to resume from it."""
        grounded = self.kernel.grounded
        recorded = grounded.recorded
        return {
            "system": recorded.system.name,
            "version": recorded.version,
            "without": dict(recorded.without),
            "bounds": dict(grounded.bounds),
            "claims": list(grounded.claims),
            "symmetry": self.kernel.symmetry,
            "code": self._code,
        }

    def _hash_of_code(self) -> str:
        """The hash of all that decides what a stored state means and which states exist."""
        kernel = self.kernel
        least = canonical_text(kernel.packing) if kernel.symmetry else ""
        parts = (kernel.code.text, least, str(kernel.grounded.initial))
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]

    # -- writing ----------------------------------------------------------------------------

    def save(self, search: ResumableSearch) -> None:
        """Writes the whole levels of a search. Raises ProtocolError where it cannot be written."""
        self._saved = time.perf_counter()
        words, store = self.kernel.words, search.store
        parts = [
            store.states[begin * words : end * words]
            for spans in search.levels
            for begin, end in spans
        ]
        sizes = [int((spans[:, 1] - spans[:, 0]).sum()) for spans in search.levels]
        name = f"states-{sum(sizes)}.npy"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._write(name, lambda file: _save(file, parts))
            header = {
                "format": FORMAT,
                **self.identity(),
                "states": name,
                "seal": _checksum(parts),
                "levels": sizes,
                "generated": search.generated,
                "dead_ends": search.dead_ends,
                "settled": search.settled,
                "stopped": search.stopped,
                "fired": search.fired.tolist(),
                "refused": search.refused.tolist(),
                "pruned": search.pruned.tolist(),
            }
            text = json.dumps(header, indent=1).encode()
            self._write(DESCRIPTION, lambda file: file.write(text))
        except OSError as error:
            raise ProtocolError(
                f"{self.folder}: the checkpoint could not be written ({error.strerror}); the last "
                "good one is untouched; free some space, or choose another folder"
            ) from error
        for old in self.folder.glob("states-*.npy"):
            if old.name != name:
                old.unlink(missing_ok=True)

    def _write(self, name: str, write: Any) -> None:
        handle, part = tempfile.mkstemp(dir=self.folder, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, self.folder / name)
        except BaseException:
            Path(part).unlink(missing_ok=True)
            raise

    # -- reading ----------------------------------------------------------------------------

    def load_into(self, search: ResumableSearch) -> bool:
        """Restores the checkpoint into a fresh search; returns False if the folder has none.

        Raises ProtocolError, which names both, for a checkpoint of another search.
        """
        described = self.folder / DESCRIPTION
        if not described.exists():
            return False
        try:
            header = json.loads(described.read_text(encoding="utf-8"))
            if header.get("format") != FORMAT:
                raise ValueError(f"its format is not {FORMAT}")
            self._require_same(header)
            states = np.load(self.folder / header["states"], mmap_mode="r")
            if states.size != sum(header["levels"]) * self.kernel.words:
                raise ValueError(f"{header['states']} does not hold as many states as it says")
            if _checksum([states]) != header["seal"]:
                raise ValueError(f"{header['states']} is not what was written")
            self._fill(search, header, states)
        except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError) as error:
            what = f"{error} is missing" if isinstance(error, KeyError) else error
            raise ProtocolError(
                f"{described}: no checkpoint to go on from: {what}; remove it to start again"
            ) from error
        return True

    def _require_same(self, header: dict[str, Any]) -> None:
        mine = self.identity()
        for key, value in mine.items():
            if header.get(key) != value:
                if key == "code":
                    what = "the protocol's text, or its lowering, has changed since"
                else:
                    what = f"its {key} is {_shown(header.get(key))}, here it is {_shown(value)}"
                raise ProtocolError(
                    f"{self.folder} holds a checkpoint of {_title(header)}, and this is "
                    f"{_title(mine)}: {what}; choose another folder"
                )

    def _fill(self, search: ResumableSearch, header: dict[str, Any], states: Any) -> None:
        store, words = search.store, self.kernel.words
        count = sum(header["levels"])
        if count > store.region:
            raise ProtocolError(
                f"{self.folder} holds {count:,} states, more than {store.memory_bytes / 1e6:,.0f} "
                "MB can take; allow more with --memory"
            )
        store.states[: count * words] = states
        store.ends[0] = count
        size = FIRST_TABLE
        while size * LOAD < count + self.kernel.most:
            size *= 2
        store.refill(size)
        ends = np.cumsum([0, *header["levels"]])
        search.levels = [
            np.array([[begin, end]], np.int64) for begin, end in itertools.pairwise(ends)
        ]
        search.generated, search.dead_ends = header["generated"], header["dead_ends"]
        search.settled = dict(header["settled"])
        search.open -= set(search.settled)
        search.fired[:] = header["fired"]
        search.refused[:] = header["refused"]
        search.pruned[:] = header["pruned"]


def _save(file: Any, parts: list[Words]) -> None:
    """Like `np.save`, part by part: joined, the parts would take as much memory again."""
    size = sum(part.size for part in parts)
    head = {"descr": "<u8", "fortran_order": False, "shape": (size,)}
    np.lib.format.write_array_header_1_0(file, head)
    for part in parts:
        file.write(part.astype("<u8", copy=False).data)


def _checksum(parts: list[Words]) -> int:
    """A checksum of the states: what a failing disk changes must not be explored."""
    seal = 0
    for part in parts:
        seal = zlib.crc32(part.astype("<u8", copy=False).data, seal)
    return seal


def _title(header: dict[str, Any]) -> str:
    bounds = ", ".join(f"{name}={size}" for name, size in dict(header.get("bounds") or {}).items())
    return f"{header.get('system')} {header.get('version')} ({bounds})"


def _shown(value: object) -> str:
    return json.dumps(value)
