"""Judges of mutants: short checks against the model, by name, with the mutants that differ in each.

A judge compares the implementation with the model for a fraction of a second. `reach` measures once
which mutants differ in the run of each judge; a mutant is tried with those judges only.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import zip_longest
from pathlib import Path

from conformance.edges import EdgeReport, walk_edges
from conformance.effects import EffectsOfOnePartition
from conformance.effects_of_cluster import EffectsOfCluster
from conformance.lockstep import Mismatch
from conformance.mapping import MAPPED, map_of
from conformance.mapping.rows import Family
from conformance.mutants.changes import DifferenceRecorder, forget
from conformance.mutants.kept_reach import KeptReach
from conformance.mutants.mutate import MODULES, Mutant, mutants_of
from conformance.plain_rules.compare import RulesDiffer, compare_rules
from conformance.play_story import replay_story
from conformance.running.profiles import TRACED_PROFILES
from conformance.running.simulated import judged_run
from conformance.running.simulated_log_files import judged_logs
from conformance.story_lockstep import systems_of_stories, tour, tours
from conformance.vectors.case_results import Outcome, answers_of
from conformance.vectors.case_results import judge as judge_cases
from conformance.vectors.cases import Case, read_cases
from conformance.vectors.compare import ByRule
from conformance.walks import walk, walk_cluster, walk_part
from impl.releases import Release
from impl.world.whole_cluster.runs import run_whole_cluster
from specs.story import read_story
from specs.verdict import Verdict

STATES = 150
"""How many states of a graph are walked; those of a part of a graph may be fewer."""

MORE_STATES: Mapping[str, int] = {"election": 600, "cluster": 400, "replication": 400}
"""Where the rarest transitions come later."""

SEEDS = (224, 46, 50, 52, 13, *range(1, 8), *range(60, 75))
"""Walks; the first four reach the rarest transitions."""

STEPS = 220

OLD_RELEASES = ("1.1", "0.10")
"""Releases that one partition walks in beside the one of today."""

CLUSTER_WALKS = (
    (0, "none", "2.3"), (1, "everything", "2.3"), (2, "sessions", "2.3"), (3, "operators", "2.3"),
    (4, "swarm", "2.3"), (5, "crashes", "2.3"), (6, "everything", "2.3"), (7, "operators", "2.3"),
    (3, "everything", "2.4"), (0, "lossy", "1.1"), (3, "everything", "1.1"),
    (4, "sessions", "2.1"), (4, "operators", "2.7"),
    *((seed, faults, "2.3")
      for seed in range(10, 25)
      for faults in (("sessions", "operators") if seed % 2 else ("operators", "everything"))),
)  # fmt: skip
"""Walks beside `cluster`: seeds, which differ in their shape, profiles of faults, releases."""

OTHER_RELEASES: Mapping[str, tuple[str, ...]] = {
    "election": ("2.1", "2.7"), "reassignment": ("2.4", "2.7"),
    "replication": ("2.5",), "topics": ("2.1", "2.7"),
}  # fmt: skip
"""Releases in which parts of a graph are walked that have no release of their own."""

CLUSTER_STEPS = 250

PART_SEEDS, PART_STEPS = 24, 80
"""Of the walks through parts of a graph, which go deeper than its first states."""

OTHER_PART_SEEDS = 8
"""Of those in `OTHER_RELEASES`."""

TRACED_RUNS = (
    *((seed, faults, release)
      for release, seeds in (("2.3", 4), ("2.4", 2), ("2.6", 2), ("2.7", 4), ("2.8", 4))
      for faults in TRACED_PROFILES
      for seed in range(seeds)),
    (0, "failures", "0.11"), (2, "failures", "2.1"),
)  # fmt: skip
"""Runs of whole brokers with their logs on disks, whose traces the model judges, and what they come
to once faults are over (2.2: before KIP-380 a broker that bounced may be left alone)."""

TRACED_STEPS = {"failures": 1_200}
"""So many where much goes wrong, before they are left alone; else `FEWER_STEPS`."""

FEWER_STEPS = 400

LOGGED_RUNS = (
    *((seed, "everything", "2.3") for seed in (0, 2, 3, 4)), (3, "everything", "2.7"),
    (0, "operators", "2.3"), (1, "operators", "2.4"), (0, "power", "2.3"),
    (0, "failures", "2.6"), (0, "directories", "2.3"), (2, "directories", "2.7"),
    (0, "requests", "2.4"), (3, "requests", "2.7"),
    (4, "moves", "2.3"), (1, "moves", "1.0"), (1, "moves", "2.7"),
    (0, "retention", "2.3"), (1, "retention", "2.7"), (0, "denials", "2.3"), (1, "denials", "2.7"),
)  # fmt: skip
"""Runs of whole clusters in which topics go and partitions move, judged by their log lines, and by
what they come to. Before 2.2 a deposed controller still writes, and rules of logs take that for a
leader epoch that goes back."""

LOGGED_STEPS = 2_000

CLAIMED_RUNS = (
    *((seed, faults, "2.7") for faults in ("failures", "everything", "denials") for seed in (0, 1)),
    *((seed, "one-replica", release) for release in ("2.3", "2.7") for seed in (0, 1)),
    *((seed, "small-fetches", release) for release in ("2.3", "2.7") for seed in (0, 1)),
    *((seed, "clients", release) for release in ("1.1", "2.3", "2.7") for seed in (0, 1, 2)),
    *((seed, "no-deletion", release) for release in ("1.0", "2.3") for seed in (0, 1)),
    *((seed, faults, "2.8")
      for faults in ("failures", "everything", "directories", "deposed", "retention")
      for seed in (0, 1)),
    (6, "failures", "2.7"), (1, "no-deletion", "0.10.0"),
    *((seed, "deposed", "2.7") for seed in (0, 3, 6, 7, 13, 15, 16, 28)),
    (0, "deposed", "2.4"), (1, "deposed", "2.4"), (3, "deposed", "1.1"), (3, "deposed", "0.10.2"),
    *((seed, "unclean", release) for release in ("2.4", "2.7") for seed in (0, 6)),
    *((seed, "directories", release) for release in ("1.0", "2.3", "2.7") for seed in (0, 1)),
    (20, "requests", "1.0"), (20, "requests", "2.7"), (21, "requests", "2.7"),
    (20, "denials", "0.11"), (20, "operators", "2.3"), (20, "retention", "0.10.0"),
    (0, "retention", "0.10.2"), (3, "clients", "1.1"), (1, "clients", "0.10.2"),
    (2, "denials", "2.3"), (6, "deposed", "0.10.2"), (5, "operators", "2.0"),
    (24, "requests", "1.0"),
    (17, "retention", "2.3"), (19, "retention", "2.3"),
    (4, "retention", "2.7"), (25, "retention", "2.7"),
    (0, "requests", "2.4"), (0, "requests", "2.7"), (0, "operators", "2.0"),
    (0, "operators", "2.3"),
    (31, "directories", "2.7"), (32, "everything", "2.7"), (33, "unclean", "2.4"),
    (39, "deposed", "2.7"),
    (2, "unclean", "0.10.2"), (1, "unclean", "1.1"), (2, "power", "0.10.2"),
    (200, "denials", "0.10.0"), (203, "denials", "1.0"), (206, "denials", "2.7"),
    (203, "clients", "2.4"), (204, "clients", "2.4"), (205, "clients", "2.7"),
    *((seed, "races", release) for seed, release in (
        (3, "2.3"), (4, "2.3"), (1, "2.4"), (13, "2.4"), (34, "2.4"), (4, "2.7"), (5, "2.7"),
        (7, "2.7"), (22, "2.7"), (30, "2.7"), (0, "2.8"), (1, "2.8"), (6, "2.2"),
    )),
    *((seed, "moves", release) for release in ("1.1", "2.3", "2.4", "2.7") for seed in (0, 1)),
    (3, "requests", "2.4"), (308, "deposed", "2.4"), (311, "deposed", "2.4"),
    (325, "deposed", "2.4"),
)  # fmt: skip
"""Runs of whole clusters that are held to the claims of the simulator alone: a second each."""

CLAIMED_STEPS = 1_000

CASES = Path(__file__).parents[2] / "tests" / "data" / "vectors"
"""Cases that both sides answer; without the folder there is no such judge."""

OF_LOGS = "logs"
"""Rules of logs look once the model's walks of each kind have looked: they ask the model about each
write and epoch, and have more to say than it does."""

OF_CLAIMS = "claims"
"""So do the simulator's claims: they are written beside the model. Their runs are of a kind for
each profile: what administrators ask for, say, is in one or two of them."""

OF_RULES = ("rules", "cases of rules")
"""These ask plain rules of the model's side, which no transition uses: they look last of all, so
that what nobody else notices is counted by itself."""

AT_FIRST = 2
"""So many judges of each kind a mutant is put before, until one notices."""

MOST_S = 40.0
"""A survivor is put before more of them, who take so many seconds in all."""

SHORTEST_S = 0.05
"""A judge that takes less is no better for it: a mutant has a process to be started as well."""

Judgement = tuple[str, str]
"""By whom, and why; two empty texts where nothing was noticed."""


@dataclass(frozen=True)
class Judge:
    """A judge. `compare` returns the first difference as a line, or nothing; or it raises one."""

    name: str
    kind: str
    compare: Callable[[], str]

    @property
    def is_beside_the_model(self) -> bool:
        """Whether it compares by rules of logs or claims of the simulator, not by the model."""
        return self.kind.startswith((OF_LOGS, OF_CLAIMS))

    def judge(self) -> Judgement:
        """Runs the judge on the implementation in this process; returns its result."""
        try:
            why = self.compare()
        except Mismatch as mismatch:
            return self.name, f"step {len(mismatch.steps)}: {str(mismatch).splitlines()[0]}"
        except RulesDiffer as difference:
            return self.name, str(difference).splitlines()[0]
        except Exception as error:  # a mutant may do anything
            return self.name, f"{type(error).__name__}: {error}"
        return (self.name, why) if why else ("", "")


def _rules() -> str:
    compare_rules()
    return ""


def _drive_story(name: str) -> str:
    tour(name)
    return ""


def _replayed(path: Path) -> str:
    """In the release that the story is of; nothing of a story that does not apply."""
    replayed = replay_story(read_story(path))
    if replayed.failed is not None:
        line, why = replayed.failed
        return f"line {line}: {why.splitlines()[0]}"
    applies = replayed.why_not is None
    return "no state was compared" if applies and replayed.verdict is not Verdict.HOLDS else ""


def _walk(seed: int, release: str | None = None) -> str:
    effects = EffectsOfOnePartition()
    walk(seed, STEPS, enabledness_every=20, effects=effects, version=release)
    return ""


def _walk_cluster(seed: int, faults: str, release: str) -> str:
    effects = EffectsOfCluster()
    walk_cluster(seed, CLUSTER_STEPS, faults=faults, effects=effects, version=release)
    return ""


def _traced(seed: int, faults: str, release: str) -> str:
    settles = Release.of(release).since("2.2")
    report = judged_run(seed, TRACED_STEPS.get(faults, FEWER_STEPS), faults, release, settles)
    if report.verdict is Verdict.HOLDS:
        return ""
    first = report.findings[0]
    return f"line {first.line}: {first.why}"


def _logged(seed: int, faults: str, release: str) -> str:
    return judged_logs(seed, LOGGED_STEPS, faults, release).first


def _claimed(seed: int, faults: str, release: str) -> str:
    run = run_whole_cluster(seed, CLAIMED_STEPS, faults, release=release)
    return run.broken or run.goes_on


@cache
def _answered_by_the_model() -> tuple[tuple[str, bool, list[Case]], ...]:
    """File, whether a plain rule answered in place of a transition -> the cases that the model's
    side answers as they say."""
    found = []
    for path in sorted(CASES.rglob("*.json")):
        row = judge_cases(path.name, read_cases(path), "model", answers_of("model"))
        passed = [one for one in row.judged if one.outcome is Outcome.PASSED]
        for by_rule in (False, True):
            some = [one.case for one in passed if isinstance(one.got, ByRule) == by_rule]
            found.append((path.name, by_rule, some))
    return tuple(found)


def _cases(by_rule: bool) -> str:
    for name, of_rules, cases in _answered_by_the_model():
        if of_rules != by_rule:
            continue
        for one in judge_cases(name, cases, "impl", answers_of("impl")).judged:
            if one.outcome is Outcome.FAILED:
                return f"{name}: {one.case.operation}: {one.got}, and the model as the case says"
    return ""


def _edges(system: str, family: str, other: str | None = None) -> str:
    about = map_of(system)
    part = about.families[family] if family else None
    bounds = {**about.small, **(part.bounds if part else {})}
    states, release = MORE_STATES.get(system, STATES), other or (part.version if part else None)
    report = walk_edges(bounds, states, about=about, version=release, family=part)
    return _first(report)


def _walk_family(system: str, family: str, other: str | None = None) -> str:
    about = map_of(system)
    part = about.families[family] if family else Family("", {})
    for seed in range(PART_SEEDS if other is None else OTHER_PART_SEEDS):
        walk_part(about, part, seed, PART_STEPS, other or part.version)
    return ""


def _first(report: EdgeReport) -> str:
    if not report.mismatches:
        return ""
    return f"state {report.states}: {report.mismatches[0].splitlines()[0]}"


def _small_of(system: str) -> tuple[str, ...]:
    """The parts of a graph that are of any release, and small."""
    if system not in ("replication", "topics"):
        return ()
    return tuple(name for name, one in map_of(system).families.items() if not one.is_large)


def _all() -> Iterator[Judge]:
    yield Judge("rules", "rules", _rules)
    for name in tours():
        yield Judge(f"story {name}", "story", partial(_drive_story, name))
    for path, system in systems_of_stories().items():
        yield Judge(f"replayed {path.stem}", f"stories of {system}", partial(_replayed, path))
    for seed in SEEDS:
        yield Judge(f"replication, seed {seed}", "replication", partial(_walk, seed))
    for release in OLD_RELEASES:
        for seed in SEEDS[:3]:
            name = f"replication {release}, seed {seed}"
            yield Judge(name, f"replication {release}", partial(_walk, seed, release))
    for seed, faults, release in TRACED_RUNS:
        name = f"brokers of {release}, {faults}, seed {seed}"
        yield Judge(name, "brokers", partial(_traced, seed, faults, release))
    for seed, faults, release in LOGGED_RUNS:
        name = f"logs of {release}, {faults}, seed {seed}"
        yield Judge(name, OF_LOGS, partial(_logged, seed, faults, release))
    for seed, faults, release in CLAIMED_RUNS:
        name = f"claims of {release}, {faults}, seed {seed}"
        yield Judge(name, f"{OF_CLAIMS}, {faults}", partial(_claimed, seed, faults, release))
    if CASES.is_dir():
        yield Judge("cases", "cases", partial(_cases, False))
        yield Judge("cases of plain rules", "cases of rules", partial(_cases, True))
    for seed, faults, release in CLUSTER_WALKS:
        name = f"cluster {release}, {faults}, seed {seed}"
        yield Judge(name, "cluster", partial(_walk_cluster, seed, faults, release))
    for system in MAPPED:
        for family in ("", *map_of(system).families):
            name = f"edges of {system}" + (f", {family}" if family else "")
            yield Judge(name, f"edges of {system}", partial(_edges, system, family))
        for release in OTHER_RELEASES.get(system, ()):
            for family in ("", *_small_of(system)):
                name = f"edges of {system} {release}" + (f", {family}" if family else "")
                judged = partial(_edges, system, family, release)
                yield Judge(name, f"edges of {system} {release}", judged)
    for system in ("election", "topics", "reassignment"):
        for family in ("", *map_of(system).families):
            name = f"walks of {system}" + (f", {family}" if family else "")
            yield Judge(name, f"walks of {system}", partial(_walk_family, system, family))
        for release in OTHER_RELEASES[system]:
            for family, part in {"": Family("", {}), **map_of(system).families}.items():
                if part.version is None:
                    name = f"walks of {system} {release}" + (f", {family}" if family else "")
                    judged = partial(_walk_family, system, family, release)
                    yield Judge(name, f"walks of {system} {release}", judged)


JUDGES: dict[str, Judge] = {one.name: one for one in _all()}

OF_ONE_PARTITION = tuple(
    one.name for one in JUDGES.values()
    if one.kind in ("rules", "story", "replication", "edges of replication")
)  # fmt: skip
"""What the old bugs are judged by."""


def judge(names: Iterable[str] = tuple(JUDGES)) -> Judgement:
    """The first difference that the judges find in this process's implementation."""
    for name in names:
        said = JUDGES[name].judge()
        if said[0]:
            return said
    return "", ""


@dataclass(frozen=True)
class DifferingJudges:
    """Key of a mutant -> the judges in whose run it differs at once, in the order of `JUDGES`;
    seconds of each judge."""

    judges: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)


def reach(
    progress: Callable[[str], None] = lambda _: None, file: Path | None = None
) -> tuple[Judgement, DifferingJudges]:
    """The judges' results for the original implementation, and the judges in which each mutant
    differs.

    Measurements are stored in the file, if there is one, and not repeated: only one judge of each
    kind runs once more. What is compiled for the model's side meanwhile is available to the
    children that are forked later.
    """
    keys = {module: [one.key for one in mutants_of(module)] for module in MODULES}
    found: dict[str, list[str]] = {}
    seconds: dict[str, float] = {}
    kept = KeptReach(file)
    kinds = set()
    if any(one.kind.startswith("cases") for one in JUDGES.values()):
        _answered_by_the_model()  # before changes are noted
    with DifferenceRecorder(MODULES) as notes:
        for number, one in enumerate(JUDGES.values(), 1):
            progress(f"{number} of {len(JUDGES)} judges look at what is there: {one.name}")
            known = kept.measured.get(one.name)
            if known is None or one.kind not in kinds:
                forget(MODULES)
                began = time.process_time()
                said = one.judge()
                if said[0]:
                    return said, DifferingJudges()
                took, noted = time.process_time() - began, notes.take()
                known = known or kept.add(one.name, took, noted)
                kinds.add(one.kind)
            seconds[one.name] = known.seconds
            for module, numbers in known.differ.items():
                for each in numbers:
                    found.setdefault(keys[module][each], []).append(one.name)
    return ("", ""), DifferingJudges({key: tuple(names) for key, names in found.items()}, seconds)


class CaughtByModule:
    """Counts how many mutants of each module each judge has caught."""

    def __init__(self) -> None:
        self._of: Counter[tuple[str, str]] = Counter()
        self._all: Counter[str] = Counter()

    def note(self, module: str, judge: str) -> None:
        """Notes that a judge caught a mutant of a module; not called for survivors and hangs."""
        if judge in JUDGES:
            self._of[module, judge] += 1
            self._all[judge] += 1

    def worth(self, module: str, judge: str, seconds: float) -> float:
        """The catches to expect of a judge in a second; one without any yet has a chance too."""
        likely = self._of[module, judge] + self._all[judge] / 5 + 1 / 5
        return likely / max(seconds, SHORTEST_S)


def _drawn(mutant: Mutant, name: str) -> bytes:
    return hashlib.sha256(f"{mutant.key} {name}".encode()).digest()


def in_order(
    mutant: Mutant, reached: DifferingJudges, catches: CaughtByModule
) -> tuple[list[str], list[str]]:
    """The judges in whose run a mutant differs, in two groups: those that run first, and the rest.

    Of each kind some are drawn, by the mutant's name: mutants of one line get different walks. The
    judge of most worth runs first; logs and claims follow, and plain rules run last.
    """
    kinds: dict[str, list[str]] = {}
    for name in reached.judges.get(mutant.key, ()):
        kinds.setdefault(JUDGES[name].kind, []).append(name)
    for names in kinds.values():
        names.sort(key=lambda name: _drawn(mutant, name))
    turns = [one for turn in zip_longest(*kinds.values()) for one in turn if one is not None]
    turns.sort(key=lambda name: -catches.worth(mutant.module, name, reached.seconds.get(name, 1.0)))
    drawn = {name for names in kinds.values() for name in names[:AT_FIRST]}
    first = [one for one in turns if one in drawn and JUDGES[one].kind not in OF_RULES]
    first.sort(key=lambda name: JUDGES[name].is_beside_the_model)
    rest = iter([one for one in turns if one not in drawn])
    left = MOST_S - sum(reached.seconds.get(name, 1.0) for name in drawn)
    last = []
    while left > 0 and (one := next(rest, None)) is not None:
        last.append(one)
        left -= reached.seconds.get(one, 1.0)
    return first, [*last, *(one for one in turns if one in drawn and one not in first)]
