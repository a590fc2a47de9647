"""A traced cluster of three processes, killed, paused and restarted, judged by the model.

    python -m tests.bench.running --faults 100 --seed 1 --partitions 2

Prints what happens, then the verdict, lines a second, and what the model had to be helped with.
Exit code as `insync check` has it. With --keep DIR the traces stay, for insync check DIR/trace.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from conformance.running.judge import judge_running
from conformance.running.run import traced_run


def main(arguments: list[str]) -> int:
    """Run and judge."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.running")
    parser.add_argument(
        "--faults", "--mishaps", type=int, default=100, help="kills, pauses and restarts"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--partitions", type=int, default=2)
    parser.add_argument("--version", default="2.3", help="the release of the brokers")
    parser.add_argument("--keep", type=Path, help="a new folder for the cluster and its traces")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep or Path(temporary) / "cluster"
        begun = time.perf_counter()
        traces = traced_run(
            folder, given.faults, given.seed, given.partitions, given.version,
            lambda text: print(text, flush=True),
        )  # fmt: skip
        ran = time.perf_counter() - begun
        begun = time.perf_counter()
        report = judge_running(sorted(traces.iterdir()), str(traces))
        judged = time.perf_counter() - begun
    for row in report.partitions():
        print(row)
    for reason, times in report.details["by_force"].items():
        print(f"{times:8,}  {reason}")
    for finding in report.findings:
        print(f"{finding.kind}: {finding.file}:{finding.line}: {finding.rule}: {finding.why}")
    print(
        f"{report.verdict}: {given.faults} faults in {ran:.0f} s, {report.events:,} lines of "
        f"{report.files} files judged in {judged:.1f} s ({report.events / judged:,.0f} a second)"
    )
    return report.verdict.exit_code


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
