"""`insync simulate`: seeded runs of the implementation, recorded as traces and judged."""

from __future__ import annotations

import contextlib
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from conformance.cli import campaign
from conformance.cli.common import (
    Progress,
    WrongUse,
    emit_json,
    finish,
    json_option,
    say,
    show_table,
    unknown,
)
from conformance.cli.git_commit import commit_of
from conformance.cli.keep_results import keep_trace, open_option, show_file, story_option
from conformance.cli.simulate_cluster import simulate_cluster
from impl.sim.simulator import JOINED_BY, SWARM
from impl.world.cluster import MOST_BROKERS
from impl.world.faults import PROFILES
from impl.world.partition_simulator import PartitionSimulator, steps_of
from impl.world.partition_steps import KINDS
from impl.world.trace import Trace, TraceEvent, TraceHeader, read_trace, write_events, write_trace
from model.faults import FAULTS
from model.replication import SYSTEM as REPLICATION
from specs.rendering import as_data
from specs.verdict import Verdict, combine

if TYPE_CHECKING:
    from conformance.replay import TraceReport

FIRST_SEED = 1
STEPS = 500
EVERYTHING = "everything"
PROFILE_OF = {"broker_crash": "crashes", "session_expiry": "sessions", "message_loss": "lossy"}
"""Fault -> the profile in which nothing else goes wrong."""
COLUMNS = (
    "seed",
    "verdict",
    "steps",
    "committed",
    "elections",
    "controllers",
    "crashes",
    "expiries",
)
LEFT_BY_US = re.compile(r"seed-[0-9]+((-small)?\.ndjson|-logs)")


@click.command()
@click.option(
    "--seed", metavar="N", type=click.IntRange(min=0), help=f"One run; {FIRST_SEED} by default."
)
@click.option("--seeds", metavar="A..B", help="One run for each seed from A to B, both included.")
@click.option(
    "--steps",
    metavar="N",
    type=click.IntRange(min=1),
    default=STEPS,
    show_default=True,
    help="Steps of each run.",
)
@click.option(
    "--faults",
    metavar="PROFILE",
    help=f"The fault profile: {', '.join(PROFILES)}, {SWARM} (another one each seed).  "
    f"[default: {EVERYTHING}]",
)
@click.option(
    "--fault",
    "named",
    metavar="NAME",
    multiple=True,
    help=f"Inject only this fault; may be given several times: {', '.join(PROFILE_OF)}.",
)
@click.option(
    "--brokers",
    metavar="N",
    type=click.IntRange(REPLICATION.bounds["brokers"].least, MOST_BROKERS),
    default=3,
    show_default=True,
    help="Replicas of the one partition.",
)
@click.option("--out", metavar="DIR", help="Keep traces here, as seed-N.ndjson, or logs.")
@click.option(
    "--logs", is_flag=True, help="With --cluster: keep the brokers' logs in DIR/seed-N-logs."
)
@click.option(
    "--cluster",
    is_flag=True,
    help="A whole cluster: 2 topics, 6 partitions, reassignments, deletions, disks.",
)
@click.option("--shrink", is_flag=True, help="Shrink the first broken run, into DIR/seed-N-small.")
@click.option(
    "--engine",
    type=click.Choice(campaign.ENGINES),
    help="Run a campaign: seeds x fault profiles x planted bugs, kept as Parquet, resumed.",
)
@click.option("--master", metavar="URL", help="Campaign: the Spark master; local[2] by default.")
@click.option(
    "--planted",
    metavar="ID",
    multiple=True,
    help="Campaign: also runs with this historic bug planted; 'all' for every one.",
)
@story_option
@open_option
@json_option
def simulate(
    seed: int | None,
    seeds: str | None,
    steps: int,
    faults: str | None,
    named: tuple[str, ...],
    brokers: int,
    out: str | None,
    logs: bool,
    cluster: bool,
    shrink: bool,
    engine: str | None,
    master: str | None,
    planted: tuple[str, ...],
    save_story: str | None,
    opens: bool,
    json_target: str | None,
) -> None:
    """Run the implementation under faults, record every step, and judge each run by the model.

    The same seed, steps, faults and brokers give the same run anywhere. Exit code: the verdict of
    all runs together. With --cluster runs are not replayed on the model: the simulator checks its
    own claims after every step, and at the end that every acknowledged record is still there.

    With --engine it is a campaign: --faults takes several profiles (A,B or all), --planted plants
    historic bugs, and --out keeps traces and verdicts as Parquet. The same command resumes where
    it was interrupted; the table is the same on any number of executors.

    --open shows the first broken run, or else the first run, beside the model; --save-story keeps
    it as a story.

    \b
    Example:
      insync simulate --seed 7 --steps 1000
      insync simulate --seeds 1..20 --faults crashes --out runs
      insync simulate --fault session_expiry --fault message_loss
      insync simulate --seeds 1..50 --faults swarm --shrink
      insync simulate --cluster --seeds 1..10 --steps 2000
      insync simulate --cluster --seed 5 --steps 2000 --out runs --logs
      insync simulate --seeds 1..500 --faults all --planted KIP-101 --engine spark --out night
    """
    if (opens or save_story is not None) and (engine is not None or cluster):
        asked = "--open" if opens else "--save-story"
        raise WrongUse(f"{asked} is of single runs of one partition; leave --engine, --cluster out")
    if logs and not (cluster and out is not None):
        raise WrongUse("--logs are of whole brokers, to be kept: write --cluster --out DIR --logs")
    if engine is not None and cluster:
        raise WrongUse("--engine runs campaigns of one partition; leave it or --cluster out")
    if engine is not None:
        joined = (_profile(faults, named),) if named else None
        profiles = joined or campaign.profiles_named(faults, EVERYTHING)
        campaign.carry_out_campaign(
            campaign.plan_of(_seeds(seed, seeds), profiles, planted, steps, brokers),
            engine, master, out, shrink, json_target,
        )  # fmt: skip
    if master is not None or planted:
        what = "--planted" if planted else "--master"
        raise WrongUse(f"{what} is of a campaign; write --engine spark or --engine local as well")
    chosen = _seeds(seed, seeds)
    commit = commit_of(Path(__file__))
    if cluster:
        given = {"--fault": named, "--out": out and not logs, "--shrink": shrink}
        alone = [option for option, value in given.items() if value]
        with _folder(out, chosen) as folder:
            kept = folder if logs else None
            simulate_cluster(chosen, steps, faults, brokers, alone, commit, kept, json_target)
    profile = _profile(faults, named)
    began, taken = time.monotonic(), Counter[str]()
    rows: list[dict[str, Any]] = []
    with _folder(out, chosen) as folder:
        with Progress() as progress:
            for number in chosen:
                progress(f"seed {number}, {len(rows)} of {len(chosen)} runs done")
                path = folder / f"seed-{number}.ndjson"
                simulator = PartitionSimulator(number, profile, brokers)
                figures = RunFigures(*simulator.recorded(steps))
                write_events(path, figures.header, figures.events())
                taken.update(figures.times)
                rows.append(_row(figures, path, out is not None))
                first = not any("small" in row for row in rows)
                if shrink and first and rows[-1]["verdict"] is Verdict.BROKEN:
                    progress(f"seed {number} is broken; making it small")
                    rows[-1]["small"] = _small(read_trace(path), folder, out is not None)
        again = f"--steps {steps} {_as_typed(profile, named)} --brokers {brokers}"
        result = {
            "verdict": combine(row["verdict"] for row in rows),
            "steps": steps,
            "faults": profile,
            "brokers": brokers,
            "commit": commit,
            "runs": rows,
            "never_taken": [name for name in KINDS if not taken[name]],
            "seconds": round(time.monotonic() - began, 3),
        }
        _show(result, again, json_target)
        emit_json(json_target, result)
        if save_story is not None:
            keep_trace(save_story, _worth_seeing(rows, folder), json_target)
        if opens:
            show_file(_worth_seeing(rows, folder))
    finish(combine(row["verdict"] for row in rows))


def _worth_seeing(rows: list[dict[str, Any]], folder: Path) -> Path:
    """The trace to open: of the first run that is not as it should be, made small if it is."""
    wrong = [row for row in rows if row["verdict"] is not Verdict.HOLDS]
    seed = (wrong or rows)[0]["seed"]
    small = folder / f"seed-{seed}-small.ndjson"
    return small if small.is_file() else folder / f"seed-{seed}.ndjson"


def _profile(faults: str | None, named: tuple[str, ...]) -> str:
    """The profile to run under: the one of --faults, or those of each --fault, joined."""
    if not named:
        profile = EVERYTHING if faults is None else faults
        if profile not in (*PROFILES, SWARM):
            raise unknown("fault profile", profile, (*PROFILES, SWARM))
        return profile
    if faults is not None:
        raise WrongUse("--faults is a profile and --fault names what is in one; write one of them")
    for name in named:
        if name not in FAULTS:
            raise unknown("fault", name, FAULTS)
        if name not in PROFILE_OF:
            raise WrongUse(
                f"--fault {name}: the simulator has {', '.join(PROFILE_OF)}; "
                f"{name} is explored: insync explore {next(iter(FAULTS[name].systems))} "
                f"--fault {name}"
            )
    return JOINED_BY.join(sorted({PROFILE_OF[name] for name in named}))


def _as_typed(profile: str, named: tuple[str, ...]) -> str:
    """The options that give this profile again."""
    if named:
        return " ".join(f"--fault {name}" for name in dict.fromkeys(named))
    return f"--faults {profile!r}" if " " in profile else f"--faults {profile}"


def _seeds(seed: int | None, seeds: str | None) -> range:
    if seeds is None:
        first = FIRST_SEED if seed is None else seed
        return range(first, first + 1)
    if seed is not None:
        raise WrongUse("--seed is one run and --seeds A..B are many; write one of them")
    return seed_range(seeds)


def seed_range(seeds: str) -> range:
    """The seeds of A..B, both included; anything else is wrong use."""
    found = re.fullmatch(r"([0-9]{1,18})\.\.([0-9]{1,18})", seeds)
    if found is None:
        raise WrongUse(f"--seeds {seeds}: write A..B, two whole numbers, such as --seeds 1..20")
    first, last = int(found[1]), int(found[2])
    if first > last:
        raise WrongUse(f"--seeds {seeds}: the range is empty; write --seeds {last}..{first}")
    return range(first, last + 1)


@contextlib.contextmanager
def _folder(out: str | None, seeds: range) -> Iterator[Path]:
    """Where traces go: DIR, made if need be, or a temporary folder that is gone afterwards."""
    if out is None:
        with tempfile.TemporaryDirectory(prefix="insync-") as temporary:
            yield Path(temporary)
        return
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        held = sorted(entry.name for entry in folder.iterdir())
    except FileExistsError as error:
        raise WrongUse(f"--out {out}: is a file; name a folder") from error
    except OSError as error:
        raise WrongUse(f"--out {out}: {error.strerror}; name a folder you may write") from error
    other = [name for name in held if not LEFT_BY_US.fullmatch(name)]
    # Logs of an earlier run would stand beside a trace that they do not belong to.
    other += [f"seed-{seed}-logs" for seed in seeds if f"seed-{seed}-logs" in set(held)]
    if other:
        raise WrongUse(f"--out {out}: already holds {other[0]}; name a new or an empty folder")
    try:
        yield folder
    except OSError as error:
        raise WrongUse(f"--out {out}: {error.strerror}; name a folder you may write") from error


class RunFigures:
    """What is reported of a run besides its verdict, counted while its events pass.

    ``times``: by step, how often it was taken. Of the high watermark, an exclusive end, the highest
    that any broker had is the number of committed records.
    """

    def __init__(self, header: TraceHeader, events: Iterator[TraceEvent]) -> None:
        self.header, self._events = header, events
        self.times = Counter[str]()
        self.committed = self.controllers = 0
        self._look(header.initial)

    def events(self) -> Iterator[TraceEvent]:
        """The events of the run, each once."""
        for event in self._events:
            self.times[event.step] += 1
            self._look(event.observed)
            yield event

    def _look(self, leaves: dict[str, Any]) -> None:
        for path, value in leaves.items():
            if path.endswith(".hw"):
                self.committed = max(self.committed, value)
            elif path == "zookeeper.controller_epoch":
                self.controllers = max(self.controllers, value)


def _row(figures: RunFigures, path: Path, kept: bool) -> dict[str, Any]:
    """Judge what was recorded; an entry of `runs`."""
    from conformance.replay import check_trace

    report: TraceReport = check_trace(path)
    times = figures.times
    name = str(path) if kept else path.name
    return {
        "seed": figures.header.seed,
        "verdict": report.verdict,
        "steps": times.total(),
        "committed": figures.committed,
        "elections": times["controller_elects_leader"],
        "controllers": figures.controllers,
        "crashes": times["broker_crashes"],
        "expiries": times["session_expires"],
        "file": str(path) if kept else None,
        "findings": [
            # A temporary folder's name would mean nothing to anybody.
            {**as_data(finding), "file": name, "positions": [f"{name}:{finding.line}"]}
            for finding in report.findings
        ],
    }


def _small(trace: Trace, folder: Path, kept: bool) -> dict[str, Any]:
    """The smallest part of a broken run that is broken; what it is, and how it got there."""
    from conformance.replay import check_trace
    from impl.world.minimize_run import shrink

    path = folder / f"seed-{trace.header.seed}-small.ndjson"

    def fails(played: Trace) -> int | None:
        write_trace(path, played)
        report = check_trace(path)
        if report.verdict is not Verdict.BROKEN:
            return None
        return min(finding.line for finding in report.findings) - 1  # the header's line

    found = shrink(trace, fails, REPLICATION.bounds["brokers"].least)
    write_trace(path, found.trace)
    sizes = [
        dict(zip(("brokers", "faults", "steps"), size, strict=True))
        for size in (found.before, found.after)
    ]
    return {
        "file": str(path) if kept else None,
        "before": sizes[0],
        "after": sizes[1],
        "trials": found.trials,
        "steps": [str(step) for step in steps_of(found.trace)],
    }


def _show(result: dict[str, Any], again: str, json_target: str | None) -> None:
    kept = ["file"] if any(row["file"] for row in result["runs"]) else []
    columns = [*COLUMNS, *kept]
    show_table(
        columns,
        [[row[column] for column in columns] for row in result["runs"]],
        json_target,
        right=set(COLUMNS) - {"verdict"},
    )
    for row in result["runs"]:
        for one in row["findings"]:
            say(f"{one['file']}:{one['line']}: {one['rule']}: {one['why']}", json_target)
        if row["findings"] and row["file"] is None:
            say(f"keep it: insync simulate --seed {row['seed']} {again} --out DIR", json_target)
        if "small" in row:
            small = row["small"]
            was, now = (
                ", ".join(f"{many} {what}" for what, many in small[which].items())
                for which in ("before", "after")
            )
            say(f"made small: {now} (were {was}), {small['trials']} runs tried", json_target)
            for step in small["steps"]:
                say(f"    {step}", json_target)
            if small["file"]:
                say(f"    insync check {small['file']}", json_target)
    if result["never_taken"]:
        say(f"steps that no run took: {', '.join(result['never_taken'])}", json_target)
    runs = len(result["runs"])
    say(
        f"{result['verdict']} ({runs} run{'' if runs == 1 else 's'}, {again}), "
        f"{result['seconds']:.1f} s",
        json_target,
    )
