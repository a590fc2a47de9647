"""How fast the pipeline is over logs that somebody has, repeated until there are enough lines.

python -m tests.bench.pipeline.real LOGS --lines 1_000_000 --cores 0,2

LOGS is a folder with a folder for each cluster; each copy of one is a cluster of its own. The
figures without Spark (0 cores) are of processor seconds too, so that other work does not count.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from conformance.ingest.files import discover
from conformance.ingest.reader import lines_of
from tests.bench.pipeline.__main__ import run


def main(arguments: Sequence[str] | None = None) -> int:
    """Copies the logs, checks them on each engine, and prints a line for each."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.pipeline.real")
    parser.add_argument("logs", type=Path)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--cores", default="0", help="as many runs; 0 is without Spark")
    chosen = parser.parse_args(arguments)
    lines = sum(1 for log in discover([str(chosen.logs)]).logs for _ in lines_of(log.path))
    if not lines:
        parser.error(f"{chosen.logs} holds no lines")
    digests = set()
    with tempfile.TemporaryDirectory(prefix="insync-bench-") as folder:
        for number in range(-(-chosen.lines // lines)):
            for cluster in sorted(path for path in chosen.logs.iterdir() if path.is_dir()):
                shutil.copytree(cluster, Path(folder, "logs", f"{cluster.name}-{number}"))
        for cores in (int(each) for each in chosen.cores.split(",")):
            result = run(Path(folder, "logs"), cores)
            digests.add(result["digest"])
            whole = result["ingest_s"] + result["check_s"]
            rate = f"{result['lines'] / whole:,.0f} lines/s"
            if not cores:
                rate += f", {result['lines'] / result['cpu_s']:,.0f} lines per processor second"
            held = ", ".join(
                f"{kind} {mib:,} MiB" for kind, mib in result["peak_mib"].items() if mib
            )
            print(
                f"{cores} cores: {result['lines']:,} lines, start {result['start_s']:.1f} s, read "
                f"{result['ingest_s']:.1f} s, check {result['check_s']:.1f} s, {rate}, {held}"
            )
    return 1 if len(digests) > 1 else 0


if __name__ == "__main__":
    sys.exit(main())
