"""Simulates a cluster that writes traces as running processes do, for the model to judge.

It writes the same lines to the same files as `insync cluster start --trace`, at the same places of
the core; the simulator's steps say which process sends which request, and when. So a run of several
partitions, with their requests, fetches and logs on disks, is judged line by line, and the same
seed gives the same lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from conformance.running.at_rest import AtRest, ReplicaAtRest
from conformance.running.profiles import TRACED_PROFILES, judged_profile
from conformance.running.running_report import RunningReport, judge_running
from impl.core.answers import NONE
from impl.core.api import PREFERRED_TYPE, ControllerApi
from impl.core.controller_parts import ControllerConfig
from impl.core.event_controller import EventController
from impl.core.fetcher_thread import EARLIEST, LATEST, EpochQuestion
from impl.core.journal import ControllerJournal
from impl.core.replica_events import EpochAsked, ProducerAnswered, RecordsAsked
from impl.core.replica_manager import CONSUMER
from impl.releases import DEFAULT
from impl.server.trace import CORRELATIONS_OF_A_START, BrokerTrace, TraceFile
from impl.server.traced_controller import TracedTerms
from impl.server.traced_zookeeper import ZooKeeperTrace
from impl.sim.simulation import Step, StepKind
from impl.world.whole_cluster.at_rest import is_at_rest
from impl.world.whole_cluster.claims import ClusterClaimBroken, ClusterClaims
from impl.world.whole_cluster.node import BrokerObserver, ClusterNode
from impl.world.whole_cluster.observations import ConsumerRead
from impl.world.whole_cluster.runs import ClusterSimulator
from impl.world.whole_cluster.steps import WHOLE_CLUSTER_STEPS
from impl.world.whole_cluster.whole_cluster import WholeCluster
from impl.znodes import TopicPartition
from impl.zookeeper.port import wait
from impl.zookeeper.store import ZooKeeper
from impl.zookeeper.znode import Create, Created, Op
from specs.verdict import FindingKind, Verdict

NOWHERE = "nowhere"
"""A topic that does not exist."""

UNTRACED = ("ListOffsets",)
"""What a fetcher asks that no line shows."""


class _TracedStore(ZooKeeper):
    """A line a transaction. Who asks is whose session was looked at last."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.trace = ZooKeeperTrace(folder, {"zxid": self.zxid})
        self.asker = 0

    def require_alive(self, session: int) -> None:
        """Called before each operation of a session."""
        super().require_alive(session)
        self.asker = session

    def expire(self, session: int) -> list[str]:
        """Called when a session ends."""
        gone = super().expire(session)
        self.trace.ended(self.zxid, session, gone, closed=False)
        return gone

    def _transact(self, ops: Sequence[Op]) -> list[Created | None]:
        done = super()._transact(ops)
        asked = [(type(one).__name__, {"path": one.path}) for one in ops]
        made = [
            result.path if isinstance(op, Create) and result is not None else None
            for op, result in zip(ops, done, strict=True)
        ]
        head = {"op": "multi", "session": self.asker, "args": asked}
        self.trace.transaction(self, head, made)
        return done


class _BrokerTracer(BrokerObserver):
    """A file a start; replicas, controller and registrations write to it."""

    trace: BrokerTrace

    def __init__(self, node: ClusterNode, folder: Path) -> None:
        super().__init__(node)
        self.folder = folder

    def starting(self) -> None:
        """Another file."""
        release, broker = self.node.release, self.node.broker
        head = {"version": str(release), "settings": {
            "protocol": str(release),
            "unclean": ControllerConfig().unclean_allowed("", release),
        }}  # fmt: skip
        self.trace = BrokerTrace(TraceFile(self.folder, "broker", broker, head))
        self.correlation = self.node.started * CORRELATIONS_OF_A_START

    def journal(self) -> ControllerJournal:
        """Its part of the trace."""
        self.terms = TracedTerms(self.trace)
        return self.terms

    def new_controller(self, controller: EventController) -> None:
        """It has that journal."""
        self.terms.controller = controller

    def registered(self) -> None:
        """A line."""
        fields = {"epoch": self.node.epoch, "session": self.node.session.session}
        self.trace.file.line("registered", fields)

    def replica_event(self, event: Any) -> None:
        """A line, for some."""
        self.trace(event)

    def crashed(self) -> None:
        """The process ends, and with it its file."""
        self.trace.close()


class RunTracer:
    """A simulated whole cluster that writes traces to a folder, and reports itself the parts of a
    step that the core does not report."""

    def __init__(self, folder: Path, **given: Any) -> None:
        self.asked: dict[tuple[int, int], tuple[object, int]] = {}
        self.appended_in: dict[tuple[int, TopicPartition, int], int] = {}
        self.tracers: dict[int, _BrokerTracer] = {}

        def observer(node: ClusterNode) -> BrokerObserver:
            return self.tracers.setdefault(node.broker, _BrokerTracer(node, folder))

        self.store = _TracedStore(folder)
        kinds = {name: self._traced(kind) for name, kind in WHOLE_CLUSTER_STEPS.items()}
        self.world = WholeCluster(kinds, zookeeper=self.store, observer=observer, **given)

    def _traced(self, kind: StepKind) -> StepKind:
        def act(world: WholeCluster, *args: int) -> None:
            if kind.name == "preferred_election_is_requested" and self._asks_its_controller():
                return
            if kind.name == "producer_hears":
                self._acknowledged(*args)
            with self._asker(kind.name, args):
                kind.act(world, *args)
            if kind.name == "producer_appends":
                self._note_who_waits(*args)
            if kind.name == "consumer_reads":
                self._lists_offsets(*args)
            for broker, happened in world.happened:
                if isinstance(happened, ConsumerRead):
                    self._read(broker, happened)
            self._note_questions()

        return replace(kind, act=act)

    @contextmanager
    def _asker(self, step: str, args: tuple[int, ...]) -> Iterator[None]:
        """Whose question a leader answers."""
        if step != "leader_answers":
            yield
            return
        follower, leader = args
        _, number = self.asked[follower, leader]
        head = {"client_id": f"broker-{follower}-fetcher-0", "correlation": number}
        with self.tracers[leader].trace.on_behalf_of(head):
            yield

    def _note_who_waits(self, broker: int, topic: int, partition: int) -> None:
        """In which leader epoch its record was taken."""
        one = TopicPartition(f"t{topic}", partition)
        awaited = self.world.nodes[broker].waiting[one][-1].awaited
        self.appended_in[broker, one, awaited.end] = awaited.replica.leader_epoch

    def _acknowledged(self, broker: int, topic: int, partition: int) -> None:
        one = TopicPartition(f"t{topic}", partition)
        awaited = self.world.nodes[broker].waiting[one][0].awaited
        epoch, end = self.appended_in[broker, one, awaited.end], awaited.end
        self.tracers[broker].trace(ProducerAnswered(one, epoch, -1, end - 1, end, NONE))

    def _read(self, broker: int, done: ConsumerRead) -> None:
        replica = self.world.nodes[broker].replicas.partitions[done.partition]
        first = min(done.records)
        reply = {"error": NONE, "high_watermark": replica.hw, "log_start": replica.log_start,
                 "diverging": None, "end": max(done.records) + 1}  # fmt: skip
        asked = {"leader_epoch": None, "offset": first, "last_fetched_epoch": None}
        self.tracers[broker].trace.file.line("fetch_served", {
            "partition": str(done.partition), "reader": CONSUMER, "asked": asked, "reply": reply,
            "waited": False,
        })  # fmt: skip

    def _lists_offsets(self, broker: int, topic: int, partition: int) -> None:
        """Clients and followers ask where a log ends, in right and in wrong leader epochs."""
        node, one = self.world.nodes[broker], TopicPartition(f"t{topic}", partition)
        replica = node.replicas.partitions[one]
        epoch = replica.leader_epoch
        for timestamp, for_consumer, asked in (
            (LATEST, True, None), (LATEST, True, epoch - 1), (LATEST, True, epoch + 1),
            (LATEST, False, epoch), (EARLIEST, True, None), (0, True, None),
            (self.world.now_ms() + 1, True, epoch),
        ):  # fmt: skip
            found = wait(node.replicas.list_offset(one, timestamp, for_consumer, asked))
            self.tracers[broker].trace.file.line("offset_listed", {
                "partition": str(one), "timestamp": timestamp, "for_consumer": for_consumer,
                "leader_epoch": asked, "error": found.error, "offset": found.offset,
                "log_start": replica.log_start,
            })  # fmt: skip

    def _asks_its_controller(self) -> bool:
        """Every other time it is ElectLeaders (KIP-460, 2.4) in place of the znode.

        Now and then it is a broker that is not the controller, and a topic that does not exist.
        """
        world, before = self.world, self.world.clock - 1
        running = [node for _, node in world.running()]
        active = [node for node in running if node.controller.active]
        if not world.release.since("2.4") or before % 2 or not active:
            return False
        node = running[0] if before % 5 == 0 else active[-1]
        every = [TopicPartition(NOWHERE, 0)]
        preferred: dict[str, int] = {}
        for topic in range(world.topics):
            there = wait(world.admin.topic(f"t{topic}"))
            for number, assignment in there.partitions.items() if there else ():
                every.append(TopicPartition(f"t{topic}", number))
                preferred[str(every[-1])] = assignment.replicas[0]
        some = None if before % 4 else every
        trace = self.tracers[node.broker].trace

        async def elect(controller: EventController) -> None:
            epoch = controller.core.context.epoch
            error, errors = await ControllerApi(controller).elect_leaders(PREFERRED_TYPE, some)
            trace.file.line("leaders_elected", {
                "epoch": epoch, "all": some is None, "preferred": preferred, "error": error,
                "errors": {str(one): code for one, code in errors.items()},
            })  # fmt: skip

        node.events.put("ElectLeaders", elect)
        return True

    def _note_questions(self) -> None:
        """Fetchers that have asked anew."""
        for follower, node in self.world.nodes.items():
            tracer = self.tracers[follower]
            for leader, connection in node.connections.items():
                exchange = connection.exchange
                if exchange is None or not exchange.is_under_way:
                    continue
                if self.asked.get((follower, leader), (None, 0))[0] is exchange.questions:
                    continue
                tracer.correlation += 1
                self.asked[follower, leader] = exchange.questions, tracer.correlation
                if exchange.kind in UNTRACED:
                    continue
                for one, question in exchange.questions.items():
                    is_epoch = isinstance(question, EpochQuestion)
                    event = (EpochAsked if is_epoch else RecordsAsked)(one, leader, question)
                    tracer.trace.fetcher_request(event, tracer.correlation)

    def close(self) -> None:
        """Every process ends."""
        for tracer in self.tracers.values():
            tracer.trace.close()
        self.store.trace.file.close()


class TracedRunResult(NamedTuple):
    """The result of a run: its number of steps, the state at rest if it was left alone, and the
    simulator's claim that does not hold, else empty."""

    taken: int
    rest: AtRest | None
    broken: str


SETTLING_STEPS = 4_000
"""So long a cluster is left alone, if it does not come to rest before."""

WITHOUT_ONE_STEPS = 900
"""So long if one of its brokers is dead for good."""


def traced_run(
    folder: Path, seed: int, steps: int, faults: str = "failures", release: str = DEFAULT,
    settles: bool = False,
) -> TracedRunResult:  # fmt: skip
    """Runs a cluster of three brokers, and leaves its traces in ``folder``.

    With ``settles`` the cluster is left alone after that, until it is at rest.
    """
    tracer = RunTracer(folder, topics=1, partitions=2, release=release, seed=seed)
    world = tracer.world
    simulator, taken, broken = ClusterSimulator(world, seed, faults), 0, ""
    claims = ClusterClaims(world)

    def held(look: Callable[[], None]) -> None:
        nonlocal broken
        if not broken:  # the run goes on: the model may have more to say
            try:
                look()
            except ClusterClaimBroken as claim:
                broken = f"{claim} (after {world.clock} steps)"

    try:
        for _ in range(steps):
            if simulator.advance() is None:
                break
            held(claims.look)
            taken += 1
        if not settles:
            return TracedRunResult(taken, None, broken)
        simulator.stop_faults()
        dead = _controller_dies(simulator) if seed % 3 == 2 else False
        for number in range(WITHOUT_ONE_STEPS if dead else SETTLING_STEPS):
            if not (number % 25 or dead) and is_at_rest(world) and _all_is_committed(world):
                held(claims.at_rest)
                break
            if simulator.advance() is None:
                break
            held(claims.look)
            taken += 1
        return TracedRunResult(taken, _at_rest(world), broken)
    finally:
        tracer.close()


def _controller_dies(simulator: ClusterSimulator) -> bool:
    """Ends the controller for good: others must notice. False if none, or if it is needed."""
    world = simulator.world
    held = [number for number, node in world.running() if node.controller.active and node.alive]
    if not held or len(world.running()) < len(world.nodes):
        return False
    world.take(Step("broker_crashes", (held[-1],)))
    simulator.weigh({**simulator.weights, "broker_starts": 0})
    return True


def _all_is_committed(world: WholeCluster) -> bool:
    """Followers learn a high watermark from the next fetch response."""
    held = [one for node in world.nodes.values() for one in node.replicas.partitions.values()]
    return all(one.hw == one.log_end for one in held)


def _at_rest(world: WholeCluster) -> AtRest:
    replicas: dict[str, dict[int, ReplicaAtRest]] = {}
    for broker, node in world.nodes.items():
        for one, replica in node.replicas.partitions.items():
            replicas.setdefault(str(one), {})[broker] = ReplicaAtRest(
                replica.leads, replica.leader, replica.leader_epoch, replica.zk_version,
                replica.isr, replica.hw, replica.log_end,
            )  # fmt: skip
    up = {broker: node for broker, node in world.nodes.items() if node.up}
    return AtRest(
        {name: {one: held[one] for one in held if one in up} for name, held in replicas.items()},
        {broker: node.replicas.controller_epoch for broker, node in up.items()},
        {
            broker: node.controller.core.context.epoch if node.controller.active else 0
            for broker, node in up.items()
        },
    )


def judged_run(
    seed: int, steps: int, faults: str = "failures", release: str = DEFAULT, settles: bool = True
) -> RunningReport:
    """Runs a cluster, and judges each line of its traces by the model; with ``settles`` also its
    state once faults are over (2.3 and later: before KIP-380, 2.2, a bounced broker may never
    follow a leader, and before KAFKA-3143 a broker that died with the controller may stay in an
    ISR). ValueError for a profile under which topics or lists of replicas change."""
    judged_profile(faults, TRACED_PROFILES)
    with TemporaryDirectory(prefix="insync-traced-") as folder:
        run = traced_run(Path(folder), seed, steps, faults, release, settles=settles)
        report = judge_running(sorted(Path(folder).iterdir()), rest=run.rest)
        if run.broken and report.verdict is Verdict.HOLDS:
            report.verdict = Verdict.BROKEN
            report.add(FindingKind.VIOLATION, folder, 0, "the simulator's claims hold", run.broken,
                       "a run in which each claim of `insync simulate` holds")  # fmt: skip
        return report
