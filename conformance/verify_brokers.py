"""Rows of `insync verify` about running brokers: their code is walked with the model, and run.

The processes run in the background, mostly waiting for each other, during proofs and explorations;
their traces are judged when they are done.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from specs.verdict import Verdict, combine

KILLED, KILLED_FOR_S, QUIET_S = 1, 1.8, 0.8
_SCRIPT = (
    "import sys; from conformance.verify_brokers import run_and_judge; run_and_judge(sys.argv[1])"
)


class RowResult(NamedTuple):
    """The result of one row."""

    claim: str
    words: str
    system: str
    verdict: Verdict
    counts: str
    seconds: float
    note: str
    show: str
    distinct: int | None = None


WALKED = "a whole controller of impl/core, which brokers run, does what the model allows"
COVERED = "every step of the model within small bounds is one of impl/core, which brokers run"
NOTICED = 0.4
"""The share of systematic mutants that the model alone must have noticed in the last large run."""

MUTANTS = (
    f"of faults put into impl/core one at a time the model alone notices {NOTICED:.0%} or more"
)
REPLAYED_ON = ("election", "replication", "cluster")
RUN = "what three processes traced, one of them killed, is a run of the model, line by line"


def planned() -> list[tuple[str, str]]:
    """The claim and the system of each row, in their order."""
    rows = [("lock_step", "cluster 2.3"), ("edges", "topics 2.3"), ("mutants", "all 2.3")]
    return [*rows, *(("running_brokers", f"{of} 2.3") for of in REPLAYED_ON)]


def lockstep_row(seeds: int, steps: int, report: Callable[[str], None]) -> RowResult:
    """Lock-step of whole controllers."""
    from conformance.lockstep import Mismatch
    from conformance.walks import cluster_bounds, walk_cluster

    bounds = cluster_bounds(0)  # of all: a model is compiled once
    begun, taken, verdict, note = time.perf_counter(), 0, Verdict.HOLDS, ""
    for seed in range(seeds):
        report(f"lock-step of whole controllers, seed {seed} of {seeds}: {taken:,} steps")
        try:
            taken += walk_cluster(seed, steps, bounds).steps
        except Mismatch as mismatch:
            verdict, note = Verdict.BROKEN, f"seed {seed}: {str(mismatch).splitlines()[0]}"
            break
    return RowResult(
        "lock_step", WALKED, "cluster", verdict if taken or note else Verdict.NOT_CHECKED,
        f"{seeds} seeds, {taken:,} steps", time.perf_counter() - begun, note,
        f"insync lockstep --system cluster --seeds 0..{seeds - 1} --steps {steps}",
    )  # fmt: skip


def edges_row(report: Callable[[str], None]) -> RowResult:
    """A whole graph, edge by edge."""
    from conformance.edges import walk_edges
    from conformance.mapping.topics import MAP

    report("every edge of topics where writes conflict")
    begun, family = time.perf_counter(), MAP.families["conflict"]
    found = walk_edges({**MAP.small, **family.bounds}, None, report, MAP, family.version, family)
    return RowResult(
        "edges", COVERED, "topics", found.verdict, f"{found.covered:,} edges of {found.states:,} "
        "states", time.perf_counter() - begun, (found.mismatches or [""])[0].split("\n")[0],
        "insync edges topics --family conflict", found.states,
    )  # fmt: skip


def mutants_row() -> RowResult:
    """The mutation score kept from the last large run, for modules that have not changed since."""
    from conformance.mutants import NoScore, kept_score

    show, begun = "insync mutants --sample 40", time.perf_counter()
    try:
        kept = kept_score()
    except NoScore as error:
        return RowResult("mutants", MUTANTS, "all", Verdict.NOT_CHECKED, "", 0.0, str(error), show)
    score, modules = kept.score, len(kept.measured) + len(kept.changed)
    verdict = Verdict.HOLDS if score.low >= NOTICED else Verdict.BROKEN
    note = f"kept, at least {score.low:.0%}"
    if kept.changed:
        note = f"{len(kept.changed)} of {modules} modules have changed since: not counted"
    if len(kept.measured) * 2 < modules:
        verdict = Verdict.NOT_CHECKED
    return RowResult(
        "mutants", MUTANTS, "all", verdict, f"{score.caught} of {score.tried} noticed",
        time.perf_counter() - begun, note, show,
    )  # fmt: skip


class Running:
    """Runs three processes in the background; `rows` waits for them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Running:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _SCRIPT, str(self._folder)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            env={**os.environ, "TMPDIR": tempfile.gettempdir()},
        )  # fmt: skip
        return self

    def __exit__(self, *_exc: object) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            self._process.wait()

    def rows(self, report: Callable[[str], None]) -> Iterator[RowResult]:
        """The controllership on `election`, the partition on `replication`, what controllers do on
        `cluster`."""
        assert self._process is not None, "it was started"
        report("judging what running processes traced")
        _, errors = self._process.communicate()
        found = self._folder / "running.json"
        show = "insync cluster start DIR --trace, insync cluster kill DIR 1, insync check DIR/trace"
        if not found.exists():
            last = errors.decode(errors="replace").strip().splitlines()
            note = f"the run itself failed: {last[-1] if last else 'no output'}"
            for of in REPLAYED_ON:
                yield RowResult(
                    "running_brokers", RUN, of, Verdict.NOT_CHECKED, "", 0.0, note, show
                )
            return
        said = json.loads(found.read_text(encoding="utf-8"))
        for of in REPLAYED_ON:
            some = [one for one in said["replayed"] if one["of"] == of]
            lines, steps = (sum(one[name] for one in some) for name in ("lines", "steps"))
            verdicts = [Verdict(one["verdict"]) for one in some]
            verdict = combine([*(verdicts or [Verdict.NOT_CHECKED]), Verdict(said["files"])])
            counts = f"{lines:,} lines, {steps:,} steps"
            took, note = said["seconds"], said["note"]
            yield RowResult("running_brokers", RUN, of, verdict, counts, took, note, show)


def run_and_judge(folder: str) -> None:
    """Runs three processes, one of which is killed, and writes what was found to a JSON file."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    try:
        found = _run(Path(folder))
    except KeyboardInterrupt:
        return
    part = Path(folder) / "running.part"
    part.write_text(json.dumps(found), encoding="utf-8")
    part.replace(part.with_suffix(".json"))


def _run(folder: Path) -> dict[str, Any]:
    from conformance.chaos.schedule import ChaosFault
    from conformance.running import cluster as controllers
    from conformance.running import controllership
    from conformance.running.running_report import judge_running
    from conformance.running.traced_cluster import inject_fault, traced_cluster, written_to
    from impl.server.cluster import TRACE

    begun = time.perf_counter()
    with traced_cluster(folder / "cluster") as cluster, written_to(cluster) as acknowledged:
        inject_fault(cluster, ChaosFault("kill", KILLED, KILLED_FOR_S, QUIET_S))
        time.sleep(QUIET_S)
    trace = folder / "cluster" / TRACE
    report = judge_running(sorted(trace.iterdir()), str(trace))
    crashed = report.fired["broker_crashes"] > 0 and acknowledged[0] > 0
    first = report.findings[0] if report.findings else None
    note = "" if first is None else f"{Path(first.file).name}:{first.line}: {first.why}"
    if not crashed:
        note = note or "nobody was killed, or no record was acknowledged: nothing is shown"
    whole = Verdict.HOLDS if crashed else Verdict.NOT_CHECKED
    if report.verdict is not Verdict.HOLDS and first is not None:
        whole = report.verdict
    systems = {controllership.NAME: "election", controllers.NAME: "cluster"}
    return {
        "files": whole.value, "note": note, "seconds": time.perf_counter() - begun,
        "replayed": [
            {"of": systems.get(one.name, "replication"), "lines": one.lines,
             "steps": sum(one.fired.values()), "verdict": row["verdict"]}
            for one, row in zip(report.replayed, report.partitions(), strict=True)
        ],
    }  # fmt: skip
