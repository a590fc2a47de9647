"""`insync simulate --cluster`: seeded runs of a whole cluster, judged by claims of their own."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from conformance.cli.common import Progress, WrongUse, emit_json, finish, say, show_table, unknown
from impl.world.whole_cluster.runs import (
    WHOLE_CLUSTER_FAULTS,
    ClusterRun,
    run_whole_cluster,
    world_settings,
)
from impl.world.whole_cluster.steps import WHOLE_CLUSTER_STEPS
from specs.verdict import Verdict, combine

COLUMNS = ("seed", "verdict", "steps", "acknowledged", "controllers", "at rest")
EVERYTHING = "everything"


def simulate_cluster(
    seeds: Sequence[int],
    steps: int,
    faults: str | None,
    brokers: int,
    alone: Sequence[str],
    commit: str,
    logs: Path | None,
    json_target: str | None,
) -> None:
    """Run each seed, calm down, look for every acknowledged record; ends the process.

    ``alone`` names options that were given and are of the one-partition world alone. ``logs``:
    where the brokers of each run write Kafka's log files, None for nowhere.
    """
    if alone:
        raise WrongUse(f"{alone[0]} is of the world of one partition; leave it or --cluster out")
    faults = EVERYTHING if faults is None else faults
    if faults not in WHOLE_CLUSTER_FAULTS.names:
        raise unknown("fault profile of a cluster", faults, WHOLE_CLUSTER_FAULTS.names)
    began, runs = time.monotonic(), list[ClusterRun]()
    with Progress() as progress:
        for seed in seeds:
            progress(f"seed {seed}, {len(runs)} of {len(seeds)} runs done")
            runs.append(_run(seed, steps, faults, brokers, logs))
    rows = [_row(run) for run in runs]
    verdict = combine(row["verdict"] for row in rows)
    never = [name for name in WHOLE_CLUSTER_STEPS if not any(run.taken[name] for run in runs)]
    seconds = round(time.monotonic() - began, 3)
    cells = [[row[name.replace(" ", "_")] for name in COLUMNS] for row in rows]
    show_table(COLUMNS, cells, json_target, right={*COLUMNS} - {"verdict"})
    again = f"--steps {steps} --faults {faults} --brokers {brokers}"
    for row in rows:
        if row["broken"]:
            say(f"seed {row['seed']}: {row['broken']}", json_target)
            say(f"again: insync simulate --cluster --seed {row['seed']} {again}", json_target)
    if never:
        say(f"steps that no run took: {', '.join(never)}", json_target)
    count = f"{len(runs)} run{'' if len(runs) == 1 else 's'} of a cluster"
    say(f"{verdict} ({count}, {again}), {seconds:.1f} s", json_target)
    emit_json(json_target, {
        "verdict": verdict, "steps": steps, "faults": faults, "brokers": brokers, "cluster": True,
        "commit": commit, "runs": rows, "never_taken": never, "seconds": seconds,
    })  # fmt: skip
    finish(verdict)


def _run(seed: int, steps: int, faults: str, brokers: int, logs: Path | None) -> ClusterRun:
    if logs is None:
        return run_whole_cluster(seed, steps, faults, brokers)
    from conformance.running.simulated_log_files import RunLogger

    place = logs / f"seed-{seed}-logs"
    with closing(
        RunLogger(place, brokers=brokers, seed=seed, **world_settings(faults, brokers))
    ) as it:
        return run_whole_cluster(seed, steps, faults, brokers, world=it.world)


def _row(run: ClusterRun) -> dict[str, Any]:
    """A run; unknown if nothing was ever acknowledged, for then nothing could be lost."""
    if run.broken:
        verdict = Verdict.BROKEN
    else:
        verdict = Verdict.HOLDS if run.acknowledged else Verdict.UNKNOWN
    return {
        "seed": run.seed,
        "verdict": verdict,
        "steps": run.steps,
        "acknowledged": run.acknowledged,
        "controllers": run.controllers,
        "at_rest": "yes" if run.at_rest else "no",
        "broken": run.broken,
        "digest": run.digest,
    }
