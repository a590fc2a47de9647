"""`insync lockstep`: random steps of the implementation, each compared with the model's."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import click

from conformance.cli.chosen_system import refusals
from conformance.cli.common import Progress as Counted
from conformance.cli.common import WrongUse, emit_json, finish, json_option, say, show_table
from conformance.cli.coverage_option import coverage_option, measured
from conformance.cli.keep_results import keep_story_text, open_option, show, story_option
from conformance.cli.simulate import seed_range
from conformance.running.profiles import LOGGED_PROFILES, TRACED_PROFILES, judged_profile
from impl.releases import DEFAULT, Release
from impl.world.faults import REPLICATION_FAULTS
from impl.world.staged.faults import STAGED_FAULTS
from specs.rendering import parts, rounded, rows
from specs.verdict import Verdict

if TYPE_CHECKING:
    from conformance.diagnosis import Diagnosis
    from conformance.lockstep import Mismatch, WalkProgress

STEPS, STEPS_OF_LOGS = 300, 2_000
"""Of a walk. What is rare in a whole cluster, whose lines are judged, comes late in a run."""

SEEDS = "0..9"
ONE_PARTITION, CLUSTER, BROKERS, LOGS = "replication", "cluster", "brokers", "logs"
RELEASES = {
    ONE_PARTITION: (DEFAULT, "1.1"),
    CLUSTER: (DEFAULT, "0.11", "2.4"),
    BROKERS: (DEFAULT, "0.10", "2.4", "2.6", "2.7"),
    LOGS: (DEFAULT, "2.4", "2.6", "2.7"),
}
"""In which releases ``--all`` walks each of them."""

FIRST_OF_CLUSTERS = "0.11"
"""Up to 0.10 a follower may cut off what was committed, which `cluster` leaves to `replication`."""


@dataclass
class WalkCampaign:
    """The walks under one profile of faults."""

    ALSO: ClassVar = parts("verdict")

    system: str
    faults: str
    release: str = DEFAULT
    runs: int = 0
    steps: int = 0
    silent: int = 0
    writes: int = 0
    requests: int = 0
    seconds: float = field(default=0.0, metadata=rounded(3))
    fired: Counter[str] = field(default_factory=Counter)
    mismatch: str | None = None
    story: str | None = None

    @property
    def verdict(self) -> Verdict:
        """Broken by a mismatch; walks without a step checked nothing."""
        if self.mismatch is not None:
            return Verdict.BROKEN
        return Verdict.HOLDS if self.steps else Verdict.NOT_CHECKED


@click.command()
@click.option(
    "--system",
    type=click.Choice([ONE_PARTITION, CLUSTER, BROKERS, LOGS]),
    default=ONE_PARTITION,
    show_default=True,
    help="replication: one partition with its logs; cluster: whole controllers, effect by "
    "effect; brokers and logs: whole brokers with disks, judged by their traces or by "
    "their log lines.",
)
@click.option(
    "--seeds", metavar="A..B", default=SEEDS, show_default=True, help="One walk per seed."
)
@click.option(
    "--steps",
    metavar="N",
    type=click.IntRange(min=1),
    help=f"Steps of each walk.  [default: {STEPS}, with {LOGS} {STEPS_OF_LOGS}; x>=1]",
)
@click.option(
    "--version",
    "versions",
    metavar="V",
    multiple=True,
    help=f"The release, {DEFAULT} by default; can be repeated.",
)
@click.option(
    "--faults",
    metavar="PROFILE",
    multiple=True,
    help=f"The fault profile: {', '.join(REPLICATION_FAULTS.names)}; with {CLUSTER}: "
    f"{', '.join(STAGED_FAULTS.names)}; with {BROKERS}: {', '.join(TRACED_PROFILES)}; "
    f"with {LOGS}: {', '.join(LOGGED_PROFILES)}; "
    "default: each of them in turn.",
)
@click.option(
    "--every",
    metavar="N",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="Compare what is possible on both sides every N steps (0: never).",
)
@click.option("--without-effects", is_flag=True, help="Compare states only: twice as fast.")
@click.option(
    "--map",
    "shows_map",
    is_flag=True,
    help="Print which step is which transition, and walk nothing.",
)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="All of them, one after the other, in several releases.",
)
@coverage_option
@story_option
@open_option
@json_option
def lockstep(
    system: str,
    seeds: str,
    steps: int | None,
    versions: tuple[str, ...],
    faults: tuple[str, ...],
    every: int,
    without_effects: bool,
    shows_map: bool,
    everything: bool,
    coverage: str | None,
    save_story: str | None,
    opens: bool,
    json_target: str | None,
) -> None:
    """Hold the implementation to the model, step by step, under every profile of faults.

    After each step the two states are compared leaf by leaf, and what the step wrote into ZooKeeper
    and sent is compared with what it changed. A mismatch is reported with its diagnosis, --open
    shows the run to it, and --save-story keeps it. The same seeds give the same walks anywhere.
    Seconds are of processor time.
    Exit code: 0 holds, 1 broken.

    Brokers run by themselves and trace what they do, as running processes do; each line is judged.
    With logs topics are deleted and partitions move as well: what brokers write to Kafka's log
    files is judged as `insync check` judges it.
    Walks of the cluster are judged in this one direction, `insync edges cluster` in both; --map
    shows what is abstract, and why.

    \b
    Example:
      insync lockstep
      insync lockstep --system cluster --seeds 0..3 --faults sessions
      insync lockstep --system cluster --map
      insync lockstep --system brokers --seeds 0..3 --version 0.11 --version 1.1
      insync lockstep --all --coverage
      insync lockstep --seeds 0..99 --faults lossy --faults swarm
      insync lockstep --every 0 --without-effects --faults everything --json -
    """
    if shows_map:
        if system in (BROKERS, LOGS):
            raise WrongUse(
                f"--map is of {ONE_PARTITION} or {CLUSTER}; {system} are judged by lines"
            )
        _show_map(system, json_target)
        return
    chosen = seed_range(seeds)
    systems = tuple(RELEASES) if everything else (system,)
    for version in versions:
        _refuse_unknown(systems, version)
    campaigns = [
        (one, release, name)
        for one in systems
        for release in versions or (RELEASES[one] if everything else (DEFAULT,))
        for name in _profiles(one, faults)
    ]
    done: list[WalkCampaign] = []
    with measured(coverage, json_target), Counted() as progress:
        for one, release, name in campaigns:
            progress(f"{one} {release} {name}: {len(done)} of {len(campaigns)} profiles done")
            many = steps or (STEPS_OF_LOGS if one == LOGS else STEPS)
            if one == CLUSTER:
                done.append(_campaign_of_clusters(name, chosen, many, not without_effects, release))
            elif one == BROKERS:
                done.append(_campaign_of_brokers(name, chosen, many, release))
            elif one == LOGS:
                done.append(_campaign_of_logs(name, chosen, many, release))
            else:
                done.append(_campaign(name, chosen, many, every, not without_effects, release))
    _show(done, json_target)
    verdicts = [one.verdict for one in done]
    verdict = next((bad for bad in (Verdict.BROKEN, Verdict.NOT_CHECKED) if bad in verdicts),
                   Verdict.HOLDS)  # fmt: skip
    total, seconds = sum(one.steps for one in done), sum(one.seconds for one in done)
    fired = "".join(_coverage(one, [c for c in done if c.system == one]) for one in systems)
    say(
        f"{verdict}: {sum(one.runs for one in done):,} walks, {total:,} steps, "
        f"{total / max(seconds, 1e-9):,.0f} steps/s{fired}",
        json_target,
    )
    emit_json(json_target, {
        "format": "insync.lockstep/1", "verdict": verdict.value,
        "profiles": rows(done),
    })  # fmt: skip
    if save_story is not None:
        stories = (one.story for one in done if one.story is not None)
        keep_story_text(save_story, next(stories, None), json_target)
    if opens:
        _show_in_the_browser(done, json_target)
    finish(verdict)


def _refuse_unknown(systems: tuple[str, ...], version: str) -> None:
    """WrongUse for what is no release of the implementation, or of a system that is walked."""
    from model.systems import system as named

    try:
        Release.published(version)
    except ValueError as error:
        raise WrongUse(f"--version {version}: {error}") from error
    if CLUSTER in systems and not Release.of(version).since(FIRST_OF_CLUSTERS):
        raise WrongUse(
            f"--version {version}: followers that cut to their high watermark are walked with "
            f"--system {ONE_PARTITION}, {BROKERS} or {LOGS}; --system {CLUSTER} begins with "
            f"{FIRST_OF_CLUSTERS}"
        )
    for one in systems:
        if one in (ONE_PARTITION, CLUSTER):
            with refusals():
                named(one).version(version)


def _profiles(system: str, faults: tuple[str, ...]) -> tuple[str, ...]:
    """The profiles that are walked; WrongUse for one that the system does not have."""
    known: dict[str, tuple[tuple[str, ...], Callable[[str], object]]] = {
        ONE_PARTITION: (REPLICATION_FAULTS.names, REPLICATION_FAULTS.named),
        CLUSTER: (STAGED_FAULTS.names, STAGED_FAULTS.named),
        BROKERS: (TRACED_PROFILES, lambda name: judged_profile(name, TRACED_PROFILES)),
        LOGS: (LOGGED_PROFILES, lambda name: judged_profile(name, LOGGED_PROFILES)),
    }
    names, named = known[system]
    for name in faults:
        try:
            named(name)
        except ValueError as error:
            raise WrongUse(f"--faults {name}: {error}") from error
    return faults or names


def _show_in_the_browser(done: list[WalkCampaign], json_target: str | None) -> None:
    """The shortest run to the first mismatch, up to where both sides still agree."""
    for one in done:
        if one.story is not None:
            from conformance.web.findings import of_story_text

            show(of_story_text(one.story))
            return
    say("there is no run to show", json_target)


def _campaign(
    faults: str, seeds: range, steps: int, every: int, with_effects: bool, release: str
) -> WalkCampaign:
    """Walks of one partition, held to `replication` both ways."""
    from conformance.diagnosis import LockstepSetup, explained
    from conformance.effects import EffectsOfOnePartition
    from conformance.lockstep import BOUNDS, Lockstep
    from conformance.mapping import MAP
    from conformance.walks import walk

    Lockstep(BOUNDS, version=release)  # compiled before the clock starts
    effects = EffectsOfOnePartition()
    heard = effects if with_effects else None

    def walked(seed: int) -> WalkProgress:
        return walk(seed, steps, None, every, faults, heard, release)

    def why(mismatch: Mismatch) -> Diagnosis | None:
        return explained(mismatch, setup=LockstepSetup(MAP, BOUNDS, release))

    campaign = _walked(WalkCampaign(ONE_PARTITION, faults, release), seeds, walked, why)
    campaign.writes, campaign.requests = effects.writes, effects.requests
    return campaign


def _campaign_of_brokers(faults: str, seeds: range, steps: int, release: str) -> WalkCampaign:
    """Runs of whole brokers; each line of their traces is held to `replication` or `election`."""
    from conformance.lockstep import Mismatch, WalkProgress
    from conformance.running.simulated import judged_run

    def walked(seed: int) -> WalkProgress:
        report = judged_run(seed, steps, faults, release, Release.of(release).since("2.3"))
        if report.verdict is not Verdict.HOLDS:
            first = report.findings[0]
            raise Mismatch(f"{first.rule}: line {first.line}: {first.why}", ())
        return WalkProgress(sum(one.lines for one in report.replayed), fired=dict(report.fired))

    return _walked(WalkCampaign(BROKERS, faults, release), seeds, walked)


def _campaign_of_logs(faults: str, seeds: range, steps: int, release: str) -> WalkCampaign:
    """Runs of whole clusters; what their brokers log is held to the rules of logs."""
    from conformance.lockstep import Mismatch, WalkProgress
    from conformance.running.simulated_log_files import judged_logs

    def walked(seed: int) -> WalkProgress:
        report = judged_logs(seed, steps, faults, release, settles=False)
        if report.first:
            raise Mismatch(report.first, ())
        return WalkProgress(report.lines, fired=report.fired)

    return _walked(WalkCampaign(LOGS, faults, release), seeds, walked)


def _campaign_of_clusters(
    faults: str, seeds: range, steps: int, with_effects: bool, release: str
) -> WalkCampaign:
    """Walks of whole controllers, held to `cluster`."""
    from conformance.effects_of_cluster import EffectsOfCluster
    from conformance.mapping import cluster
    from conformance.model_stepper import ModelStepper
    from conformance.walks import cluster_bounds, walk_cluster

    for seed in seeds:
        ModelStepper.of(
            cluster_bounds(seed, release), cluster.MAP, release
        )  # compiled before the clock starts
    effects = EffectsOfCluster()
    heard = effects if with_effects else None

    def walked(seed: int) -> WalkProgress:
        return walk_cluster(seed, steps, faults=faults, effects=heard, version=release)

    campaign = _walked(WalkCampaign(CLUSTER, faults, release), seeds, walked)
    campaign.writes, campaign.requests = effects.writes, effects.requests
    return campaign


def _walked(
    campaign: WalkCampaign,
    seeds: range,
    walk: Callable[[int], WalkProgress],
    explained: Callable[[Mismatch], Diagnosis | None] = lambda _: None,
) -> WalkCampaign:
    """The walks of the seeds in turn, up to the first mismatch, which is explained."""
    from conformance.lockstep import Mismatch

    began = time.process_time()
    for seed in seeds:
        try:
            progress = walk(seed)
        except Mismatch as mismatch:
            diagnosis = explained(mismatch)
            text = str(mismatch) if diagnosis is None else diagnosis.as_text()
            campaign.mismatch = f"seed {seed}: {text}"
            campaign.story = None if diagnosis is None else diagnosis.story
            break
        campaign.runs += 1
        campaign.steps += progress.steps
        campaign.silent += progress.silent
        campaign.fired.update(progress.fired)
    campaign.seconds = time.process_time() - began
    return campaign


def _coverage(system: str, done: list[WalkCampaign]) -> str:
    """How many of the system's transitions the walks fired; brokers are held to two systems."""
    fired = {name for one in done for name in one.fired}
    if system in (BROKERS, LOGS):
        return f", {len(fired)} transitions fired ({system})"
    return f", {len(fired)} of {len(_transitions(system))} transitions fired ({system})"


def _transitions(system: str) -> list[str]:
    """The transitions of the release that is walked."""
    from conformance.mapping import MAP
    from conformance.mapping.cluster import MAP as OF_CLUSTER
    from model.systems import system as named

    about = OF_CLUSTER if system == CLUSTER else MAP
    recorded = named(system).recorded(DEFAULT, about.switches)
    return sorted({step.transition.name for step in recorded.steps})


def _show_map(system: str, json_target: str | None) -> None:
    from conformance.mapping import MAP
    from conformance.mapping.cluster import MAP as OF_CLUSTER
    from model.versions import SWITCHES

    about = OF_CLUSTER if system == CLUSTER else MAP
    show_table(
        ("implementation", "is of the model", "silent, or else to know"),
        [
            (one.step, "\n".join(one.transitions), "; ".join(filter(None, (one.silent, one.why))))
            for one in about.rows.values()
        ],
        json_target,
        prose=("silent, or else to know",),
    )
    mapped, there = set(about.steps_of), _transitions(system)
    missing = {name: about.left_out.get(name, "") for name in there if name not in mapped}
    show_table(
        ("left out", "why"), missing.items(), json_target, prose=("why",)
    )  # fmt: skip
    show_table(
        ("as released", "what the model does otherwise unless it is reverted"),
        [(name, SWITCHES[name].about) for name in sorted(about.switches)],
        json_target,
        prose=("what the model does otherwise unless it is reverted",),
    )
    abstracted = sum(one.why is not None for one in about.rows.values())
    say(f"{len(mapped & {*there})} of {len(there)} transitions of {system} are mapped, "
        f"{len(missing)} are left out; {abstracted} of {len(about.rows)} steps say what to know",
        json_target)  # fmt: skip
    emit_json(json_target, {
        "system": system, "transitions": there, "left_out": missing,
        "as_released": dict(sorted(about.switches.items())),
        "rows": {
            one.step: {"transitions": one.transitions, "silent": one.silent, "why": one.why}
            for one in about.rows.values()
        },
    })  # fmt: skip


def _show(done: list[WalkCampaign], json_target: str | None) -> None:
    for one in done:
        if one.mismatch is not None:
            say(f"{one.faults}, {one.mismatch}\n", json_target)
    numbers = ("walks", "steps", "silent", "writes", "requests", "transitions", "steps/s")
    show_table(
        ("system", "faults", *numbers, "verdict"),
        [
            (
                f"{one.system} {one.release}", one.faults, one.runs, f"{one.steps:,}",
                f"{one.silent:,}",
                f"{one.writes:,}",
                f"{one.requests:,}", len(one.fired), f"{one.steps / max(one.seconds, 1e-9):,.0f}",
                one.verdict.value,
            )
            for one in done
        ],
        json_target,
        right=numbers,
    )  # fmt: skip
