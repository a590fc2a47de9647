"""Runs real Kafka under random faults, and has the model judge every line of the trace.

A round is a new cluster of a release with three brokers; records are written throughout, faults are
injected one after the other, then its trace is judged like that of our own processes. The result of
a round is a line of `rounds.jsonl`; an interrupted soak continues after the last one.

With clients, writers of each kind and the readers of a group run as in `insync chaos`, and their
history is judged too (`conformance.chaos`): the trace shows that Kafka follows its protocol, the
clients' history that the protocol keeps its guarantees.
"""

from __future__ import annotations

import contextlib
import json
import random
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from conformance.chaos import workload as chaos
from conformance.chaos.client_anomalies import ClientAnomalies, find_anomalies, verdict_on
from conformance.chaos.clients import OURS, at_work
from conformance.chaos.history import ClientHistory
from conformance.chaos.run import OF_GROUPS
from conformance.kafka import requests
from conformance.kafka.carry_out_schedule import do_line
from conformance.kafka.lab import LOOPBACK, SHORT_TIMES, STATE, Lab, processes_ended_at_last
from conformance.kafka.random_faults import faults
from conformance.kafka.releases import KafkaRelease
from conformance.kafka.trace import write_trace
from conformance.kafka.zookeeper_client import LabZooKeeper
from conformance.running.running_report import RunningReport, judge_running
from conformance.running.traced_cluster import run_in_threads
from impl.releases import Release
from impl.server.clients import ClientError
from impl.server.processes import ClusterError
from impl.znodes import TopicPartition
from impl.zookeeper.port import wait
from specs.rendering import as_data, rows
from specs.verdict import Verdict, combine

BROKERS = (1, 2, 3)
PARTITIONS = 2
TOPIC = "t"
ROUNDS = "rounds.jsonl"
HISTORY = "clients.json"
FORMAT = "insync.kafka_soak/1"
ROUND_FORMAT = "insync.kafka_soak_round/1"
BEGINS_S = 30.0
RECOVERS_S = 60.0
BUGS_BY_STEP = {"leader_answers_fetch_in_session": "KAFKA-9338"}
"""Steps that the model has since Kafka has a bug."""

WITH_CLIENTS = OF_GROUPS | {"offsets.topic.replication.factor": "3", "min.insync.replicas": "2"}


@dataclass
class SoakRound:
    """The result of a round: lines of partitions and of the controllership, and how many fitted."""

    number: int
    seed: int
    version: str
    faults: list[str] = field(default_factory=list)
    undone: list[str] = field(default_factory=list)
    acknowledged: int = 0
    lines: int = 0
    explained: int = 0
    steps: int = 0
    verdict: str = Verdict.NOT_CHECKED.value
    findings: list[dict[str, Any]] = field(default_factory=list)
    by_force: dict[str, int] = field(default_factory=dict)
    bugs: dict[str, int] = field(default_factory=dict)
    """Known bugs of Kafka that were seen, by JIRA: how often it explained a line."""
    seconds: float = 0.0
    clients: dict[str, Any] = field(default_factory=dict)
    """What clients saw: verdict, anomalies, what is allowed and happened, counts, unfinished."""


@dataclass(frozen=True)
class SoakPlan:
    """The parameters of a soak."""

    release: KafkaRelease
    rounds: int
    seed: int
    faults: int
    home: Path | None = None
    keep: bool = False
    clients: tuple[str, ...] = ()
    """Libraries (`conformance.chaos.clients`); none: requests of our own, of which nobody reads."""


class OtherSoak(ValueError):
    """The folder has rounds of a different soak; the message names it."""


def rounds_in(folder: Path, plan: SoakPlan) -> list[SoakRound]:
    """Reads finished rounds. OtherSoak if their release, seed or number of faults differs."""
    path = folder / ROUNDS
    found: list[SoakRound] = []
    if not path.exists():
        return found
    for raw in path.read_text(encoding="utf-8").splitlines():
        try:
            fields = json.loads(raw)
        except ValueError:
            continue  # the last one, cut
        if not isinstance(fields, dict) or fields.pop("format", None) != ROUND_FORMAT:
            raise OtherSoak(f"{path} is no file of a soak; name another directory")
        found.append(SoakRound(**fields))
    for one in found:
        clients = _clients_of(one)
        if (one.version, one.seed, len(one.faults), clients) != (
            plan.release.text, _seed(plan, one.number), plan.faults, plan.clients,
        ):  # fmt: skip
            raise OtherSoak(
                f"{path} has rounds of Kafka {one.version} with {len(one.faults)} faults"
                f"{', clients ' + ','.join(clients) if clients else ''} and another seed; name "
                "another directory, or the same release, --seed, --faults and --clients"
            )
    return found


def _clients_of(one: SoakRound) -> tuple[str, ...]:
    """Of rounds before a library could be chosen: ours."""
    return tuple(one.clients.get("by_client") or (OURS,)) if one.clients else ()


def judged_again(folder: Path, done: list[SoakRound]) -> list[SoakRound]:
    """Traces and judges the rounds whose logs were kept again, and writes `rounds.jsonl` again.

    A round without logs, since it held and was not kept, stays as it was.
    """
    for one in done:
        place = folder / f"round-{one.number}"
        if (place / STATE).is_file():
            _judge_clients(one, place / HISTORY)
            _judge(one, judge_running(write_trace(Lab(place)), str(place / "trace")))
    text = "".join(json.dumps({"format": ROUND_FORMAT, **asdict(one)}) + "\n" for one in done)
    unfinished = folder / f"{ROUNDS}.unfinished"
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(folder / ROUNDS)
    return done


def _judge_clients(one: SoakRound, path: Path) -> None:
    """What clients saw, by their history as it was kept."""
    if one.clients and path.is_file():
        history = ClientHistory.from_json(json.loads(path.read_text(encoding="utf-8")))
        one.clients = seen_by_clients(history, one.clients["unfinished"])


def _seed(plan: SoakPlan, number: int) -> int:
    return plan.seed * 1000 + number


def soak(
    folder: Path, plan: SoakPlan, progress: Callable[[str], None] = lambda _text: None
) -> Iterator[SoakRound]:
    """Runs the rounds that are not done yet, one after the other."""
    folder.mkdir(parents=True, exist_ok=True)
    done = {one.number for one in rounds_in(folder, plan)}
    for number in range(1, plan.rounds + 1):
        if number in done:
            continue
        one = _round(folder / f"round-{number}", plan, number, progress)
        with (folder / ROUNDS).open("a", encoding="utf-8") as file:
            file.write(json.dumps({"format": ROUND_FORMAT, **asdict(one)}) + "\n")
        yield one


def _round(folder: Path, plan: SoakPlan, number: int, progress: Callable[[str], None]) -> SoakRound:
    shutil.rmtree(folder, ignore_errors=True)  # of a round that was interrupted
    began = time.monotonic()
    one = SoakRound(number, _seed(plan, number), plan.release.text)
    settings = SHORT_TIMES | (WITH_CLIENTS if plan.clients else {})
    lab = Lab.create(folder, plan.release, BROKERS, plan.home, settings)
    finished = False
    try:
        with processes_ended_at_last(lab):
            lab.start()
            topic = chaos.TOPIC if plan.clients else TOPIC
            _make_topic(lab, topic)
            writing = clients_of(lab, one, plan.clients) if plan.clients else written_to(lab, one)
            with writing as acknowledged:
                for at, fault in enumerate(faults(plan.faults, one.seed, BROKERS), 1):
                    progress(f"round {number} of {plan.rounds}, {at} of {plan.faults}: "
                         f"{fault.in_words}, {acknowledged()} acknowledged")  # fmt: skip
                    one.faults.append(fault.in_words)
                    one.undone += _inject(lab, fault.begins)
                    time.sleep(fault.lasts)
                    one.undone += _inject(lab, fault.ends)
                    time.sleep(1.0)
                time.sleep(2.0)
            one.acknowledged = acknowledged()
        _judge(one, judge_running(write_trace(lab), str(lab.folder / "trace")))
        finished = True
    finally:
        one.seconds = round(time.monotonic() - began, 1)
        if not finished or (one.verdict == Verdict.HOLDS.value and not plan.keep):
            shutil.rmtree(folder, ignore_errors=True)
        else:
            for broker in lab.brokers:  # logs and traces tell it all
                shutil.rmtree(lab.data(broker), ignore_errors=True)
    return one


def _inject(lab: Lab, lines: tuple[str, ...]) -> list[str]:
    """Do them; those that could not be done, with the reason."""
    undone = []
    for line in lines:
        try:
            do_line(lab, line)
        except (ClusterError, OSError) as error:
            undone.append(f"{line}: {error}")
    return undone


def _judge(one: SoakRound, report: RunningReport) -> None:
    seen = [Verdict(one.clients["verdict"])] if one.clients else []
    one.verdict = combine([report.verdict, *seen]).value
    one.steps = sum(report.fired.values())
    one.lines = report.stuck + sum(part.lines + part.left for part in report.replayed)
    one.explained = sum(part.explained for part in report.replayed)
    one.findings = rows(report.findings)
    one.by_force = report.details["by_force"]
    named = {name: name.partition(":")[0] for name in one.by_force if name.startswith("KAFKA-")}
    one.bugs = {named[name]: one.by_force[name] for name in sorted(named)} | {
        bug: report.fired[step] for step, bug in BUGS_BY_STEP.items() if report.fired[step]
    }


# What is written meanwhile


def _make_topic(lab: Lab, topic: str) -> None:
    """A topic of three replicas, as Kafka's own tool makes it; returns once all partitions lead."""
    with LabZooKeeper(lab.state.zookeeper) as zk:
        zk.make_topic(topic, {
            number: [BROKERS[(number + at) % len(BROKERS)] for at in range(len(BROKERS))]
            for number in range(PARTITIONS)
        })  # fmt: skip
        deadline = time.monotonic() + BEGINS_S
        while not all(zk.isr(topic, number) for number in range(PARTITIONS)):
            if time.monotonic() > deadline:
                raise ClusterError(f"topic {topic} has no leaders after {BEGINS_S:.0f} s")
            time.sleep(0.1)


@contextlib.contextmanager
def clients_of(
    lab: Lab, one: SoakRound, clients: tuple[str, ...]
) -> Iterator[Callable[[], int]]:  # fmt: skip
    """Runs clients; at the end brokers recover, the log is read, and what clients saw is judged
    into the round. Yields a function: how many records were acknowledged so far."""
    addresses = [(LOOPBACK, ports[1]) for ports in lab.state.ports.values()]
    work = chaos.Workload(addresses, PARTITIONS, one.seed)
    idempotent = Release.of(lab.release.text).since("0.11")
    with at_work(work, clients, idempotent):
        work.await_records()
        yield lambda: work.acknowledged
        unfinished = _whole_again(lab)
        time.sleep(1.0)  # readers go on for a moment
    try:
        work.read_all(30.0)
    except (ClientError, OSError) as error:
        unfinished = f"the log could not be read at the end: {error}"
    one.clients = seen_by_clients(work.history, unfinished)
    text = json.dumps(as_data(work.history))
    (lab.folder / HISTORY).write_text(text + "\n", encoding="utf-8")


def seen_by_clients(history: ClientHistory, unfinished: str) -> dict[str, Any]:
    """A round's clients, as in its line. ``unfinished``: why the end is not known."""
    judged = find_anomalies(history) if history.final else ClientAnomalies()
    return {
        "verdict": verdict_on(history, judged.anomalies, unfinished).value,
        "anomalies": [asdict(found) for found in judged.anomalies],
        "allowed": dict(judged.allowed), "counts": history.counts(), "unfinished": unfinished,
        "by_client": history.by_client(),
    }  # fmt: skip


def _whole_again(lab: Lab) -> str:
    """Start who does not run, and wait for whole ISRs: which are not, when the time is up."""
    deadline = time.monotonic() + RECOVERS_S
    left = "no broker could be started"
    with LabZooKeeper(lab.state.zookeeper) as zk:
        while left and time.monotonic() < deadline:
            with contextlib.suppress(ClusterError):
                lab.start()
            for number in range(PARTITIONS):
                lacking = sorted({*BROKERS} - {*(zk.isr(chaos.TOPIC, number) or ())})
                left = f"{lacking} of {chaos.TOPIC}-{number} are not in its ISR" if lacking else ""
                if left:
                    break
            time.sleep(0.2)
    return f"the cluster did not recover: {left}" if left else ""


@contextlib.contextmanager
def written_to(lab: Lab, one: SoakRound) -> Iterator[Callable[[], int]]:
    """Writes records to all partitions. Yields a function: how many were acknowledged so far."""
    ended, acknowledged = threading.Event(), [0]
    works = [
        (f"writer of {part}", partial(_write, lab, part, one.seed, ended, acknowledged))
        for part in range(PARTITIONS)
    ]
    with run_in_threads(works, ended):
        yield lambda: acknowledged[0]


def _write(
    lab: Lab, partition: int, seed: int, ended: threading.Event, acknowledged: list[int]
) -> None:
    chance = random.Random(seed * 31 + partition)
    with LabZooKeeper(lab.state.zookeeper) as zk:
        while not ended.wait(chance.uniform(0.05, 0.4)):
            state = wait(zk.state(TopicPartition(TOPIC, partition)))
            if state is None or state.leader not in lab.state.ports:
                continue
            with contextlib.suppress(OSError):
                code, _ = requests.produce(
                    lab.release, lab.state.ports[state.leader][1], TOPIC, b"v",
                    chance.choice((-1, 1)), 2000, partition, 3.0,
                )  # fmt: skip
                acknowledged[0] += code == 0


# What all of them came to


def summary(plan: SoakPlan, done: list[SoakRound]) -> dict[str, Any]:
    """The result of the soak as data: sums, and findings by their rule."""
    by_rule: dict[str, int] = {}
    for one in done:
        for found in one.findings:
            by_rule[found["rule"]] = by_rule.get(found["rule"], 0) + 1
    lines, explained = sum(one.lines for one in done), sum(one.explained for one in done)
    seen: Counter[str] = Counter()
    bugs: Counter[str] = Counter()
    for one in done:
        bugs.update(one.bugs)
        for kind in ("counts", "allowed"):
            seen.update(one.clients.get(kind, {}))
        seen.update(found["kind"] for found in one.clients.get("anomalies", ()))
    return {
        "format": FORMAT,
        "verdict": verdict_of(done).value,
        "version": plan.release.text,
        "rounds": len(done),
        "faults": sum(len(one.faults) for one in done),
        "undone": sum(len(one.undone) for one in done),
        "acknowledged": sum(one.acknowledged for one in done),
        "lines": lines,
        "explained": explained,
        "share": round(explained / lines, 4) if lines else 0.0,
        "steps": sum(one.steps for one in done),
        "findings": dict(sorted(by_rule.items())),
        "bugs": dict(sorted(bugs.items())),
        "clients": dict(sorted(seen.items())),
        "seconds": round(sum(one.seconds for one in done), 1),
        "all": [asdict(one) for one in done],
    }


def verdict_of(done: list[SoakRound]) -> Verdict:
    """The combined verdict of all rounds; without any round, not checked."""
    return combine(Verdict(one.verdict) for one in done)
