"""Sizes to explore and how they are timed: in rounds, one after the other, medians at the end."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

from model.systems import SYSTEMS
from specs.exploration import grounded_for
from specs.lowering.grounding import Grounded
from specs.native.kernel import kernel_of
from specs.native.search import Options, Search
from specs.plain import PlainSearch


@dataclass(frozen=True)
class GraphSize:
    """One way to explore one graph. `claims` None judges all claims; loops are never looked for.

    `twin`: plain Python explores it too. `expected`: as another checker counts it.
    """

    name: str
    system: str
    version: str
    bounds: tuple[tuple[str, int], ...] = ()
    claims: tuple[str, ...] | None = None
    symmetry: bool = False
    workers: int = 1
    twin: bool = False
    expected: int | None = None

    @property
    def graph(self) -> tuple[object, ...]:
        """What makes the graph, however it is explored."""
        return self.system, self.version, self.bounds

    def grounded(self) -> Grounded:
        """The enumerated instance."""
        system = SYSTEMS[self.system]
        return grounded_for(
            system.recorded(self.version), system.limits(dict(self.bounds)), self.claims
        )


@dataclass
class Measured:
    """What one size took: seconds of every round, and the bytes of states and tables."""

    size: GraphSize
    walls: list[float] = field(default_factory=list)
    cpus: list[float] = field(default_factory=list)
    twin_walls: list[float] = field(default_factory=list)
    twin_cpus: list[float] = field(default_factory=list)
    counts: list[tuple[int, ...]] = field(default_factory=list)
    depth: int = 0
    words: int = 0
    bytes_per_state: float = 0.0
    shards: int = 1

    @property
    def states(self) -> int:
        """Distinct states, or orbits."""
        return self.counts[0][0]

    @property
    def wall(self) -> float:
        """Median of the rounds, in wall seconds of exploration alone."""
        return median(self.walls)

    @property
    def cpu(self) -> float:
        """The same in processor seconds of this process, all threads together."""
        return median(self.cpus)

    @property
    def twin_wall(self) -> float | None:
        """Plain Python's median, if it explored this size."""
        return median(self.twin_walls) if self.twin_walls else None

    @property
    def twin_cpu(self) -> float | None:
        """The same in processor seconds."""
        return median(self.twin_cpus) if self.twin_cpus else None

    def as_json(self) -> dict[str, Any]:
        """Everything, with the rates that the table shows."""
        reported = asdict(self)
        reported.pop("counts")
        reported["size"]["bounds"] = dict(self.size.bounds)
        return {
            **reported, "states": self.states, "wall": self.wall, "cpu": self.cpu,
            "twin_wall": self.twin_wall, "twin_cpu": self.twin_cpu,
            "states_per_second": self.states / self.wall,
            "states_per_cpu_second": self.states / self.cpu,
            "ratio": self.twin_wall and self.twin_wall / self.wall,
            "cpu_ratio": self.twin_cpu and self.twin_cpu / self.cpu,
        }  # fmt: skip


@dataclass(frozen=True)
class MeasurePlan:
    """What is measured, how often, and whose set-up."""

    sizes: Sequence[GraphSize]
    rounds: int
    twin_rounds: int
    set_ups: Sequence[str]


def explored(plan: MeasurePlan) -> list[Measured]:
    """All sizes, round by round, so that what disturbs the machine disturbs all of them."""
    found = [Measured(size) for size in plan.sizes]
    for round_ in range(plan.rounds):
        for one in found:
            _explore(one)
            if one.size.twin and round_ < plan.twin_rounds:
                _explore_plainly(one)
    return found


def _explore(one: Measured) -> None:
    kernel = kernel_of(one.size.grounded(), one.size.symmetry)
    search = Search(kernel, Options(workers=one.size.workers), lambda line: None)
    wall, cpu = time.perf_counter(), time.process_time()
    search.go()
    one.walls.append(time.perf_counter() - wall)
    one.cpus.append(time.process_time() - cpu)
    spans = [int((level[:, 1] - level[:, 0]).sum()) for level in search.levels]
    levels = [size for size in spans if size]
    one.counts.append((search.store.count, search.generated, len(levels)))
    one.depth, one.words, one.shards = len(levels), kernel.words, search.store.shards
    one.bytes_per_state = search.store.bytes_used / search.store.count


def _explore_plainly(one: Measured) -> None:
    search = PlainSearch(one.size.grounded(), None, lambda line: None, None)
    wall, cpu = time.perf_counter(), time.process_time()
    search.go()
    one.twin_walls.append(time.perf_counter() - wall)
    one.twin_cpus.append(time.process_time() - cpu)
    one.counts.append((sum(search.levels), search.generated, len(search.levels)))


def _kip_320(log: int, epoch: int, **more: Any) -> GraphSize:
    """The published design at one size, as its numbers are usually given: log, records, epoch."""
    also = " orbits" * bool(more.get("symmetry")) + f" {more.get('workers', 1)} workers" * (
        more.get("workers", 1) > 1
    )
    return GraphSize(
        f"kip_320 ({log},{log},{epoch}){also}", "classic", "kip_320",
        (("log", log), ("records", log), ("epoch", epoch)), ("strong_isr",), **more,
    )  # fmt: skip


FULL = MeasurePlan(
    sizes=[
        _kip_320(2, 1, twin=True, expected=39_619),
        _kip_320(2, 1, symmetry=True, expected=6_713),
        _kip_320(2, 2, twin=True, expected=737_794),
        _kip_320(2, 2, symmetry=True, expected=123_311),
        _kip_320(3, 2),
        _kip_320(3, 2, workers=2),
        _kip_320(3, 2, symmetry=True),
        _kip_320(2, 3),
        _kip_320(2, 3, workers=2),
        GraphSize("election", "election", "2.3", twin=True),
        GraphSize("election brokers=3", "election", "2.3", (("brokers", 3),)),
        GraphSize(
            "election brokers=3 orbits", "election", "2.3", (("brokers", 3),), symmetry=True
        ),
        GraphSize(
            "replication epoch=1 versions=1", "replication", "2.5",
            (("epoch", 1), ("versions", 1)), twin=True,
        ),
        GraphSize("replication", "replication", "2.5"),
        GraphSize("replication orbits", "replication", "2.5", symmetry=True),
    ],
    rounds=5,
    twin_rounds=2,
    set_ups=("classic", "election", "replication"),
)  # fmt: skip

QUICK = MeasurePlan(
    sizes=[
        _kip_320(1, 1, twin=True, expected=6_787),
        _kip_320(1, 1, symmetry=True),
        GraphSize("election epoch=1", "election", "2.3", (("epoch", 1),), twin=True),
    ],
    rounds=1,
    twin_rounds=1,
    set_ups=("election",),
)
