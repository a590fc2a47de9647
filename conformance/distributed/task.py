"""Does one executor's work in a level, without Spark: expand a shard's frontier, add candidates.

A state belongs to one shard, by its hash. The shard's states are in segments (see `segments`), one
per level; no other shard reads them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import numpy as np

from conformance.distributed.segments import Segments
from model.language.errors import ImpossibleValue
from model.systems import system
from specs.exploration import grounded_for
from specs.lowering.llvm_terms import LANES
from specs.native import driver
from specs.native.kernel import Kernel, kernel_of
from specs.native.search import outbox_room, worker_for
from specs.native.store import LOAD, Words
from specs.native.table import hash_all, hash_of, insert_all, owner_of

BATCH = 1 << 16
"""States that are expanded before what they lead to is sent on."""

STATS = -1
"""Stands for a shard in the rows that carry counts."""


@dataclass(frozen=True)
class ExplorationTask:
    """What to explore, in terms that every executor can read; `claims` None means all."""

    system: str
    version: str
    switches: str  # JSON
    bounds: str  # JSON
    claims: tuple[str, ...] | None
    symmetry: bool
    shards: int

    @cache  # noqa: B019  (a process has few questions, and each needs its kernel until the end)
    def kernel(self) -> Kernel:
        """The machine code: compiled once per machine, loaded once per process."""
        recorded = system(self.system).recorded(self.version, json.loads(self.switches))
        return kernel_of(
            grounded_for(recorded, json.loads(self.bounds), self.claims), self.symmetry,
            at_once=False,
        )  # fmt: skip


@dataclass(frozen=True)
class OpenClaims:
    """The claims that are still open, about states and about steps; one bit each."""

    states: int
    steps: int

    def of(self, kernel: Kernel) -> tuple[np.uint64, np.uint64, np.uint64]:
        """The claims in the form that the loops of `driver` take."""
        return np.uint64(self.states), np.uint64(self.steps), kernel.wanted


@dataclass
class LevelCounts:
    """The counts of a part of a level, by instance, reason and bound, and claims settled."""

    generated: int
    settled: int
    fired: list[int]
    refused: list[int]
    pruned: list[int]

    def as_text(self) -> str:
        """The counts as JSON, for a row."""
        return json.dumps(asdict(self))


def first_state(kernel: Kernel) -> Words:
    """The initial state, in canonical form under symmetry."""
    state = kernel.packed(kernel.grounded.initial)
    if kernel.canonical:
        driver.make_one_canonical(kernel.addresses, state)
    return state


def owner(kernel: Kernel, state: Words, shards: int) -> int:
    """The shard of one state."""
    return int(owner_of(hash_of(kernel.words, state, 0), shards))


def expanded(
    question: ExplorationTask, frontier: Words, asked: OpenClaims
) -> Iterator[tuple[int, bytes]]:
    """Rows (shard, successors, each once per batch), and one of STATS at the end.

    Raises ImpossibleValue where a step would leave a field's domain.
    """
    kernel = question.kernel()
    words, shards, room = kernel.words, question.shards, outbox_room(kernel)
    worker = worker_for(kernel, max(shards, 2))  # with one shard it would have no outbox
    # The system's code reads several states at once, the last ones too.
    states = np.concatenate([frontier, np.zeros(LANES * words, np.uint64)])
    begin, end = 0, frontier.size // words
    while begin < end:
        worker.sent[:] = 0
        begin = driver.expand_out(
            words, kernel.addresses, states, begin, min(end, begin + BATCH), shards,
            worker.tallies, worker.out, worker.hashes, worker.counters, worker.outbox, room,
            worker.sent, asked.of(kernel),
        )  # fmt: skip
        error = int(worker.counters[driver.ERROR])
        if error:
            one = kernel.code.checks[-error - 1]
            raise ImpossibleValue(f"{one.label}: {one.check.what}")
        row = words + 1
        for shard in range(shards):
            outbox = worker.outbox[shard * room * row :][: int(worker.sent[shard]) * row]
            if outbox.size:
                new, _ = taken_in(kernel, np.empty(0, np.uint64), [outbox], OpenClaims(0, 0))
                yield shard, new.tobytes()
    fired, refused, pruned = worker.tallies
    stats = LevelCounts(
        int(worker.counters[driver.GENERATED]), int(worker.counters[driver.SETTLED]),
        fired.tolist(), refused.tolist(), pruned.tolist(),
    )  # fmt: skip
    yield STATS, stats.as_text().encode()


def taken_in(
    kernel: Kernel, visited: Words, outbox: Iterable[Words], asked: OpenClaims
) -> tuple[Words, int]:
    """The candidates that are not visited, each once, in the order of first arrival; and the
    claims that they settle. Each of `outbox` is hash and words of each candidate."""
    words, parcels = kernel.words, list(outbox)
    known = visited.size // words
    most = known + sum(parcel.size // (words + 1) for parcel in parcels)
    states = np.zeros((most + LANES) * words, np.uint64)
    states[: visited.size] = visited
    size = 1 << max(10, int(most / LOAD).bit_length())
    table: Words = np.zeros(size, np.uint64)
    insert_all(words, states, 0, known, table, 0, size)
    count, settled = known, 0
    for parcel in parcels:
        count, bits = driver.insert_in(
            words, kernel.addresses, states, count, table, 0, size, parcel, 0,
            parcel.size // (words + 1), asked.of(kernel),
        )  # fmt: skip
        settled |= int(bits)
    return states[visited.size : count * words], settled


def outbox_of(kernel: Kernel, states: Words) -> Words:
    """Each state after its hash, in the form that owners take in."""
    words = kernel.words
    planes = np.ascontiguousarray(states.reshape(-1, words).T)
    outbox = np.empty((planes.shape[1], words + 1), np.uint64)
    hashes = np.empty(planes.shape[1], np.uint64)
    hash_all(words, planes, planes.shape[1], hashes)
    outbox[:, 0], outbox[:, 1:] = hashes, planes.T
    return outbox.ravel()


def merged(
    question: ExplorationTask,
    segments: Segments,
    shard: int,
    blocks: Iterable[bytes],
    asked: OpenClaims,
) -> dict[str, Any]:
    """Writes the new states of a shard into a file that is not committed yet; a row of MERGED.

    Blocks are taken in by the order of their content, whichever task sent them first: so the output
    of a task does not depend on the attempt.
    """
    kernel = question.kernel()
    parcels = [outbox_of(kernel, np.frombuffer(one, np.uint64)) for one in sorted(blocks)]
    new, settled = taken_in(kernel, segments.visited(shard), parcels, asked)
    name = segments.attempt(shard, new) if new.size else ""
    return {
        "shard": shard, "states": new.size // kernel.words, "file": name,
        "settled": settled, "stats": "",
    }  # fmt: skip


def sum_counts(texts: Iterable[bytes]) -> str:
    """Adds up the counts of several tasks."""
    parts = [json.loads(text) for text in texts]
    settled = refused = None
    for part in parts:
        settled = part["settled"] | (settled or 0)
        refused = np.maximum(part["refused"], refused if refused is not None else 0)
    if settled is None or refused is None:
        raise ValueError("no task has counted anything")
    return LevelCounts(
        sum(part["generated"] for part in parts), settled,
        np.sum([part["fired"] for part in parts], axis=0).tolist(),
        refused.tolist(),
        np.sum([part["pruned"] for part in parts], axis=0).tolist(),
    ).as_text()  # fmt: skip


def stats_of(text: str) -> LevelCounts:
    """Restores the result of `as_text`."""
    return LevelCounts(**json.loads(text))
