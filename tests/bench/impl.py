"""How fast the implementation is: its worlds, its log on disk, and how much it survives.

    python -m tests.bench.impl                      # some minutes; on a quiet machine
    python -m tests.bench.impl --json impl.json     # and the same as JSON
    python -m tests.bench.impl --quick              # seconds: few steps, few bytes, once each

A step is one choice of a scheduler. Every figure is the median of several rounds in processor
seconds of this process (wall seconds beside it), the load is printed before and after. `small` is
the world of one partition, of 2,000 steps at a time, from its first step on; `traced` writes each
step's changed leaves to a file as it goes. `wide` is a cluster of 3 brokers and 6 partitions, its
logs on disks of memory. Memory is what the process holds while a wide world goes on and on. The log
is measured beside a plain copy of the same bytes (see `tests.bench.storage`), and must recover all
of it. Crashes: a broker's disk is killed at random moments, with power lost and with syncs that do
nothing, and what must be there is looked for (see `tests.impl.log.crashes`). Leaves with 1
where a goal is missed or something is lost; with --quick only where something is lost.
"""

from __future__ import annotations

import resource
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from impl import Simulator
from impl.world.trace import write_events
from impl.world.wide import WideSimulator, WideWorld
from tests.bench.figures import Figure, bench, timed
from tests.bench.storage import Bench
from tests.impl.log.crashes import Wrong, campaign


@dataclass(frozen=True)
class BenchPlan:
    """How much is measured."""

    rounds: int
    small_runs: int
    small_steps: int
    wide_steps: int
    long_steps: int
    log_bytes: int
    kill_points: int


FULL = BenchPlan(5, 5, 2_000, 10_000, 1_000_000, 400_000_000, 10_000)
QUICK = BenchPlan(1, 1, 400, 1_000, 4_000, 4_000_000, 30)


def worlds(plan: BenchPlan, folder: Path) -> list[Figure]:
    """Steps a second."""
    found: list[Figure] = []
    steps = plan.small_runs * plan.small_steps

    def small(faults: str) -> None:
        for seed in range(plan.small_runs):
            simulator = Simulator(seed, faults)
            for _ in range(plan.small_steps):
                simulator.advance()

    def traced(faults: str) -> None:
        for seed in range(plan.small_runs):
            events = Simulator(seed, faults).recorded(plan.small_steps)
            write_events(folder / "trace.ndjson", *events)

    for faults in ("everything", "none"):
        cpu, wall = timed(plan.rounds, lambda faults=faults: small(faults))  # type: ignore[misc]
        name = f"small, {faults}"
        found.append(Figure(name, steps / cpu, "steps/s", 20_000, wall=steps / wall))
        cpu, wall = timed(plan.rounds, lambda faults=faults: traced(faults))  # type: ignore[misc]
        name = f"small, {faults}, traced"
        found.append(Figure(name, steps / cpu, "steps/s", 8_000, wall=steps / wall))

    def wide(faults: str) -> None:
        simulator = WideSimulator(WideWorld(), 1, faults)
        for _ in range(plan.wide_steps):
            simulator.advance()

    for faults in ("everything", "none"):
        cpu, wall = timed(plan.rounds, lambda faults=faults: wide(faults))  # type: ignore[misc]
        name = f"wide, {faults}, {plan.wide_steps:,} steps"
        goal = 2.0 * plan.wide_steps / 10_000
        found.append(Figure(name, cpu, "s", goal, at_least=False, wall=wall))
    return found


def memory(plan: BenchPlan) -> list[Figure]:
    """What the process holds after a tenth of a long run, and how much more at its end."""
    simulator = WideSimulator(WideWorld(), 1, "everything")
    for _ in range(plan.long_steps // 10):
        simulator.advance()
    early = _resident_mb()
    for _ in range(plan.long_steps - plan.long_steps // 10):
        simulator.advance()
    late = _resident_mb()
    return [
        Figure(f"held after {plan.long_steps // 10:,} steps", early, "MB"),
        Figure(
            f"held after {plan.long_steps:,} steps", late, "MB", early * 1.1, at_least=False),
        Figure(
            "the most ever held", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
               "MB"),
    ]  # fmt: skip


def _resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 1e6


def storage(plan: BenchPlan, folder: Path) -> tuple[list[Figure], list[str]]:
    """The log on disk, and what went wrong with it."""
    found: list[Figure] = []
    wrong: list[str] = []
    goals = {"append": 100.0, "scan": 200.0}
    for record_bytes in (100, 1_000):
        logs = Bench(record_bytes, plan.log_bytes, folder)
        for _ in range(plan.rounds):
            logs.round()
        for name, task in logs.tasks.items():
            shown = f"log, records of {record_bytes:,} bytes: {name}"
            found.append(Figure(shown, task.cpu_rate, "MB/s", goals.get(name), wall=task.rate))
        wrong += logs.wrong
    return found, wrong


def crashes(plan: BenchPlan) -> tuple[list[Figure], list[str]]:
    """Random moments of death, and what was lost."""
    found: list[Figure] = []
    kinds = {"killed": (False, False), "without power": (True, False), "lying disk": (True, True)}
    for name, (power, lies) in kinds.items():
        try:
            tally = campaign(range(plan.kill_points // 10), rounds=10, power=power, lies=lies)
        except Wrong as error:
            return found, [f"{name}: {error}"]
        points = float(tally.killed.total())
        found.append(Figure(f"deaths survived, {name}", points, "deaths", plan.kill_points))
    return found, []


def measured(quick: bool) -> tuple[list[Figure], list[str]]:
    """All of them, one after the other, and what went wrong."""
    plan = QUICK if quick else FULL
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        figures = [*worlds(plan, folder), *memory(plan)]
        logs, wrong = storage(plan, folder)
    died, lost = crashes(plan)
    return [*figures, *logs, *died], [*wrong, *lost]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, prints, and says whether the goals are reached."""
    return bench(arguments, "impl", __doc__, measured)


if __name__ == "__main__":
    sys.exit(main())
