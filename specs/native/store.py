"""The store of visited states: an array of states and an exact hash table over it, in shards."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from specs.lowering.llvm_terms import LANES
from specs.native.table import MOST_STATES, deal_out, insert_all

Words = npt.NDArray[np.uint64]
Spans = npt.NDArray[np.int64]
"""By shard: the indices (begin, end) of a level."""

LOAD = 0.75
"""The fullest that a table gets before it doubles."""

FIRST_TABLE = 1 << 16
SMALL_TABLE = 1 << 20
"""A table below this grows fourfold where there is room: filling it again is what growth costs."""

SHARE = 0.8
"""Of the memory that is free at the start, unless the user says how much to take."""


class OutOfMemory(Exception):
    """Raised if the next growth would exceed the allowed memory; the message has the amount."""


def free_memory() -> int:
    """Bytes that this process may still allocate, limited by the machine or its control group."""
    free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                free = int(line.split()[1]) * 1024
        limit = Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii").strip()
        used = Path("/sys/fs/cgroup/memory.current").read_text(encoding="ascii")
        if limit != "max":
            free = min(free, int(limit) - int(used))
    except (OSError, ValueError):
        pass  # not Linux, or no control group: half of the machine
    return max(free, 0)


@dataclass
class StateStore:
    """Visited states of `shards` shards. `ends[s]` is the end of shard s's region in use.

    The array of states is reserved at the start and takes memory only where it is written, so that
    it is never copied. The table doubles, and is then filled again from the states.
    """

    words: int
    memory_bytes: int
    shards: int = 1
    states: Words = field(init=False, repr=False)
    table: Words = field(init=False, repr=False)
    ends: npt.NDArray[np.int64] = field(init=False)
    region: int = field(init=False)
    peak_bytes: int = 0

    def __post_init__(self) -> None:
        row = 8 * self.words
        # The table takes at least 8 bytes a state at its load, so the states can never have all.
        most = min(int(self.memory_bytes / (row + 8 / LOAD)) + 1, MOST_STATES)
        share = most if self.shards == 1 else most // self.shards * 5 // 4
        self.region = min(max(share, 1024), MOST_STATES // self.shards)
        # The system's code reads several states at once, the last ones too.
        self.states = np.empty((self.region * self.shards + LANES) * self.words, np.uint64)
        self.table = np.zeros(FIRST_TABLE * self.shards, np.uint64)
        self.ends = np.arange(self.shards, dtype=np.int64) * self.region

    @property
    def part(self) -> int:
        """Entries of the table that one shard has: a power of two."""
        return self.table.size // self.shards

    @property
    def count(self) -> int:
        """States in all shards."""
        return int((self.ends - np.arange(self.shards) * self.region).sum())

    @property
    def room(self) -> int:
        """How many states a shard may have before the table must grow or memory ends."""
        left = (self.memory_bytes - self.table.nbytes) // (8 * self.words * self.shards)
        return max(min(int(self.part * LOAD), self.region, left), 0)

    @property
    def bytes_used(self) -> int:
        """States in use and the table."""
        return self.count * 8 * self.words + self.table.nbytes

    @property
    def load(self) -> float:
        """How full the table is."""
        return self.count / self.table.size

    def grow(self) -> None:
        """A larger table. Raises OutOfMemory instead of going beyond what is allowed."""
        size, states = self.table.size * 2, self.count * 8 * self.words
        if self.table.size < SMALL_TABLE and states + size * 16 <= self.memory_bytes:
            size *= 2
        needed = states + size * 8
        if needed > self.memory_bytes or self.room >= self.region:
            raise OutOfMemory(
                f"{self.count:,} state{'' if self.count == 1 else 's'} and their table take "
                f"{self.bytes_used / 1e6:,.1f} MB, the next table would make it "
                f"{needed / 1e6:,.1f} MB, and {self.memory_bytes / 1e6:,.1f} MB are allowed"
            )
        self.table = np.zeros(0, np.uint64)  # the old one goes before the new one comes
        self.refill(size)

    def refill(self, size: int | None = None) -> None:
        """Makes a table of `size` entries, and fills it from the stored states."""
        self.table = np.zeros(size or self.table.size, np.uint64)
        for shard in range(self.shards):
            insert_all(
                self.words, self.states, shard * self.region, int(self.ends[shard]),
                self.table, shard * self.part, self.part,
            )  # fmt: skip
        self.peak_bytes = max(self.peak_bytes, self.bytes_used)

    def into_shards(self, levels: list[Spans], shards: int) -> tuple[StateStore, list[Spans]]:
        """The same states in several shards, level by level."""
        other = StateStore(self.words, self.memory_bytes, shards)
        spans: list[Spans] = []
        for level in levels:
            begins = other.ends.copy()
            for begin, end in level:
                deal_out(
                    self.words, self.states, begin, end, shards, other.states, other.ends
                )  # fmt: skip
            spans.append(np.stack([begins, other.ends], axis=1))
        size = FIRST_TABLE
        while size * LOAD < (other.ends - np.arange(shards) * other.region).max() * 1.5:
            size *= 2
        other.refill(size * shards)
        return other, spans
