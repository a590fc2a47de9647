"""Runs chaos: real processes behind proxies, faults by a seed, and the verdict on the records."""

from __future__ import annotations

import contextlib
import re
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count, pairwise, permutations
from pathlib import Path
from typing import Any, ClassVar

from conformance.chaos.client_anomalies import (
    DIVERGED,
    LOST,
    LOST_READ,
    ON_DISK,
    TORN,
    WENT_BACK,
    Anomaly,
    find_anomalies,
    verdict_on,
)
from conformance.chaos.clients import OURS, at_work
from conformance.chaos.history import ClientHistory
from conformance.chaos.schedule import ChaosFault
from conformance.chaos.workload import TOPIC, Workload
from conformance.disks.compare_replicas import InspectedPartition
from conformance.disks.findings import Severity
from conformance.disks.inspect_directories import inspect
from conformance.disks.predicted_truncation import preset_for
from conformance.disks.read_directories import NothingHereError
from conformance.kafka.messages import ANSWER, REQUEST, KafkaReader, Message
from conformance.kafka.proxy import MessageGate, Proxy
from conformance.kafka.schedule import MessageFilter, MessageRule
from conformance.running.running_report import judge_running
from conformance.running.traced_cluster import SETTINGS as OF_BROKERS
from conformance.trace_report import TraceReport
from impl.releases import Release
from impl.server.clients import ClientError
from impl.server.cluster import TRACE, Cluster, new_state
from impl.server.groups.coordinator import OFFSETS_TOPIC
from impl.server.processes import ClusterError
from impl.server.trace import SUFFIX
from impl.wire import api_key
from impl.znodes import TopicPartition, paths
from impl.znodes.client import ZnodeClient
from impl.zookeeper.errors import NoNode, ZooKeeperError
from impl.zookeeper.port import wait
from specs.rendering import FLAT, HIDDEN, parts, under_key
from specs.verdict import Verdict, combine

OF_GROUPS = {"offsets.topic.num.partitions": "1", "group.initial.rebalance.delay.ms": "100"}
# Brokers live for half a minute here. At Kafka's interval of a minute none would ever write its
# recovery points, and each start would recover all that was ever written, and all that groups had
# committed as well, if that were in one segment.
OF_LOGS = {
    "log.segment.bytes": "65536",
    "log.flush.offset.checkpoint.interval.ms": "2000",
    "offsets.topic.segment.bytes": "1048576",
}
SETTINGS = OF_BROKERS | OF_GROUPS | OF_LOGS
DIRECTORIES = ("data", "data2")
RECOVERY_S = 60.0
OnProgress = Callable[[str], None]


@dataclass(frozen=True)
class ChaosPlan:
    """The plan of a run. After this many ``minutes`` no other fault begins."""

    faults: tuple[ChaosFault, ...] = field(metadata=HIDDEN)
    seed: int
    version: str
    brokers: int = 3
    partitions: int = 2
    min_isr: int = 2
    unclean: bool = False
    trace: bool = False
    minutes: float | None = None
    clients: tuple[str, ...] = (OURS,)


@dataclass
class ChaosReport:
    """The result of a run. ``unfinished`` says why the log could not be read at the end."""

    ALSO: ClassVar = parts("verdict", "rounds", "counts", "by_client")

    plan: ChaosPlan = field(metadata=FLAT)
    history: ClientHistory = field(default_factory=ClientHistory, metadata=HIDDEN)
    anomalies: list[Anomaly] = field(default_factory=list)
    allowed: Counter[str] = field(default_factory=Counter)
    befell: list[dict[str, Any]] = field(default_factory=list, metadata=under_key("faults"))
    unfinished: str = ""
    trace: TraceReport | None = None

    @property
    def verdict(self) -> Verdict:
        """The combined verdict of the clients' history and, if there is one, the trace."""
        found = verdict_on(self.history, self.anomalies, self.unfinished)
        return combine([found] if self.trace is None else [found, self.trace.verdict])

    @property
    def rounds(self) -> int:
        """The planned faults; `befell` are those that were carried out."""
        return len(self.plan.faults)

    @property
    def counts(self) -> dict[str, int]:
        """What clients did, in numbers."""
        return self.history.counts()

    @property
    def by_client(self) -> dict[str, dict[str, int]]:
        """What clients did, by library."""
        return self.history.by_client()


class ChaosCluster:
    """Brokers behind one proxy each; injects every fault by its name."""

    def __init__(self, folder: Path, plan: ChaosPlan) -> None:
        numbers = list(range(1, plan.brokers + 1))
        state = new_state(numbers, plan.version, "embedded", settings=_settings(plan))
        state.trace = plan.trace
        state.fillable = True
        self.gate = MessageGate()
        self.partitions = plan.partitions
        self.proxies: dict[int, Proxy] = {}
        passing = count(1)
        try:
            for broker, port in state.ports.items():
                proxy = Proxy(0, port, self.gate, _unread(str(broker)), passing)
                self.proxies[broker] = proxy
                state.advertised[broker] = proxy.port
            self.cluster = Cluster.create(folder, state)
        except BaseException:
            self.close_proxies()
            raise

    def start(self, partitions: int) -> None:
        """Starts everything, with the topic; raises ClusterError, and then nothing runs."""
        self.cluster.start()
        replicas = self.cluster.brokers
        places = {
            number: [replicas[(number + at) % len(replicas)] for at in range(min(3, len(replicas)))]
            for number in range(partitions)
        }
        with self._client() as client:
            wait(client.create_topic(TOPIC, places))

    @contextmanager
    def _client(self) -> Iterator[ZnodeClient]:
        port = self.cluster.session()
        try:
            yield ZnodeClient(port, self.cluster.release)
        finally:
            port.close()

    def inject(self, fault: ChaosFault) -> str:
        """Injects a fault until it is over; returns a remark on it.

        Raises ClusterError, ZooKeeperError or OSError if it could not be carried out.
        """
        if not all(map(self._runs, self.cluster.brokers)):
            self._started()  # one that was not known in time was ended again
        act: Callable[[ChaosFault], str | None] = getattr(self, f"_{fault.kind}")
        return act(fault) or ""

    def _kill(self, fault: ChaosFault) -> None:
        self.cluster.kill(fault.broker)
        time.sleep(fault.lasts)
        self._started(fault.broker)

    def _stop(self, fault: ChaosFault) -> None:
        self.cluster.stop_one(fault.broker)
        time.sleep(fault.lasts)
        self._started(fault.broker)

    def _pause(self, fault: ChaosFault) -> None:
        self.cluster.pause(fault.broker)
        try:
            time.sleep(fault.lasts)
        finally:
            self.cluster.resume(fault.broker)

    def _depose(self, _fault: ChaosFault) -> str:
        with self._client() as client:
            controller = wait(client.controller())
            with contextlib.suppress(NoNode):
                wait(client.port.delete(paths.CONTROLLER))
        return "nobody was controller" if controller is None else f"it was {controller}"

    def _cut(self, fault: ChaosFault) -> None:
        self.proxies[fault.broker].shut()
        try:
            time.sleep(fault.lasts)
        finally:
            self.proxies[fault.broker].admit()

    def _slow(self, fault: ChaosFault) -> None:
        which = MessageFilter("any", to=str(fault.broker))
        self.gate.add(MessageRule("delay", which, delay_ms=fault.delay_ms))
        try:
            time.sleep(fault.lasts)
        finally:
            self.gate.end(which)

    def _cascade(self, fault: ChaosFault) -> str:
        """Kills a leader, then the next. Up to 0.10 followers then cut to high watermarks."""
        partition = TopicPartition(TOPIC, fault.broker % self.partitions)
        with self._client() as client:
            first = wait(client.state(partition))
            others = [] if first is None else [one for one in first.isr if one != first.leader]
            if first is None or not others or not self._runs(first.leader):
                raise ClusterError("no broker could become leader")
            slow = [MessageFilter("Fetch", to=str(one)) for one in others]
            for which in slow:
                self.gate.add(MessageRule("delay", which, delay_ms=3000))
            try:
                self.cluster.kill(first.leader)
                deadline = time.monotonic() + 6
                while (now := wait(client.state(partition))) is None or now.leader == first.leader:
                    if time.monotonic() > deadline:
                        break
                    time.sleep(0.02)
                time.sleep(0.1)
                followed = -1 if now is None or now.leader == first.leader else now.leader
                if followed >= 0 and self._runs(followed):
                    self.cluster.kill(followed)
            finally:
                for which in slow:
                    self.gate.end(which)
        time.sleep(fault.lasts)
        self._started()
        return f"broker {first.leader}, then broker {followed} of {partition}"

    def _disk(self, fault: ChaosFault) -> str:
        """Replaces the directory by a file of that name: every access to a file in it fails."""
        folder = self.cluster.folder / f"broker{fault.broker}" / DIRECTORIES[-1]
        away = folder.with_name(f"{folder.name}.away")
        folder.rename(away)
        try:
            folder.touch()
            said = self._lasted(fault)
        finally:
            folder.unlink(missing_ok=True)
            away.rename(folder)
        self._started(fault.broker)
        return said

    def _full(self, fault: ChaosFault) -> str:
        """Makes every write that would grow a file there fail with ENOSPC."""
        marker = self.cluster.full_marker(fault.broker)
        folder = marker.with_name(DIRECTORIES[-1])
        unfinished = marker.with_name("full.unfinished")
        unfinished.write_text(f"{folder}\n", encoding="utf-8")
        unfinished.rename(marker)
        try:
            said = self._lasted(fault)
        finally:
            marker.unlink()
        self._started(fault.broker)
        return said

    def _lasted(self, fault: ChaosFault) -> str:
        """Waits while a broker cannot use a directory, then kills it; returns what it did."""
        time.sleep(fault.lasts)
        if not self._runs(fault.broker):
            return "ended by itself"
        self.cluster.kill(fault.broker)
        return "went on without it"

    def _runs(self, broker: int) -> bool:
        return self.cluster.pid(f"broker{broker}") is not None

    def _started(self, broker: int | None = None) -> None:
        """Starts a broker, or all that do not run; a slow one may register later."""
        with contextlib.suppress(ClusterError):
            self.cluster.start(20, None if broker is None else f"broker{broker}")

    def whole_again(self, partitions: int, patience_s: float) -> str:
        """Starts all brokers and waits for full ISRs; returns what is missing, "" if nothing."""
        deadline = time.monotonic() + patience_s
        left = "no broker could be started"
        while time.monotonic() < deadline:
            try:
                self.cluster.start()
                left = self._why_not_in_sync(partitions)
                if not left:
                    return ""
            except (ClusterError, ZooKeeperError) as error:
                left = str(error)
            time.sleep(0.2)
        return left

    def _why_not_in_sync(self, partitions: int) -> str:
        with self._client() as client:
            for number in range(partitions):
                registered = wait(client.topic(TOPIC))
                state = wait(client.state(TopicPartition(TOPIC, number)))
                if registered is None or state is None or state.leader < 0:
                    return f"{TOPIC}-{number} has no leader"
                lacking = set(registered.partitions[number].replicas) - set(state.isr)
                if lacking:
                    return f"{sorted(lacking)} of {TOPIC}-{number} are not in its ISR"
        return ""

    def stop(self) -> None:
        """Stops everything cleanly; the cluster can be started again without proxies."""
        self.cluster.stop(10)
        self.close_proxies()
        self.cluster.advertise({})

    def end(self) -> None:
        """Kills everything at once."""
        self.cluster.end(self.cluster.running(), signal.SIGKILL, 5.0)
        self.close_proxies()

    def close_proxies(self) -> None:
        """Closes the gate and all proxies."""
        self.gate.close()
        for proxy in self.proxies.values():
            proxy.close()


def _settings(plan: ChaosPlan) -> dict[str, str]:
    release = Release.of(plan.version)
    found = SETTINGS | {
        "min.insync.replicas": str(plan.min_isr),
        "unclean.leader.election.enable": str(plan.unclean).lower(),
        "offsets.topic.replication.factor": str(min(3, plan.brokers)),
    }
    if release.since("1.0"):  # before, one that fails ends the broker (KIP-112)
        found["log.dirs"] = ",".join(DIRECTORIES)
    else:
        found["log.dirs"] = DIRECTORIES[-1]
    return found


_FETCH = api_key("Fetch").to_bytes(2, "big")


class _Unread(KafkaReader):
    """Passes frames on without reading more than the first bytes of their headers."""

    def request(self, frame: bytes) -> Message:
        """A request, of any sender."""
        api = "Fetch" if frame[:2] == _FETCH else ""
        return Message(REQUEST, "?", self.to, api, frame, self.connection)

    def answer(self, frame: bytes) -> Message:
        """An answer."""
        return Message(ANSWER, "?", self.to, "", frame, self.connection)


def _unread(to: str) -> Callable[[int], _Unread]:
    return lambda connection: _Unread(to, connection)


def run_chaos(
    folder: Path, plan: ChaosPlan, on_progress: OnProgress = lambda text: None
) -> ChaosReport:
    """Makes a whole run; ends all processes. Raises ClusterError if the cluster does not start."""
    report = ChaosReport(plan)
    on_progress("the cluster starts")
    brokers = ChaosCluster(folder, plan)
    try:
        brokers.start(plan.partitions)
        workload = Workload(brokers.cluster.addresses(), plan.partitions, plan.seed)
        report.history = workload.history
        with at_work(workload, plan.clients, Release.of(plan.version).since("0.11")):
            workload.await_records()
            for number, fault in enumerate(plan.faults, 1):
                if plan.minutes is not None and workload.now() > 60 * plan.minutes:
                    break
                on_progress(f"{number} of {len(plan.faults)}: {fault}; "
                     f"{workload.acknowledged:,} records acknowledged")  # fmt: skip
                began, done = workload.now(), True
                try:
                    said = brokers.inject(fault)
                except (ClusterError, ZooKeeperError, OSError) as error:
                    said, done = f"not carried out: {error}", False
                report.befell.append(
                    fault._asdict() | {"at": began, "carried_out": done, "said": said}
                )
                time.sleep(fault.quiet)
            on_progress("brokers recover")
            lacking = brokers.whole_again(plan.partitions, RECOVERY_S)
            time.sleep(1.0)  # readers go on for a moment
            workload.await_reads()
        on_progress("the log is read")
        try:
            workload.read_all(30.0)
        except ClientError as error:
            report.unfinished = f"the log could not be read at the end: {error}"
        if lacking:
            report.unfinished = report.unfinished or f"the cluster did not recover: {lacking}"
        on_progress("brokers stop")
        brokers.stop()
    except BaseException:
        brokers.end()
        raise
    on_progress("what clients saw is judged")
    _judge(report, brokers.cluster)
    if plan.trace:
        on_progress("what brokers traced is judged by the model")
        report.trace = judge_running(_traces(folder / TRACE), str(folder / TRACE))
    return report


def _traces(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"*{SUFFIX}"))


def _judge(report: ChaosReport, cluster: Cluster) -> None:
    if report.history.final:
        judged = find_anomalies(report.history)
        report.anomalies, report.allowed = judged.anomalies, judged.allowed
    cuts = list(_cuts(cluster))
    report.anomalies = [_explained(one, cluster.release, cuts) for one in report.anomalies]
    report.anomalies += _on_disks(cluster, cuts)


def _on_disks(cluster: Cluster, cuts: Sequence[LoggedTruncation]) -> Iterator[Anomaly]:
    """Contradictions within and between log directories, by `insync inspect`."""
    folders = [str(cluster.folder / f"broker{one}") for one in cluster.brokers]
    try:
        found = inspect(folders, preset_for(str(cluster.release)), lambda text: None)
    except NothingHereError:
        return
    for one in found.findings:
        if one.kind == Severity.BROKEN.value:
            kind = DIVERGED if one.rule == "replicas_agree" else ON_DISK
            number = -1 if one.partition is None else one.partition
            anomaly = Anomaly(kind, number, -1, f"{one.topic or ''} {one.where}: {one.why}".strip())
            anomaly = _explained(anomaly, cluster.release, cuts)
            if kind == DIVERGED:
                partition = next(
                    each for each in found.partitions
                    if (each.topic, each.partition) == (one.topic, one.partition)
                )  # fmt: skip
                because = kept_epoch(partition, cluster.release, cuts)
                if because:
                    anomaly = replace(anomaly, entry="KIP-279", because=because)
            yield anomaly


@dataclass(frozen=True)
class LoggedTruncation:
    """A line of a broker's log that reports a truncation."""

    where: str
    broker: str
    topic: str
    partition: int
    offset: int


_CUT = re.compile(r"Truncating log \[?([\w.]+)[-,](\d+)\]? to offset (\d+)")


def _cuts(cluster: Cluster) -> Iterator[LoggedTruncation]:
    """The truncations that the brokers' logs report."""
    for path in sorted(cluster.folder.glob("logs/*/server.log")):
        with path.open(encoding="utf-8", errors="replace") as lines:
            for number, line in enumerate(lines, 1):
                found = _CUT.search(line)
                if found:
                    yield LoggedTruncation(
                        f"{path}:{number}",
                        path.parent.name,
                        found[1],
                        int(found[2]),
                        int(found[3]),
                    )


def _explained(anomaly: Anomaly, release: Release, cuts: Sequence[LoggedTruncation]) -> Anomaly:
    """Adds the historic bug that explains the anomaly: the release has it, and a line shows it.

    Up to 0.10 a follower truncates its log to its high watermark, and may lead then (KIP-101):
    later records are lost, or later offsets that a group had committed.
    """
    if release.since("0.11") or anomaly.kind not in _OF_A_CUT:
        return anomaly
    of_records = [
        one for one in cuts
        if (one.topic, one.partition) == (TOPIC, anomaly.partition)
        and (anomaly.offset < 0 or one.offset <= anomaly.offset)
    ]  # fmt: skip
    if anomaly.kind == WENT_BACK and not of_records:
        of_records = [one for one in cuts if one.topic == OFFSETS_TOPIC]
    if not of_records:
        return anomaly
    cut = max(of_records, key=lambda one: one.offset)
    log = f"{cut.topic}-{cut.partition}"
    because = f"{cut.where}: a follower cut {log} to offset {cut.offset}, its high watermark"
    return replace(anomaly, entry="KIP-101", because=because)


def kept_epoch(
    partition: InspectedPartition, release: Release, cuts: Sequence[LoggedTruncation]
) -> str:
    """Why replicas diverge if the cause is KIP-279; empty if nothing shows it.

    From 0.11 to 1.1 a leader that never had an epoch answers with the start of its next one. A
    follower that led in that epoch truncates to there, and keeps its records of the epoch.
    """
    if release.since("2.0"):
        return ""
    name = f"{partition.topic}-{partition.partition}"
    for follower, leader in permutations(partition.replicas, 2):
        known = dict(leader.epochs)
        for (epoch, first), (later, end) in pairwise(follower.epochs):
            if epoch in known or known.get(later) != end:
                continue
            for cut in cuts:
                if (cut.broker, cut.topic, cut.partition, cut.offset) == (
                    f"broker{follower.broker}", partition.topic, partition.partition, end
                ):  # fmt: skip
                    return (
                        f"{cut.where}: broker {follower.broker} truncated {name} to offset {end}, "
                        f"where leader epoch {later} begins, and kept what it wrote from offset "
                        f"{first} on in leader epoch {epoch}, which broker {leader.broker} never "
                        f"had"
                    )
    return ""


_OF_A_CUT = (LOST, LOST_READ, DIVERGED, TORN, WENT_BACK)


__all__ = ["ChaosReport", "ChaosPlan", "run_chaos"]
