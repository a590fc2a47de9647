"""One run of the pipeline in a fresh process, its figures as one line of JSON.

python -m tests.bench.pipeline.whole FOLDER --cores 2        # Spark, so many cores
python -m tests.bench.pipeline.whole FOLDER --cores 0        # without Spark
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Sequence

from conformance.ingest.files import discover
from conformance.pipeline.corpus import Engine
from conformance.pipeline.local import LocalEngine
from conformance.pipeline.report import check_result


def main(arguments: Sequence[str] | None = None) -> int:
    """Read, check, and print what it took and what was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.pipeline.whole")
    parser.add_argument("folder")
    parser.add_argument("--cores", type=int, default=2)
    chosen = parser.parse_args(arguments)
    began = time.monotonic()
    engine = _engine(chosen.cores)
    started, used = time.monotonic(), time.process_time()
    corpus = engine.ingest(discover([chosen.folder]), None)
    read = time.monotonic()
    judged = engine.judge(corpus)
    ended, used = time.monotonic(), time.process_time() - used
    result = check_result([corpus], judged)
    findings = [
        [each["kind"], each["rule"], each["file"].removeprefix(chosen.folder), each["line"]]
        for each in result["findings"]
    ]
    print(
        json.dumps(
            {
                "start_s": started - began,
                "ingest_s": read - started,
                "check_s": ended - read,
                "cpu_s": used,  # of this process
                "lines": result["lines"]["read"],
                "verdict": result["verdict"],
                "findings": findings,
                "digest": hashlib.sha256(json.dumps(sorted(findings)).encode()).hexdigest()[:16],
            }
        )
    )
    return 0


def _engine(cores: int) -> Engine:
    if not cores:
        return LocalEngine()
    from conformance.pipeline.session import spark_session
    from conformance.pipeline.spark import SparkEngine

    spark_session(f"local[{cores}]").range(1).count()
    return SparkEngine(f"local[{cores}]")


if __name__ == "__main__":
    sys.exit(main())
