"""Figures of a benchmark: medians of several rounds beside their goals, in a table and as JSON."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median


@dataclass(frozen=True)
class Figure:
    """One measured number beside its goal; ``at_least`` says on which side of it is well.

    ``value`` is by this process's processor time, ``wall`` the same by the wall's clock.
    """

    name: str
    value: float
    unit: str
    goal: float | None = None
    at_least: bool = True
    wall: float | None = None

    @property
    def well(self) -> bool:
        """The goal, if there is one, is reached."""
        if self.goal is None:
            return True
        return self.value >= self.goal if self.at_least else self.value <= self.goal


def timed(rounds: int, work: Callable[[], object]) -> tuple[float, float]:
    """Medians of processor and wall seconds."""
    cpus, walls = [], []
    for _ in range(rounds):
        cpu, wall = time.process_time(), time.perf_counter()
        work()
        cpus.append(time.process_time() - cpu)
        walls.append(time.perf_counter() - wall)
    return median(cpus), median(walls)


def rate(
    name: str, unit: str, rounds: int, work: Callable[[int], int], goal: float | None = None
) -> Figure:
    """How much is done a second; the work is called with its round, and says how much it did."""
    work(0)  # compiled before the clock starts
    by_cpu, by_wall = [], []
    for number in range(rounds):
        cpu, wall = time.process_time(), time.perf_counter()
        done = work(number)
        by_cpu.append(done / (time.process_time() - cpu))
        by_wall.append(done / (time.perf_counter() - wall))
    return Figure(name, round(median(by_cpu)), unit, goal, wall=round(median(by_wall)))


def bench(
    arguments: Sequence[str] | None,
    name: str,
    about: str | None,
    measure: Callable[[bool], tuple[list[Figure], list[str]]],
) -> int:
    """The command ``python -m tests.bench.NAME``: measures, prints, and says how it came out.

    ``measure`` is told whether a quick look is enough, and answers with figures, and what is wrong.
    1 if something is wrong, or, if it is no quick look, a goal is missed.
    """
    parser = argparse.ArgumentParser(
        prog=f"python -m tests.bench.{name}", description=about,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--json", metavar="FILE", type=Path, help="also write the figures here")
    parser.add_argument("--quick", action="store_true", help="once each, little of everything")
    chosen = parser.parse_args(arguments)
    before = os.getloadavg()
    figures, wrong = measure(chosen.quick)
    _show(figures, before)
    for line in wrong:
        print(f"wrong: {line}", file=sys.stderr)
    if chosen.json is not None:
        reported = {
            "format": f"insync.bench.{name}/1",
            "quick": chosen.quick,
            "load_before": list(before),
            "load_after": list(os.getloadavg()),
            "figures": [{**asdict(one), "well": one.well} for one in figures],
            "wrong": wrong,
        }
        chosen.json.write_text(json.dumps(reported, indent=1) + "\n", encoding="utf-8")
    missed = not chosen.quick and not all(one.well for one in figures)
    return 1 if wrong or missed else 0


def _show(figures: Sequence[Figure], before: tuple[float, ...]) -> None:
    width = max(len(one.name) for one in figures)
    print(f"{'':{width}}  {'per cpu':>10}  {'wall':>10}  {'':8}  goal")
    for one in figures:
        wall = "" if one.wall is None else f"{one.wall:,.2f}"
        goal = ""
        if one.goal is not None:
            side = "at least" if one.at_least else "at most"
            goal = f"{side} {one.goal:,.1f}: {'reached' if one.well else 'MISSED'}"
        line = f"{one.name:{width}}  {one.value:10,.2f}  {wall:>10}  {one.unit:8}  {goal}"
        print(line.rstrip())
    loads = " ".join(f"{one:.2f}" for one in (*before, *os.getloadavg()))
    print(f"\nload before and after: {loads}; {os.cpu_count()} processors")
