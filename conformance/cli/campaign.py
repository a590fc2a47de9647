"""`insync simulate --engine`: a resumable campaign of runs, reported in one table."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from conformance.cli.common import Progress, WrongUse, emit_json, finish, say, show_table, unknown
from conformance.cli.git_commit import commit_of
from impl.sim.simulator import SWARM
from impl.world.faults import PROFILES
from specs.rendering import as_data
from specs.verdict import combine

if TYPE_CHECKING:
    from conformance.campaign import (
        CampaignEngine,
        CampaignFolder,
        CampaignPlan,
        CampaignRun,
        SummaryLine,
    )

ALL = "all"
ENGINES = ("spark", "local")


def carry_out_campaign(
    plan: CampaignPlan,
    engine: str,
    master: str | None,
    out: str | None,
    shrink: bool,
    json_target: str | None,
) -> NoReturn:
    """Carries the plan out, prints its table and ends with the verdict of all runs together.

    Wrong use where the folder holds another campaign, or Spark does not start.
    """
    from conformance.campaign import run_whole_campaign, summary

    if master is not None and engine == "local":
        raise WrongUse("--master is Spark's; write --engine spark")
    began = time.monotonic()
    with Progress() as progress, _opened(out, plan) as folder:
        where = _engine(engine, master)
        with _spark_starts():
            verdicts = run_whole_campaign(
                plan, folder, where, lambda done: progress(f"{done} of {len(plan)} runs done")
            )
            table = summary(verdicts)
            broken = [line.run for line in table if line.run is not None]
            if shrink and broken:
                progress(f"{len(broken)} failures are made small")
            small = _made_small(broken, where, plan, folder, out) if shrink and broken else []
    result = {
        "verdict": combine(line.verdict for line in table),
        **as_data(plan),
        "commit": commit_of(Path(__file__)),
        "table": table,
        "runs": verdicts,
        "small": small,
        "seconds": round(time.monotonic() - began, 3),
    }
    _show(result, table, json_target)
    emit_json(json_target, as_data(result))
    finish(combine(line.verdict for line in table))


def plan_of(
    seeds: range, profiles: tuple[str, ...], planted: tuple[str, ...], steps: int, brokers: int
) -> CampaignPlan:
    """What is asked for; wrong use for a bug that cannot be planted."""
    from conformance.campaign import CampaignPlan

    return CampaignPlan(seeds[0], seeds[-1], profiles, bugs_named(planted), steps, brokers)


def profiles_named(faults: str | None, default: str) -> tuple[str, ...]:
    """The fault profiles of `--faults A,B` or `--faults all`."""
    if faults is None:
        return (default,)
    if faults == ALL:
        return (*PROFILES, SWARM)
    names = tuple(dict.fromkeys(name.strip() for name in faults.split(",")))
    for name in names:
        if name not in (*PROFILES, SWARM):
            raise unknown("fault profile", name, (*PROFILES, SWARM, ALL))
    return names


def bugs_named(planted: tuple[str, ...]) -> tuple[str, ...]:
    """The bugs of `--planted ID` or `--planted all`, the implementation as it is before them."""
    from conformance.campaign import NOTHING
    from conformance.mutants.planted import PLANTED

    known = [one.id for one in PLANTED]
    if ALL in planted:
        return (NOTHING, *known)
    for name in planted:
        if name not in known:
            raise unknown("bug to plant", name, (*known, ALL))
    return (NOTHING, *dict.fromkeys(planted))


def _engine(engine: str, master: str | None) -> CampaignEngine:
    if engine == "local":
        from conformance.campaign import LocalCampaign

        return LocalCampaign()
    from conformance.campaign.on_spark import SparkCampaign

    return SparkCampaign(master)


@contextlib.contextmanager
def _spark_starts() -> Iterator[None]:
    from conformance.pipeline.java import NoJavaError
    from conformance.pipeline.session import SparkFailedError

    try:
        yield
    except (NoJavaError, SparkFailedError) as error:
        raise WrongUse(f"{error}; without Spark: --engine local") from error


@contextlib.contextmanager
def _opened(out: str | None, plan: CampaignPlan) -> Iterator[CampaignFolder]:
    from conformance.campaign import CampaignFolder, OtherCampaignError

    commit = commit_of(Path(__file__))
    if out is None:
        with tempfile.TemporaryDirectory(prefix="insync-") as temporary:
            yield CampaignFolder(Path(temporary), plan, commit)
        return
    try:
        folder = CampaignFolder(Path(out), plan, commit)
    except OtherCampaignError as error:
        raise WrongUse(f"--out {error}") from error
    except OSError as error:
        raise WrongUse(f"--out {out}: {error.strerror}; name a folder you may write") from error
    yield folder


def _made_small(
    broken: list[CampaignRun],
    engine: CampaignEngine,
    plan: CampaignPlan,
    folder: CampaignFolder,
    out: str | None,
) -> list[dict[str, Any]]:
    """The smallest run of each line of the table; with --out, as files too."""
    rows = []
    for row in engine.make_small(broken, plan):
        bug = row["planted"].strip("-") or "as-it-is"
        name = f"{bug}-{row['profile'].replace(' ', '-')}-seed-{row['seed']}"
        kept = [folder.keep_story(f"{name}.ndjson", row["trace"])]
        if row["story"]:
            kept.insert(0, folder.keep_story(f"{name}.story", row["story"]))
        rows.append({**row, "files": [str(path) for path in kept] if out else []})
    return rows


def _show(result: dict[str, Any], table: list[SummaryLine], json_target: str | None) -> None:
    columns = ["planted", "faults", "verdict", "runs", "events", "broken", "not checked", "first"]
    show_table(
        columns,
        [
            [
                line.planted, line.profile, line.verdict, line.runs, line.events, line.broken,
                line.not_checked, f"seed {line.first}" if line.run else None,
            ]
            for line in table
        ],
        json_target,
        right={"runs", "events", "broken", "not checked"},
    )  # fmt: skip
    for row in result["small"]:
        say(
            f"{row['planted']}, {row['profile']}, seed {row['seed']} made small: "
            f"{row['brokers']} brokers, {row['faults']} faults, {len(row['steps'])} steps",
            json_target,
        )
        for step in row["steps"]:
            say(f"    {step}", json_target)
        for file in row["files"]:
            command = "story" if file.endswith(".story") else "check"
            say(f"    insync {command} {file}", json_target)
    runs = len(result["runs"])
    seconds = result["seconds"]
    say(
        f"{result['verdict']} ({runs} runs of {result['steps']} steps), {seconds:.1f} s",
        json_target,
    )
