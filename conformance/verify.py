"""The main job: prove, explore, find the known bugs, compare both sides, check real logs.

Each row is one claim and its expected verdict; a row of a historical bug must be broken. Bounds are
small by default, and larger with `deep`.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from conformance.lockstep import BOUNDS, Mismatch
from conformance.replay import judge
from conformance.verify_brokers import RowResult, Running, edges_row, lockstep_row, mutants_row
from conformance.verify_brokers import planned as of_serving_code
from conformance.walks import walk
from impl.world.partition_simulator import simulate
from model.language import RecordedSystem
from model.replication.alter_isr import SYSTEM as BY_ALTER_ISR
from model.systems import system
from specs.explorer import Exploration, explore, find, with_companions
from specs.invariants import Proof
from specs.proofs.before_2_7 import PROOF as BEFORE_2_7
from specs.proofs.no_message_loss import PROOF as NO_MESSAGE_LOSS
from specs.proofs.progress import progress
from specs.proofs.since_2_7 import PROOF as SINCE_2_7
from specs.proofs.single_controller import PROOF as SINGLE_CONTROLLER
from specs.prover import prove
from specs.refinement import ComposedSystem, compose, refinement_proof
from specs.refinement.since_2_7 import compose_since_2_7, refinement_since_2_7
from specs.rendering import parts, rounded
from specs.runs import replay_command
from specs.verdict import Verdict, combine

Report = Callable[[str], None]
HISTORY = "as history says"


@dataclass
class ClaimRow:
    """One claim, and its verdict."""

    ALSO: ClassVar = parts("as_expected")

    claim: str
    words: str
    system: str
    version: str
    expected: Verdict
    bounds: dict[str, int | str]
    verdict: Verdict = Verdict.NOT_CHECKED
    distinct: int | None = None
    counts: str = ""
    seconds: float = field(default=0.0, metadata=rounded(3))
    note: str = ""
    show: str = ""
    without: dict[str, object] = field(default_factory=dict)

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the expected one: a row that should be broken must be broken."""
        return self.verdict is self.expected


@dataclass(frozen=True)
class ExplorationRow:
    """One exploration for several rows: claims of a system; all hold but those in `broken`."""

    system: str
    version: str
    bounds: Mapping[str, int]
    claims: tuple[str, ...]
    broken: tuple[str, ...] = ()
    symmetry: bool = False


@dataclass(frozen=True)
class HistoricBugRow:
    """A historical bug that must be found: a claim, and the version or switch that has the bug."""

    claim: str
    system: str
    version: str
    bounds: Mapping[str, int]
    without: tuple[str, ...] = ()


PROOFS = (SINGLE_CONTROLLER, NO_MESSAGE_LOSS)

PROGRESS = tuple(progress()[name] for name in (
    "all_brokers_know_the_controller", "a_leader_is_followed_by_all"))  # fmt: skip
"""What happens in the end, given the invariants of PROOFS: proofs that take seconds."""

DEEP_PROOFS = (
    *(one for one in progress().values() if one not in PROGRESS), BEFORE_2_7, SINCE_2_7,
)  # fmt: skip

REFINES = (
    "replication_refines_its_proof",
    "every step of replication is one of replication_history, some, or none: so what is proved of "
    "that form holds of what is explored and implemented",
)
"""The claim and the words of the row that ties the executable `replication` to its proof."""

_DESIGNS = ("hw_truncation", "kip_101", "kip_279", "kip_320_first_try", "kip_320")
_LOST_IN = ("hw_truncation", "kip_101", "kip_279")
_REPLICATION = (
    "no_message_loss", "isr_holds_committed", "log_matching", "leader_unique", "leader_in_isr",
)  # fmt: skip

EXPLORATIONS: tuple[ExplorationRow, ...] = (
    *(
        ExplorationRow(
            "classic", design, {"log": 2, "records": 2, "epoch": 1}, ("strong_isr",),
            broken=("strong_isr",) if design in _LOST_IN else (),
        )
        for design in _DESIGNS
    ),
    ExplorationRow("classic", "kip_320", {"epoch": 2}, ("strong_isr", "weak_isr", "leader_in_isr")),
    ExplorationRow(
        "election", "2.3", {"brokers": 3, "epoch": 3},
        ("single_controller", "single_writer", "no_older_controller_is_obeyed"), symmetry=True,
    ),
    ExplorationRow("replication", "2.5", {"crashes": 1, "losses": 1}, _REPLICATION, symmetry=True),
    ExplorationRow(
        "reassignment", "2.3", {},
        ("one_replica_set_has_all_commits", "isr_holds_committed",
         "request_is_removed_only_when_done"),
        symmetry=True,
    ),
    ExplorationRow(
        "topics", "2.3", {},
        ("deleted_data_returns_only_after_reassignment", "deleted_topics_leave_no_data",
         "state_changes_are_valid"), symmetry=True,
    ),
    ExplorationRow("cluster", "2.3", {},
              ("idle_metadata_agrees_with_zookeeper", "single_writer", "leader_unique")),
)  # fmt: skip

FINDINGS: tuple[HistoricBugRow, ...] = (
    HistoricBugRow("strong_isr", "classic", "kip_320_first_try", {"epoch": 2}),
    HistoricBugRow("single_writer", "election", "2.3", {}, ("zk_writes_fenced",)),
    HistoricBugRow("no_older_controller_is_obeyed", "election", "2.3", {}, ("broker_epoch",)),
    HistoricBugRow("no_message_loss", "replication", "0.10", {"crashes": 1}),
    HistoricBugRow(  # KAFKA-9338
        "isr_holds_committed",
        "replication",
        "2.3",
        {"epoch": 3, "versions": 3, "expiries": 0},
    ),
    HistoricBugRow(
        "no_message_loss",
        "replication",
        "2.5",
        {"versions": 4, "losses": 1, "expiries": 0},
        ("lost_isr_answer_blocks",),
    ),
)

DEEP_EXPLORATIONS: tuple[ExplorationRow, ...] = (
    ExplorationRow("classic", "kip_320", {"log": 3, "records": 3, "epoch": 2}, ("strong_isr",)),
    ExplorationRow("classic", "kip_320", {"epoch": 3}, ("strong_isr",), symmetry=True),
    ExplorationRow(
        "election",
        "2.3",
        {"brokers": 3, "epoch": 3, "writes": 2},
        ("single_controller",),
        symmetry=True,
    ),
    ExplorationRow("replication", "2.5", {"log": 2, "records": 2}, _REPLICATION, symmetry=True),
    ExplorationRow(
        "replication",
        "2.5",
        {"brokers": 3, "expiries": 0, "losses": 1},
        _REPLICATION,
        symmetry=True,
    ),
    ExplorationRow(
        "replication",
        "2.5",
        {"log": 2, "records": 2, "epoch": 3, "versions": 3, "expiries": 0},
        _REPLICATION,
        symmetry=True,
    ),
    ExplorationRow("replication", "2.5", {"controllers": 2}, _REPLICATION, symmetry=True),
    ExplorationRow("replication", "2.5", {"epoch": 3, "versions": 3}, _REPLICATION, symmetry=True),
)


def verify(deep: bool = False, report: Report = lambda line: None) -> Iterator[ClaimRow]:
    """Yields every row as soon as it is known. Spark runs in its own process meanwhile."""
    with (
        tempfile.TemporaryDirectory(prefix="insync-verify-") as folder,
        _Logs(Path(folder)) as logs,
        Running(Path(folder)) as running,
    ):
        explorations = EXPLORATIONS + (DEEP_EXPLORATIONS if deep else ())
        proved = {}
        for proof in PROOFS:
            proved[proof.claim] = _proved(proof, report)
            yield proved[proof.claim]
        both = compose()
        yield _refines(proved[NO_MESSAGE_LOSS.claim], both, refinement_proof(both), report)
        for proof in _more_proofs(deep):
            proved[proof.claim] = _proved(proof, report, proved)
            yield proved[proof.claim]
        if deep:
            both = compose_since_2_7()
            yield _refines(proved[SINCE_2_7.claim], both, refinement_since_2_7(both), report)
        for exploration in explorations:
            yield from _explored(exploration, report)
        for finding in FINDINGS:
            yield _find_bug(finding, report)
        yield _in_step(200 if deep else 24, report)
        yield _replayed(60 if deep else 10, report)
        yield _row(lockstep_row(60 if deep else 8, 60, report))
        yield _row(edges_row(report))
        yield _row(mutants_row())
        for said in running.rows(report):
            yield _row(said)
        yield from logs.rows(report)


def planned(deep: bool = False) -> list[tuple[str, str]]:
    """The claim and the system of each row that `verify` yields, in order."""
    explorations = EXPLORATIONS + (DEEP_EXPLORATIONS if deep else ())
    rows = [(proof.claim, f"{proof.system} {system(proof.system).default_version}")
            for proof in PROOFS]  # fmt: skip
    rows += [(REFINES[0], f"replication {system('replication').default_version}")]
    rows += [(proof.claim, f"{proof.system} {(proof.form or system(proof.system)).default_version}")
             for proof in _more_proofs(deep)]  # fmt: skip
    if deep:
        rows += [(REFINES[0], f"{BY_ALTER_ISR.name} {BY_ALTER_ISR.default_version}")]
    rows += [(claim, f"{one.system} {one.version}") for one in explorations for claim in one.claims]
    rows += [
        (one.claim, " without ".join([f"{one.system} {one.version}", *one.without]))
        for one in FINDINGS
    ]
    rows += [("lock_step", "replication 2.3"), ("trace_equivalence", "replication 2.3")]
    rows += of_serving_code()
    return rows + [("control_plane", "logs 2.3")] * len(_Logs.ABOUT)


def overall(rows: list[ClaimRow]) -> Verdict:
    """Holds if every row is as expected; else the worst of what is not."""
    if not rows:
        return Verdict.NOT_CHECKED
    wrong = [
        # What should be broken and holds means that a check has lost its teeth.
        Verdict.BROKEN if row.expected is Verdict.BROKEN and row.verdict is Verdict.HOLDS
        else row.verdict
        for row in rows
        if not row.as_expected
    ]  # fmt: skip
    return combine(wrong) if wrong else Verdict.HOLDS


def _more_proofs(deep: bool) -> tuple[Proof, ...]:
    return (*PROGRESS, *(DEEP_PROOFS if deep else ()))


def _proved(proof: Proof, report: Report, others: Mapping[str, ClaimRow] | None = None) -> ClaimRow:
    """A proof; nothing where that of which it assumes the invariants is not proved."""
    recorded = (proof.form or system(proof.system)).recorded()
    claim = recorded.claim(proof.claim)[0]
    row = ClaimRow(
        claim.name, claim.sentence, proof.system, recorded.version, Verdict.HOLDS,
        {"brokers": "any", "epoch": "any"}, show=f"insync prove {claim.name} --each",
    )  # fmt: skip
    given = (others or {}).get(proof.given or "")
    if given is not None and given.verdict is not Verdict.HOLDS:
        row.note = f"{given.claim} is not proved"
        return row
    return _discharged(row, proof, recorded, report)


def _refines(of_the_form: ClaimRow, both: ComposedSystem, proof: Proof, report: Report) -> ClaimRow:
    """Whether `replication` refines the form that is proved: nothing unless that form is proved."""
    row = ClaimRow(
        *REFINES, proof.system, both.recorded.version, Verdict.HOLDS,
        {"brokers": "any", "epoch": "any"}, show=f"insync prove {of_the_form.claim} --each",
    )  # fmt: skip
    if of_the_form.verdict is not Verdict.HOLDS:
        row.note = f"{of_the_form.claim} of {of_the_form.system} is not proved"
        return row
    return _discharged(row, proof, both.recorded, report)


def _discharged(row: ClaimRow, proof: Proof, recorded: RecordedSystem, report: Report) -> ClaimRow:
    report(f"proving {row.claim}")
    started = time.perf_counter()
    asked = 0

    def count(_one: object) -> None:
        nonlocal asked
        asked += 1
        report(f"proving {row.claim}: {asked:,} obligations")

    result = prove(proof, recorded, each=count)
    row.seconds = time.perf_counter() - started
    row.verdict = result.verdict
    row.counts = f"{len(result.obligations)} obligations, {result.solver_calls} by Z3"
    row.note = "proved" if result.verdict is Verdict.HOLDS else f"{len(result.open)} open"
    return row


def _explored(one: ExplorationRow, report: Report) -> Iterator[ClaimRow]:
    chosen = system(one.system)
    recorded = chosen.recorded(one.version)
    bounds = chosen.limits(one.bounds)
    where = f"{one.system} {one.version}"
    result = explore(
        recorded, bounds, with_companions(recorded, one.claims),
        report=lambda line: report(f"exploring {where}: {line}"), symmetry=one.symmetry,
    )  # fmt: skip
    for position, name in enumerate(one.claims):
        claim = result.claims[name]
        broken = name in one.broken
        row = ClaimRow(
            name, claim.sentence, one.system, one.version,
            Verdict.BROKEN if broken else Verdict.HOLDS, dict(bounds),
            claim.verdict, result.distinct,
            # One exploration answers all of its claims: its counts and time are reported once.
            _counts(result) if position == 0 else "",
            result.seconds if position == 0 else 0.0,
        )  # fmt: skip
        if claim.verdict is Verdict.HOLDS and not result.complete:
            row.verdict = Verdict.UNKNOWN
        if claim.verdict is Verdict.BROKEN:
            taken = _steps(claim.depth)
            row.note = f"{HISTORY} ({taken})" if broken else taken
            row.show = replay_command("find", one.system, one.version, {}, bounds, name)
        yield row


def _steps(depth: int | None) -> str:
    """What `find` counts: steps of a run, one fewer than its states."""
    number = (depth or 1) - 1
    return f"{number} step{'' if number == 1 else 's'}"


def _counts(result: Exploration) -> str:
    what = "orbits" if result.engine.symmetry else "states"
    return f"{result.distinct:,} {what}, up to {_steps(result.depth)}"


def _find_bug(one: HistoricBugRow, report: Report) -> ClaimRow:
    chosen = system(one.system)
    without: dict[str, object] = dict.fromkeys(one.without, False)
    recorded = chosen.recorded(one.version, without)
    bounds = chosen.limits(one.bounds)
    claim = recorded.claim(one.claim)[0]
    report(f"finding {one.claim} in {one.system} {one.version}")
    result, run = find(recorded, bounds, one.claim)
    row = ClaimRow(
        one.claim, claim.sentence, one.system, one.version, Verdict.BROKEN, dict(bounds),
        result.claims[one.claim].verdict, result.distinct, f"{result.distinct:,} states",
        result.seconds, without=without,
    )  # fmt: skip
    if run is not None:
        row.note, row.show = f"{HISTORY} ({_steps(run.depth)})", run.replay
    return row


def _row(said: RowResult) -> ClaimRow:
    return ClaimRow(
        said.claim, said.words, said.system, "2.3", Verdict.HOLDS, {"brokers": 3}, said.verdict,
        said.distinct, said.counts, said.seconds, said.note, said.show,
    )  # fmt: skip


def _in_step(seeds: int, report: Report) -> ClaimRow:
    row = ClaimRow(
        "lock_step", "every step of the implementation is the model's, and the reverse",
        "replication", "2.3", Verdict.HOLDS, dict(BOUNDS),
    )  # fmt: skip
    started = time.perf_counter()
    steps = 0
    row.verdict = Verdict.HOLDS
    for seed in range(seeds):
        report(f"lock-step, seed {seed} of {seeds}: {steps:,} steps")
        try:
            progress = walk(seed, steps=250, enabledness_every=10)
        except Mismatch as mismatch:
            row.verdict, row.note = Verdict.BROKEN, f"seed {seed}: {str(mismatch).splitlines()[0]}"
            break
        steps += progress.steps
    if not steps and row.verdict is Verdict.HOLDS:
        row.verdict = Verdict.NOT_CHECKED
    row.seconds = time.perf_counter() - started
    row.counts = f"{seeds} seeds, {steps:,} steps"
    return row


def _replayed(seeds: int, report: Report) -> ClaimRow:
    row = ClaimRow(
        "trace_equivalence", "recorded runs of the implementation are runs of the model",
        "replication", "2.3", Verdict.HOLDS, {"brokers": 3},
        show="insync simulate --seeds 0..9",
    )  # fmt: skip
    started = time.perf_counter()
    lines, verdicts = 0, []
    for seed in range(seeds):
        report(f"replaying traces, seed {seed} of {seeds}")
        result = judge(simulate(seed, 400, "everything", 3), f"seed {seed}")
        lines += result.accepted
        verdicts.append(result.verdict)
        if result.findings:
            row.note = f"seed {seed}, line {result.findings[0].line}: {result.findings[0].rule}"
            break
    row.verdict = combine(verdicts)
    row.seconds = time.perf_counter() - started
    row.counts = f"{len(verdicts)} runs, {lines:,} lines"
    return row


PAIR = Path(__file__).parents[1] / "tests" / "data" / "logs"
"""The logs of a small simulated run, and of the same run with a fault; its README says where."""


class _Logs:
    """The pair of logs that ships, checked by Spark in the background."""

    ABOUT: ClassVar = {
        "correct": ("broker logs of a correct run obey the protocol", Verdict.HOLDS),
        "planted": ("a broker that applies an older leader epoch is caught", Verdict.BROKEN),
    }

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running: subprocess.Popen[bytes] | None = None
        self._planted: set[str] = set()

    def __enter__(self) -> _Logs:
        text = (PAIR / "planted" / "README.txt").read_text(encoding="utf-8")
        self._planted = {f"planted/{place}" for place in re.findall(r"^broker\S+:\d+", text, re.M)}
        script = (
            "import sys; from conformance.verify import check_sample_logs; "
            "check_sample_logs(sys.argv[1])"
        )
        self._running = subprocess.Popen(
            [sys.executable, "-c", script, str(self._folder)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            env={**os.environ, "TMPDIR": tempfile.gettempdir()},  # removed with what is ours
        )  # fmt: skip
        return self

    def __exit__(self, *_exc: object) -> None:
        if self._running is not None and self._running.poll() is None:
            self._running.terminate()
            self._running.wait()

    def rows(self, report: Report) -> Iterator[ClaimRow]:
        """One row a log folder, once Spark is done."""
        assert self._running is not None
        report("checking broker logs on Spark")
        _, errors = self._running.communicate()
        for name, (words, expected) in self.ABOUT.items():
            row = ClaimRow(
                "control_plane", words, "logs", "2.3", expected, {"brokers": 3},
                show="insync check tests/data/logs/" + name,
            )  # fmt: skip
            outcome = self._folder / f"{name}.json"
            if not outcome.exists():
                last = errors.decode(errors="replace").strip().splitlines()
                row.note = f"the check itself failed: {last[-1] if last else 'no output'}"
                yield row
                continue
            said = json.loads(outcome.read_text(encoding="utf-8"))
            row.verdict = Verdict(said["verdict"])
            row.seconds = said["seconds"]
            row.counts = f"{said['lines']['read']:,} lines, {said['lines']['events']:,} events"
            places = [
                f"{Path(one['file']).relative_to(PAIR)}:{one['line']}" for one in said["findings"]
            ]
            if name == "planted" and places and set(places) <= self._planted:
                row.note = f"as planted, {places[0]}"
            elif places:  # caught, but not what was planted: no reason to trust it
                row.verdict, row.note = Verdict.UNKNOWN, f"found {', '.join(places)}"
            yield row


def check_sample_logs(folder: str) -> None:
    """Checks both log folders with one Spark session; leaves a JSON file of each in a folder."""
    from conformance.cli.check import checked

    for name in _Logs.ABOUT:
        started = time.perf_counter()
        result = checked([str(PAIR / name)])
        result["seconds"] = time.perf_counter() - started
        part = Path(folder) / f"{name}.part"
        part.write_text(json.dumps(result), encoding="utf-8")
        part.replace(part.with_suffix(".json"))
