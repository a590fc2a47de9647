"""A seeded simulator: random runs of one partition's world, recorded as ``insync.trace/1``.

The seed alone decides the run: the same seed, faults and brokers give the same steps anywhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from impl.sim.simulation import Step
from impl.sim.simulator import SeededSimulator
from impl.world.cluster import PartitionCluster
from impl.world.faults import REPLICATION_FAULTS, weights_in
from impl.world.observation import ChangeTracker
from impl.world.partition_steps import KINDS, partition_cluster
from impl.world.trace import ZOOKEEPER, Trace, TraceEvent, TraceHeader

VERSION = "2.3"
SYSTEM = "replication"
STRATEGY = "any"
"""Of those that may lead, any may be elected: what holds for all of them holds for Kafka's choice.
"""


class PartitionSimulator(SeededSimulator[PartitionCluster]):
    """Takes steps in a world of one partition, and records them."""

    def __init__(self, seed: int, faults: str = "everything", brokers: int = 3) -> None:
        world = partition_cluster(brokers, seed=seed)
        chosen = REPLICATION_FAULTS.named(faults, seed)
        super().__init__(world, seed, weights_in(world, chosen))
        self.seed, self.faults = seed, faults

    def recorded(self, steps: int) -> tuple[TraceHeader, Iterator[TraceEvent]]:
        """A run of that many steps, fewer only if no step is possible: its header and an iterator
        of events, none of which is kept. ValueError for an invalid number.
        """
        if steps < 1:
            raise ValueError(f"a run has 1 step or more, not {steps}")
        changes, brokers = ChangeTracker(self.world), len(self.world.brokers)
        run = f"{self.faults}-{brokers}-{self.seed}-{steps}"
        header = TraceHeader(
            run, self.seed, brokers, VERSION, SYSTEM, self.faults, STRATEGY, changes.initial
        )
        return header, self._events(steps, _CampaignRecorder(run, changes))

    def _events(self, steps: int, recorder: _CampaignRecorder) -> Iterator[TraceEvent]:
        while self.clock < steps:
            step = self.advance()
            if step is None:
                return
            yield recorder.record(step, self.clock)


DONE_BY_ZOOKEEPER = ("controller_node_is_deleted", "session_expires")


def node_of(step: Step) -> int | str:
    """The node of a step: its first argument's broker, or ZooKeeper for ZooKeeper's own steps."""
    return ZOOKEEPER if step.name in DONE_BY_ZOOKEEPER else step.args[0]


def simulate(seed: int, steps: int, faults: str = "everything", brokers: int = 3) -> Trace:
    """A complete run of ``PartitionSimulator.recorded``, as one trace.

    ``faults`` is the name of a profile (see ``impl.world.faults``). ValueError for an invalid
    number or name.
    """
    header, events = PartitionSimulator(seed, faults, brokers).recorded(steps)
    return Trace(header, tuple(events))


def record(steps: Iterable[Step], like: TraceHeader, brokers: int | None = None) -> Trace:
    """Take the given steps in a fresh world, skipping those that are not possible, and record them.

    The header is that of the original run, except for the number of brokers.
    """
    brokers = brokers or like.brokers
    world = partition_cluster(brokers, seed=like.seed)
    changes = ChangeTracker(world)
    header = replace(like, brokers=brokers, initial=changes.initial)
    recorder, events = _CampaignRecorder(like.run, changes), list[TraceEvent]()
    for step in steps:
        if world.why_not(step) is None:
            world.do(step)
            events.append(recorder.record(step, len(events) + 1))
    return Trace(header, tuple(events))


def steps_of(trace: Trace) -> list[Step]:
    """The steps of a recorded run."""
    return [
        Step(event.step, tuple(event.args[name] for name in KINDS[event.step].parameters))
        for event in trace.events
    ]


class _CampaignRecorder:
    def __init__(self, run: str, changes: ChangeTracker) -> None:
        self.run = run
        self.changes = changes
        self.seq: Counter[int | str] = Counter()

    def record(self, step: Step, clock: int) -> TraceEvent:
        changed = self.changes.look()
        node = node_of(step)
        self.seq[node] += 1
        args = dict(zip(KINDS[step.name].parameters, step.args, strict=True))
        line = clock + 1  # where it will stand, below the header
        return TraceEvent(self.run, clock, node, self.seq[node], step.name, args, changed, line)
