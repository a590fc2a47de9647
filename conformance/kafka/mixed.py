"""A mixed cluster of Kafka's brokers and ours: each is controller, leader and follower in turn.

All brokers are members of one cluster on the release's own ZooKeeper. A topic has one partition for
each broker as preferred leader, with all brokers as replicas. A real client (kafka-python) writes
to all of them with acks=all throughout, while a fixed sequence of faults and of an operator's
requests is run twice: under a controller of ours, and under one of Kafka's. After each step every
replica has to be back in the ISR, and each partition has to take records.

At the end all brokers are stopped and their logs are compared byte by byte; each record that was
acknowledged to the client has to be at its offset, in each log.
"""

from __future__ import annotations

import contextlib
import importlib.util
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from conformance.kafka.carry_out_schedule import do_line, move_controller
from conformance.kafka.lab import LOOPBACK, SHORT_TIMES, Lab, processes_ended_at_last
from conformance.kafka.releases import KafkaRelease
from conformance.kafka.zookeeper_client import LabZooKeeper
from impl.log.record_batch import batches_in, records_of
from impl.server.processes import ClusterError
from impl.znodes import (
    LeaderIsrAndControllerEpoch,
    TopicPartition,
    encode_partition_set,
    encode_reassignment,
    paths,
)
from impl.zookeeper.port import wait
from specs.rendering import parts
from specs.verdict import Verdict

TOPIC = "t"
FORMAT = "insync.kafka_mixed/1"
PATIENCE_S = 60.0
PAUSE_S = 0.02
SETTINGS = SHORT_TIMES | {"min.insync.replicas": "2", "offsets.topic.num.partitions": "3"}
"""What is acknowledged is on two brokers at least."""


class NoClient(RuntimeError):
    """kafka-python is not installed; the message says how to get it."""


@dataclass
class MixedReport:
    """The result of a course. ``steps``: what was done, and its result."""

    ALSO: ClassVar = parts("format", "verdict")
    format: ClassVar = FORMAT

    version: str
    kafka: list[int]
    ours: list[int]
    steps: list[dict[str, Any]] = field(default_factory=list)
    acknowledged: int = 0
    refused: int = 0
    consumed: int = 0
    bytes_compared: int = 0
    wrong: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def verdict(self) -> Verdict:
        """Broken if something went wrong; not checked if nothing was acknowledged."""
        if self.wrong:
            return Verdict.BROKEN
        return Verdict.HOLDS if self.acknowledged and self.bytes_compared else Verdict.NOT_CHECKED


# What clients do meanwhile


def _library() -> Any:
    return importlib.import_module("kafka")


def _needs_library() -> None:
    if importlib.util.find_spec("kafka") is None:
        raise NoClient("a mixed cluster is written to by kafka-python: pip install kafka-python")


class RecordWriter(threading.Thread):
    """Writes to one partition, a record at a time, with acks=all; counts acknowledged records.

    From 0.11 on the producer is idempotent: a record that it sends again is stored once.
    """

    def __init__(self, servers: Sequence[str], number: int, idempotent: bool) -> None:
        super().__init__(name=f"writer-{number}", daemon=True)
        self.servers, self.number, self.idempotent = servers, number, idempotent
        self.acknowledged: dict[int, str] = {}  # by offset
        self.refused: list[str] = []
        self.ended = threading.Event()
        self.trouble = ""

    def run(self) -> None:
        """Write until the end."""
        library = _library()
        producer = library.KafkaProducer(
            bootstrap_servers=list(self.servers), acks="all", enable_idempotence=self.idempotent,
            max_in_flight_requests_per_connection=1, request_timeout_ms=5000,
            delivery_timeout_ms=30000, retry_backoff_ms=100, metadata_max_age_ms=2000,
            reconnect_backoff_ms=50, reconnect_backoff_max_ms=500, max_block_ms=30000,
            client_id=f"writer-{self.number}",
        )  # fmt: skip
        sent = 0
        while not self.ended.wait(PAUSE_S):
            value, sent = f"{self.number}-{sent}", sent + 1
            try:
                asked = producer.send(TOPIC, value.encode(), partition=self.number)
                written = asked.get(timeout=40)
            except library.errors.KafkaError as error:
                self.refused.append(value)
                self.trouble = f"{type(error).__name__}: {error}"
                continue
            self.acknowledged[written.offset] = value
        with contextlib.suppress(library.errors.KafkaError):
            producer.close(timeout=5)


class GroupReader(threading.Thread):
    """The only member of a consumer group: reads all partitions, and commits as it goes."""

    def __init__(self, servers: Sequence[str]) -> None:
        super().__init__(name="reader", daemon=True)
        self.servers = servers
        self.ended = threading.Event()
        self.read: dict[tuple[int, int], str] = {}  # by partition and offset
        self.changed: list[str] = []

    def run(self) -> None:
        """Read until the end."""
        library = _library()
        consumer = library.KafkaConsumer(
            TOPIC, bootstrap_servers=list(self.servers), group_id="readers",
            auto_offset_reset="earliest", enable_auto_commit=True, auto_commit_interval_ms=500,
            request_timeout_ms=40000, session_timeout_ms=10000, heartbeat_interval_ms=1000,
            metadata_max_age_ms=2000, client_id="reader",
        )  # fmt: skip
        while not self.ended.is_set():
            try:
                found = consumer.poll(timeout_ms=300)
            except library.errors.KafkaError:
                continue
            for records in found.values():
                for one in records:
                    key, value = (one.partition, one.offset), one.value.decode()
                    if self.read.setdefault(key, value) != value:
                        self.changed.append(f"{key}: {self.read[key]}, then {value}")
        with contextlib.suppress(library.errors.KafkaError):
            consumer.close()


# The course


class MixedClusterSteps:
    """Steps on one lab, each awaited in ZooKeeper; ``progress`` is notified of each."""

    def __init__(
        self,
        lab: Lab,
        report: MixedReport,
        progress: Callable[[str], None],
        writers: list[RecordWriter],
    ) -> None:
        self.lab, self.report, self.progress, self.writers = lab, report, progress, writers
        self.zk = LabZooKeeper(lab.state.zookeeper)
        self.began = time.monotonic()

    def steps(self) -> Iterator[tuple[str, Callable[[], object]]]:
        """The steps: name and action; the same under each controller."""
        ours, kafkas = self.report.ours, self.report.kafka
        for controller in (ours[0], kafkas[0]):
            yield (
                f"controller moves to {controller}",
                partial(move_controller, self.lab, controller),
            )
            for broker in self.lab.brokers:
                yield f"kill {broker}, start it", partial(self.bounce, broker, "kill")
                yield "preferred leaders are elected", self.elect_preferred
                yield f"stop {broker} cleanly, start it", partial(self.bounce, broker, "stop")
                yield "preferred leaders are elected", self.elect_preferred
                yield f"the session of {broker} expires", partial(do_line, self.lab,
                                                                  f"expire {broker}")  # fmt: skip
                yield "preferred leaders are elected", self.elect_preferred
            yield (
                f"controller moves to {controller}",
                partial(move_controller, self.lab, controller),
            )
            for broker in (ours[0], kafkas[0]):
                yield f"{broker} leaves all partitions", partial(self.leave, broker)
                yield f"{broker} comes back", self.return_all_replicas
            yield "a topic is made, written and deleted", self.topic_comes_and_goes

    def run(self) -> None:
        """Runs all steps; a step after which a replica is not back in sync ends the course."""
        for what, do in self.steps():
            self.progress(f"{what}, {self.acknowledged_count()} acknowledged")
            began = time.monotonic()
            try:
                do()
                self.settle()
            except (ClusterError, OSError) as error:
                self.report.wrong.append(f"{what}: {error}")
                return
            self.report.steps.append({
                "step": what, "seconds": round(time.monotonic() - began, 1),
                "controller": wait(self.zk.controller()),
                "leaders": {n: s.leader for n, s in self.states(TOPIC).items()},
            })  # fmt: skip

    def acknowledged_count(self) -> int:
        """How many records have been acknowledged so far."""
        return sum(len(one.acknowledged) for one in self.writers)

    # ZooKeeper

    def states(self, topic: str) -> dict[int, LeaderIsrAndControllerEpoch]:
        """The registered states, by partition."""
        states = {one: wait(self.zk.state(TopicPartition(topic, one)))
                  for one in sorted(self.zk.replicas(topic))}  # fmt: skip
        return {one: state for one, state in states.items() if state is not None}

    def until(self, what: str, so: Callable[[], bool], patience_s: float = PATIENCE_S) -> None:
        """Waits until a condition holds; ClusterError if it does not in time."""
        deadline = time.monotonic() + patience_s
        while not so():
            if time.monotonic() > deadline:
                raise ClusterError(f"{what} within {patience_s:.0f} s; registered: {self.shown()}")
            time.sleep(0.1)

    def shown(self) -> str:
        """The states in one line."""
        return "; ".join(
            f"{TOPIC}-{n}: leader {s.leader}, ISR {list(s.isr)}, leader epoch {s.leader_epoch}"
            for n, s in self.states(TOPIC).items()
        )

    def make_topic(self, topic: str, places: Sequence[Sequence[int]]) -> None:
        """Creates a topic as Kafka's tool does; returns once all replicas are in the ISR."""
        self.zk.make_topic(topic, dict(enumerate(places)))
        wanted = {number: sorted(replicas) for number, replicas in enumerate(places)}
        self.until(f"topic {topic} has not all replicas in sync", lambda: wanted == {
            number: sorted(state.isr) for number, state in self.states(topic).items()
            if state.leader >= 0
        })  # fmt: skip

    @property
    def places(self) -> list[list[int]]:
        """The assignment in which each broker is the preferred leader of one partition."""
        ids = self.lab.brokers
        return [[ids[(first + at) % len(ids)] for at in range(len(ids))]
                for first in range(len(ids))]  # fmt: skip

    def replicas(self) -> dict[int, list[int]]:
        """The registered replicas, by partition."""
        return self.zk.replicas(TOPIC)

    def settle(self) -> None:
        """Waits until all brokers are registered, all ISRs whole, all partitions take records."""
        self.until("not all brokers registered",
                   lambda: self.lab.brokers == list(self.zk.registered()))  # fmt: skip
        self.until("there is no controller", lambda: self.zk.exists(paths.CONTROLLER))
        self.until("not all replicas in sync", self._all_in_isr)
        for one in self.writers:
            self._takes_records(one)

    def _takes_records(self, writer: RecordWriter) -> None:
        before = len(writer.acknowledged)
        self.until(f"partition {writer.number} took no record ({writer.trouble or 'no answer'})",
                   lambda: len(writer.acknowledged) > before)  # fmt: skip

    def _all_in_isr(self) -> bool:
        placed = {number: sorted(ids) for number, ids in self.replicas().items()}
        return placed == {number: sorted(state.isr)
                          for number, state in self.states(TOPIC).items()}  # fmt: skip

    # Steps

    def bounce(self, broker: int, how: str) -> None:
        """Ends a broker, and starts it again once its session is over and others lead."""
        if how == "kill":
            self.lab.kill(broker)
        else:
            self.lab.end([self.lab.name_of(broker)], 15, 30.0)
        self.until(f"broker {broker} is still registered", lambda: not (
            self.zk.exists(paths.broker(broker))
        ))  # fmt: skip
        self.until(f"broker {broker} still leads", lambda: all(
            state.leader not in (broker, -1) for state in self.states(TOPIC).values()
        ))  # fmt: skip
        self.lab.start(only=self.lab.name_of(broker))

    def elect_preferred(self) -> None:
        """Requests preferred leaders by znode, as Kafka's tool did up to 2.3."""
        every = [TopicPartition(TOPIC, number) for number in self.replicas()]
        self._request(paths.PREFERRED_ELECTION, encode_partition_set(every))
        self.until("the preferred replicas do not lead", lambda: all(
            self.states(TOPIC)[number].leader == ids[0]
            for number, ids in self.replicas().items()
        ))  # fmt: skip

    def leave(self, broker: int) -> None:
        """Moves a broker's replicas away: the others stay."""
        self._reassign([[one for one in ids if one != broker] for ids in self.places])
        self.until(f"broker {broker} keeps its logs", lambda: not any(
            (self.lab.data(broker) / f"{TOPIC}-{number}").exists() for number in self.replicas()
        ))  # fmt: skip

    def return_all_replicas(self) -> None:
        """Makes every broker a replica of every partition again."""
        self._reassign(self.places)

    def _reassign(self, places: list[list[int]]) -> None:
        targets = {TopicPartition(TOPIC, number): ids for number, ids in enumerate(places)}
        self._request(paths.REASSIGN_PARTITIONS, encode_reassignment(targets))
        self.until("the replicas did not move", lambda: self.replicas() == dict(enumerate(places)))

    def _request(self, path: str, content: str) -> None:
        """Put a request of an operator's, and wait until the controller is done with it."""
        self.until(f"{path} is busy", lambda: not self.zk.exists(path))
        wait(self.zk.port.create(path, content))
        self.until(f"{path} is not done", lambda: not self.zk.exists(path))

    def topic_comes_and_goes(self) -> None:
        """Creates a topic, writes to it, and deletes it: nothing of it is left on any disk."""
        topic = f"u{int(time.monotonic() * 1000)}"
        self.make_topic(topic, self.places)
        library = _library()
        producer = library.KafkaProducer(bootstrap_servers=servers(self.lab), acks="all",
                                         enable_idempotence=False)  # fmt: skip
        try:
            for number in range(len(self.places)):
                producer.send(topic, b"v", partition=number).get(timeout=30)
        except library.errors.KafkaError as error:
            raise ClusterError(f"topic {topic} took no record: {error}") from error
        finally:
            producer.close(timeout=5)
        wait(self.zk.make_path(paths.deletion(topic)))
        self.until(f"topic {topic} is still there", lambda: not (
            self.zk.exists(paths.topic(topic)) or self.zk.exists(paths.deletion(topic))
        ))  # fmt: skip
        self.until(f"logs of topic {topic} are still there", lambda: not any(
            (self.lab.data(one) / f"{topic}-{number}").exists()
            for one in self.lab.brokers for number in range(len(self.places))
        ))  # fmt: skip


def servers(lab: Lab) -> list[str]:
    """The brokers' addresses for clients: at the proxies."""
    return [f"{LOOPBACK}:{ports[1]}" for ports in lab.state.ports.values()]


def run_mixed_cluster(
    folder: Path, release: KafkaRelease, kafka: int, ours: int, home: Path | None = None,
    progress: Callable[[str], None] = lambda _text: None,
) -> MixedReport:  # fmt: skip
    """Runs the whole course on a new cluster with the given brokers of each kind. NoClient."""
    _needs_library()
    ids = range(1, kafka + ours + 1)
    began = time.monotonic()
    replicas = {"offsets.topic.replication.factor": str(len(ids))}
    lab = Lab.create(folder, release, ids, home, SETTINGS | replicas, ids[kafka:])
    report = MixedReport(release.text, list(ids[:kafka]), list(ids[kafka:]))
    progress(f"{kafka} brokers of Kafka {release.text} and {ours} of ours start")
    with processes_ended_at_last(lab):
        lab.start()
        writers = [RecordWriter(servers(lab), number, release.since("0.11"))
                   for number in range(len(ids))]  # fmt: skip
        reader = GroupReader(servers(lab))
        course = MixedClusterSteps(lab, report, progress, writers)
        try:
            course.make_topic(TOPIC, course.places)
            for writer in writers:
                writer.start()
            reader.start()
            course.settle()
            course.run()
            _catch_up(course, reader)
        except ClusterError as error:
            report.wrong.append(str(error))
        finally:
            clients: list[RecordWriter | GroupReader] = [*writers, reader]
            for one in clients:
                one.ended.set()
            for one in clients:
                if one.is_alive():
                    one.join(45)
            course.zk.close()
        progress("brokers stop, logs are compared")
        lab.stop()
        report.acknowledged = course.acknowledged_count()
        report.refused = sum(len(one.refused) for one in writers)
        report.consumed = len(reader.read)
        report.wrong += [f"a consumer read two records at one place: {one}"
                         for one in reader.changed]  # fmt: skip
        if not report.wrong:  # else brokers may have been stopped before they were in sync
            _compare(lab, writers, report)
    report.seconds = round(time.monotonic() - began, 1)
    return report


def _catch_up(course: MixedClusterSteps, reader: GroupReader) -> None:
    """Writers end; the reader gets all that was acknowledged."""
    for one in course.writers:
        one.ended.set()
    # What is still sent again would be appended while brokers stop, one after the other.
    course.until("writers do not end", lambda: not any(one.is_alive() for one in course.writers))
    wanted = {(one.number, offset) for one in course.writers for offset in one.acknowledged}
    course.until("a consumer did not read all that was acknowledged",
                 lambda: wanted <= set(reader.read))  # fmt: skip
    # What was never answered may have been appended last, and no follower has it yet.
    course.until("the logs of replicas do not end alike", lambda: all(
        len({*_contents(course.lab, one.number).values()}) == 1 for one in course.writers
    ))  # fmt: skip


def _contents(lab: Lab, number: int) -> dict[int, bytes]:
    """The log of a partition, by broker."""
    return {
        broker: b"".join(
            segment.read_bytes()
            for segment in sorted((lab.data(broker) / f"{TOPIC}-{number}").glob("*.log"))
        )
        for broker in lab.brokers
    }


def _compare(lab: Lab, writers: list[RecordWriter], report: MixedReport) -> None:
    """The logs of all replicas, byte by byte; and what was acknowledged is in them."""
    for one in writers:
        contents = _contents(lab, one.number)
        first, *others = lab.brokers
        for other in others:
            if contents[other] != contents[first]:
                at = next((at for at, (a, b) in enumerate(
                    zip(contents[first], contents[other], strict=False)) if a != b),
                    min(len(contents[first]), len(contents[other])))  # fmt: skip
                report.wrong.append(
                    f"{TOPIC}-{one.number}: the logs of brokers {first} and {other} part at byte "
                    f"{at} of {len(contents[first])} and {len(contents[other])}"
                )
        report.bytes_compared += len(contents[first])
        stored = _by_offset(contents[first])
        lost = [offset for offset, value in sorted(one.acknowledged.items())
                if stored.get(offset) != value]  # fmt: skip
        if lost:
            report.wrong.append(
                f"{TOPIC}-{one.number}: {len(lost)} acknowledged records are not where they were, "
                f"the first at offset {lost[0]}: {one.acknowledged[lost[0]]!r}, "
                f"there is {stored.get(lost[0])!r}"
            )
        values = list(stored.values())
        if one.idempotent and len(values) != len(set(values)):
            report.wrong.append(f"{TOPIC}-{one.number}: a record of an idempotent producer is "
                                "stored twice")  # fmt: skip


def _by_offset(content: bytes) -> dict[int, str]:
    return {
        record.offset: (record.value or b"").decode(errors="replace")
        for at, _ in batches_in(content)
        for record in records_of(content, at)
    }
