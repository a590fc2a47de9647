"""How fast the pipeline is over logs of any size, and what it holds in memory.

    python -m tests.bench.pipeline                                     # half an hour, and 1 GB
    python -m tests.bench.pipeline --events 10000 --partitions 10,100 --json pipeline.json
    python -m tests.bench.pipeline --events 1000000 --partitions 100 --skew --cores 1,2

For each size logs of a cluster are written by seed, read and checked, and removed. Every step is
measured by itself in one process; the whole is run in fresh processes: without Spark, and with it
on so many cores. Longest and median task of the check show whether a run collapses into one task.
Leaves with 1 where two runs of one size find different things, or not what was planted.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.bench.pipeline import generated, stages, tasks
from tests.bench.pipeline.generated import LogSize, WrittenLogs
from tests.bench.pipeline.memory import measured

_STEPS = ("read", "parse", "order", "check", "whole")
_MOST = 1800.0  # seconds for one run
_CHECK = "check"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, prints, and says whether all runs of a size agree."""
    chosen = _chosen(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what was written is removed
    before = os.getloadavg()
    reported, wrong = [], []
    for size in chosen.sizes:
        one = _size(size, chosen.cores, chosen.rounds)
        reported.append(one)
        wrong += [f"{size.name}: {line}" for line in disagreements(one)]
        _show(one)
    after = os.getloadavg()
    print(f"load before {before[0]:.2f}, after {after[0]:.2f}, {os.cpu_count()} processors")
    for line in wrong:
        print(f"wrong: {line}", file=sys.stderr)
    if chosen.json is not None:
        content = {
            "format": "insync.bench.pipeline/1",
            "processors": os.cpu_count(),
            "load_before": list(before),
            "load_after": list(after),
            "sizes": reported,
            "wrong": wrong,
        }
        chosen.json.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return 1 if wrong else 0


def _chosen(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.pipeline",
        description="How fast the pipeline is over logs of any size.",
    )
    parser.add_argument("--events", type=_numbers, default=(10_000, 100_000, 1_000_000))
    parser.add_argument("--partitions", type=_numbers, default=(10, 100, 1000))
    parser.add_argument("--cores", type=_numbers, default=(0, 1, 2), help="0 is without Spark")
    parser.add_argument("--rounds", type=int, default=3, help="of each step by itself; 0: none")
    parser.add_argument("--skew", action="store_true", help="half of all is of one partition")
    parser.add_argument("--json", metavar="FILE", type=Path, help="also write the figures here")
    chosen = parser.parse_args(arguments)
    chosen.sizes = [
        LogSize(lines, partitions, chosen.skew)
        for lines in chosen.events
        for partitions in chosen.partitions
        if partitions * 20 <= lines
    ]
    if not chosen.sizes:
        parser.error("so many partitions take more lines; twenty or more for each of them")
    return chosen


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part.replace("_", "")) for part in text.split(","))


def disagreements(one: dict[str, Any]) -> list[str]:
    """What should be the same in all runs of a size, or should have been found, and is not."""
    found = []
    runs: list[dict[str, Any]] = one["runs"]
    if len({run["digest"] for run in runs}) > 1:
        found.append(f"findings differ: {[(run['cores'], run['digest']) for run in runs]}")
    planted = {(each["file"], each["line"]) for each in one["planted"]}
    for run in runs:
        places = {(file.lstrip("/"), line) for _, _, file, line in run["findings"]}
        if places != planted:
            odd = sorted(places ^ planted)
            found.append(f"{run['cores']} cores: found and planted differ at {odd[:3]}")
    return found


@contextmanager
def corpus(size: LogSize) -> Iterator[tuple[Path, WrittenLogs]]:
    """The logs of a size, in a folder that is removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="insync-bench-"))
    try:
        yield folder / "logs", generated.write(size, folder / "logs")
    finally:
        shutil.rmtree(folder)


def _size(size: LogSize, cores: Sequence[int], rounds: int) -> dict[str, Any]:
    with corpus(size) as (logs, written):
        reported: dict[str, Any] = {
            "name": size.name,
            "lines": written.lines,
            "bytes": written.bytes,
            "partitions": size.partitions,
            "skew": size.skew,
            "planted": [vars(each) for each in written.planted],
            "lines_per_second_per_core": stages.as_json(logs, rounds) if rounds else {},
        }
        reported["runs"] = [run(logs, each) for each in cores]
    return reported


def run(logs: Path, cores: int) -> dict[str, Any]:
    """One run in a fresh process: seconds, findings, memory, and the tasks of the check."""
    with tempfile.TemporaryDirectory(prefix="insync-bench-") as kept:
        conf, log = Path(kept, "conf"), Path(kept, "log")
        conf.mkdir()
        log.mkdir()
        (conf / "spark-defaults.conf").write_text(tasks.settings(log), encoding="utf-8")
        code = [sys.executable, "-m", "tests.bench.pipeline.whole", str(logs), "--cores"]
        command = ["env", f"SPARK_CONF_DIR={conf}", *code, str(cores)]
        said, peak = measured(command, _MOST)
        reported: dict[str, Any] = json.loads(said) | {"cores": cores, "peak_mib": peak}
        if cores:
            every = [stage.as_json() for stage in tasks.stages(log)]
            reported["shuffled_bytes"] = sum(stage["shuffled_bytes"] for stage in every)
            reported["stages"] = [stage for stage in every if stage["total_s"] > 0.05]
    return reported


def _show(one: dict[str, Any]) -> None:
    print(f"{one['name']}: {one['lines']:,} lines, {one['bytes'] / 1e6:.0f} MB")
    rates = one["lines_per_second_per_core"]
    if rates:
        print("  lines/s/core  " + "  ".join(f"{step} {rates[step]:,}" for step in _STEPS))
    for each in one["runs"]:
        whole = each["ingest_s"] + each["check_s"]
        where = f"spark, {each['cores']} cores" if each["cores"] else "without spark"
        held = ", ".join(f"{kind} {mib:,} MiB" for kind, mib in each["peak_mib"].items() if mib)
        print(
            f"  {where}: start {each['start_s']:.1f} s, read {each['ingest_s']:.1f} s, "
            f"check {each['check_s']:.1f} s, {one['lines'] / whole:,.0f} lines/s; {held}; "
            f"{each['verdict']}, {len(each['findings'])} findings, {each['digest']}"
        )
        for stage in each.get("stages", ()):
            if stage["job"].startswith(_CHECK):
                print(
                    f"    {stage['job']}: {stage['tasks']} tasks, longest "
                    f"{stage['longest_s']:.2f} s, median {stage['median_s']:.2f} s"
                )
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
