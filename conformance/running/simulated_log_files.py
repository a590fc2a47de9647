"""Simulates clusters that write Kafka's log lines, judged as the logs of real brokers are.

A simulated whole cluster combines what no single system of the model has: topics that are deleted
while their partitions move, brokers that stop meanwhile, controllers that take over during that.
Its brokers report their steps to the same writers as running brokers, and the pipeline asks the
model about each write, request and epoch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from conformance.ingest.files import discover
from conformance.pipeline.corpus import Corpus, JudgedCorpus
from conformance.pipeline.local import LocalEngine
from conformance.pipeline.rules import BREAKS, Finding, FindingKind
from impl.core.journal import ControllerJournal
from impl.core.replica_events import LogTruncating, ReplicaEvent
from impl.log import Log
from impl.releases import DEFAULT
from impl.server.controller_lines import ControllerLines
from impl.server.log4j_files import Log4jFiles
from impl.server.replica_lines import ReplicaLines
from impl.sim.simulation import StepKind
from impl.world.simulated_broker import FOLDER
from impl.world.simulated_cluster import STEP_MS as WIDE_STEP_MS
from impl.world.whole_cluster.node import BrokerObserver, ClusterNode
from impl.world.whole_cluster.runs import run_whole_cluster, world_settings
from impl.world.whole_cluster.steps import WHOLE_CLUSTER_STEPS
from impl.world.whole_cluster.whole_cluster import FIRST_INSTANT_MS, WholeCluster
from impl.znodes import TopicPartition, paths
from impl.zookeeper.port import wait
from specs.verdict import Verdict

PORT = 9092

STEP_MS = 200
"""In logs a step takes so long, and each line of it one of them: what a broker wrote in one step is
in order in its several files, and lines of different terms are not close by."""


class _BrokerLogger(BrokerObserver):
    """Writes the lines of one broker, to its own folder."""

    def __init__(self, node: ClusterNode, folder: Path) -> None:
        super().__init__(node)
        self.files = Log4jFiles(folder, node.broker, node.release, self.stamped_ms)
        self.lines = ReplicaLines(self.files)
        self.written = 0, 0  # the step in which it wrote last, and how many lines
        self.log_starts: dict[tuple[str, int, str], int] = {}  # by partition and directory

    def stamped_ms(self) -> int:
        """When its next line is written."""
        step, lines = (self.node.now_ms() - FIRST_INSTANT_MS) // WIDE_STEP_MS, self.written[1]
        self.written = step, lines + 1 if step == self.written[0] else 0
        return FIRST_INSTANT_MS + step * STEP_MS + min(self.written[1], STEP_MS - 1)

    def _logs(self) -> Iterator[tuple[TopicPartition, Log]]:
        for partition in self.node.logs.partitions:
            log = self.node.logs.log(partition)
            assert log is not None, "a partition that is listed has a log"
            yield TopicPartition(*partition), log

    def starting(self) -> None:
        """The lines before a start."""
        self.log_starts = {}
        self.files.startup_lines()

    def loaded(self) -> None:
        """A line for each log."""
        for partition, log in self._logs():
            folder = log.directory.rpartition("/")[0]
            self.files.loaded(partition, folder, len(log.segments), log.log_start, log.log_end)

    def journal(self) -> ControllerJournal:
        """A controller's lines."""
        return ControllerLines(self.files)

    def registering(self) -> None:
        """A line before it registers."""
        self.files.broker_registering()

    def registered(self) -> None:
        """A line when it has."""
        self.files.broker_registered(f"b{self.node.broker}", PORT, self.node.epoch)

    def started(self) -> None:
        """The last line of a start."""
        self.files.server("started")

    def session_expired(self) -> None:
        """A line before it registers again."""
        self.files.session_expired()

    def replica_event(self, event: ReplicaEvent) -> None:
        """The lines of a replica."""
        if isinstance(event, LogTruncating):
            replica = self.node.replicas.partitions.get(event.partition)
            leader = -1 if replica is None or replica.leader is None else replica.leader
            place = FOLDER if replica is None else replica.log.directory
            self.lines.truncating(event, place, leader, 0)
        else:
            self.lines(event)

    def event_failed(self, name: str, error: Exception) -> None:
        """A line of the controller's event thread."""
        why = f"{type(error).__name__}: {error}"
        wait(ControllerLines(self.files).event_failed(name, why))

    def note_log_starts(self) -> None:
        """Lines of logs that begin later than they did."""
        for partition, log in self._logs():
            at = (*partition, log.directory)
            before = self.log_starts.get(at, log.log_start)
            self.log_starts[at] = log.log_start
            if before < log.log_start:
                self.lines.log_start_raised(partition, log.log_start, log.directory)


class RunLogger:
    """A simulated whole cluster whose brokers write Kafka's log lines into a folder."""

    def __init__(self, folder: Path, **given: Any) -> None:
        self.loggers: dict[int, _BrokerLogger] = {}

        def observer(node: ClusterNode) -> BrokerObserver:
            logger = _BrokerLogger(node, folder / f"broker{node.broker}")
            return self.loggers.setdefault(node.broker, logger)

        kinds = {name: self._logged(kind) for name, kind in WHOLE_CLUSTER_STEPS.items()}
        self.world = WholeCluster(kinds, observer=observer, **given)

    def _logged(self, kind: StepKind) -> StepKind:
        """A step of which the core does not report all: a broker that goes by itself says so."""

        def act(world: WholeCluster, *args: int) -> None:
            leaves = self.loggers[args[0]].files if kind.name == "broker_shuts_down" else None
            if leaves is not None:
                leaves.server("shutting down")
            kind.act(world, *args)
            if leaves is not None:
                leaves.server("shut down completed")
            for number, node in world.nodes.items():
                if node.up:
                    self.loggers[number].note_log_starts()

        return replace(kind, act=act)

    def close(self) -> None:
        """No more lines."""
        for logger in self.loggers.values():
            logger.files.close()


def run_with_log_files(
    folder: Path, seed: int, steps: int, faults: str = "everything", release: str = DEFAULT,
    topics: int = 2, settles: bool = False,
) -> tuple[int, str]:  # fmt: skip
    """Runs a cluster, leaves its logs in ``folder``, and returns how many steps it took.

    The second value is a claim of the simulator that does not hold of the run, else empty. With
    ``settles`` faults then end, all brokers are alive, and the cluster is left alone; the value may
    then be a claim of the model about what happens in the end.
    """
    logger = RunLogger(
        folder, brokers=4, topics=topics, partitions=2, release=release, seed=seed,
        **world_settings(faults, 4),
    )  # fmt: skip
    with closing(logger):
        run = run_whole_cluster(seed, steps, faults, settle=settles, world=logger.world)
        return run.steps, run.broken or _unfinished(logger.world, run.goes_on)


def _unfinished(world: WholeCluster, goes_on: str) -> str:
    """Which of the model's claims does not hold of a cluster that does not come to rest."""
    nodes = world.zookeeper.nodes
    if not goes_on:
        return ""
    if paths.CONTROLLER not in nodes:
        return "newest_controller_becomes_known: nobody is in /controller"
    if wait(world.admin.deletions()):
        return "requested_deletions_end: a topic is still to be deleted"
    if paths.REASSIGN_PARTITIONS in nodes:
        return "moves_finish: a move is still under way"
    return f"the_cluster_comes_to_rest: {goes_on}"


WRONG = {kind.value for kind in (*BREAKS, FindingKind.KNOWN_BUG)}
"""Findings that no log of a sound cluster may have. What a rule cannot place for want of a line is
none: of leader epochs that a broker was notified of it asks for lines that Kafka does not write."""


@dataclass
class LogsReport:
    """The findings in the logs of a run. ``checked``: by rule, how often it compared."""

    steps: int
    lines: int
    rejected: int
    findings: list[Finding]
    broken_claim: str = ""
    checked: Counter[str] = field(default_factory=Counter)
    fired: Counter[str] = field(default_factory=Counter)

    @property
    def verdict(self) -> Verdict:
        """Broken by a finding or a claim; not checked where nothing was compared. Lines that no
        template knows are counted, and break nothing."""
        if self.findings or self.broken_claim:
            return Verdict.BROKEN
        return Verdict.HOLDS if sum(self.checked.values()) else Verdict.NOT_CHECKED

    @property
    def first(self) -> str:
        """The first finding in a line, else the claim that does not hold; empty if none."""
        return next((f"{one.rule}: {one.why}" for one in self.findings), self.broken_claim)


def judge_logs(folder: Path, steps: int = 0, broken_claim: str = "") -> LogsReport:
    """Judges the logs of one cluster by every rule."""
    engine = LocalEngine()
    corpus: Corpus = engine.ingest(discover([str(folder)]), None)
    judged: JudgedCorpus = engine.judge(corpus)
    rejected = sum(one.count for one in corpus.figures.unknown)
    wrong = [one for one in judged.findings if one.kind in WRONG]
    return LogsReport(
        steps, corpus.figures.distinct, rejected, wrong, broken_claim, Counter(judged.checked),
        Counter(judged.fired) + Counter(judged.election_steps),
    )  # fmt: skip


def judged_logs(
    seed: int, steps: int, faults: str = "everything", release: str = DEFAULT, settles: bool = True
) -> LogsReport:
    """Runs a cluster, and judges its logs, and with ``settles`` also its final state. ValueError
    for an unknown profile."""
    with TemporaryDirectory(prefix="insync-logged-") as folder:
        run = run_with_log_files(Path(folder), seed, steps, faults, release, settles=settles)
        return judge_logs(Path(folder), *run)
