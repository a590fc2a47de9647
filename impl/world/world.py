"""The world: ZooKeeper, brokers and network under one scheduler that is the caller.

Nothing happens by itself. ``enabled()`` lists every step that may happen next, ``do(step)`` takes
one. All state is plain data; ``snapshot()`` is an immutable, comparable, hashable value of it.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from impl.broker.broker import Broker, SavedBroker
from impl.controller.elections import STRATEGIES, Strategy
from impl.journal import Journal
from impl.world import control, delivery, lifecycle, replication
from impl.world.network import Network, SavedNetwork
from impl.world.observation import Observation, observe
from impl.world.steps import Step, StepKind, StepNotPossible
from impl.zookeeper import KafkaZkClient, ZooKeeper
from impl.zookeeper.store import Saved as SavedZooKeeper

KINDS: dict[str, StepKind] = {
    kind.name: kind
    for kind in sorted(
        (*lifecycle.KINDS, *control.KINDS, *delivery.KINDS, *replication.KINDS),
        key=lambda kind: kind.name,
    )
}
"""Every step of the world by name, sorted."""

MOST_BROKERS = 9


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything in a world at one moment."""

    zookeeper: SavedZooKeeper
    now_ms: int
    brokers: tuple[SavedBroker, ...]
    network: SavedNetwork
    next_record: int


class World:
    """Brokers 1..N with one partition, assigned to all of them in that order.

    ``strategy`` says who may be elected: ``"any"`` (every safe candidate), ``"assignment order"``
    (Kafka's choice), or a function, see ``impl.controller.elections``. ``seed`` only moves the
    numbers at which session ids and zxids begin, so that nothing may depend on them. ``journal``
    hears what Kafka would log. ValueError for a number of brokers that makes no sense.
    """

    def __init__(
        self,
        brokers: int = 3,
        seed: int = 0,
        strategy: str | Strategy = "any",
        journal: Journal | None = None,
    ) -> None:
        if not 1 <= brokers <= MOST_BROKERS:
            raise ValueError(f"a world has 1 to {MOST_BROKERS} brokers, not {brokers}; try 3")
        self.seed = seed
        self.strategy = strategy_named(strategy) if isinstance(strategy, str) else strategy
        self.journal = Journal() if journal is None else journal
        self.assignment = tuple(range(1, brokers + 1))
        self.zookeeper = ZooKeeper(first_zxid=seed % 1000, first_session=seed % 1000 + 1)
        self.client = KafkaZkClient(self.zookeeper)
        self.client.create_top_level(self.assignment)
        self.network = Network(self.assignment)
        self.next_record = 0
        self.brokers = {
            broker: Broker(broker, self.assignment, self.client, self.journal)
            for broker in self.assignment
        }
        for broker in self.brokers.values():
            broker.start()
        self._grid = {
            name: [Step(name, args) for args in kind.candidates(self)]
            for name, kind in KINDS.items()
            if kind.fixed
        }

    # Stepping

    def enabled(self) -> list[Step]:
        """Every step that may be taken now, sorted by name and arguments."""
        steps: list[Step] = []
        for name, kind in KINDS.items():
            candidates = (
                self._grid[name]
                if kind.fixed
                else [Step(name, args) for args in kind.candidates(self)]
            )
            refusal = kind.refusal
            steps.extend(step for step in candidates if refusal(self, *step.args) is None)
        return steps

    def why_not(self, step: Step) -> str | None:
        """The first condition of the step that does not hold, None if it may be taken."""
        kind = KINDS.get(step.name)
        if kind is None:
            near = difflib.get_close_matches(step.name, KINDS, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            return f"{step.name} is the name of a step{hint}"
        if len(step.args) != len(kind.parameters):
            return f"the arguments are ({', '.join(kind.parameters)})"
        if kind.fixed and step not in self._grid[step.name]:
            return f"the brokers named are among 1 to {len(self.brokers)}, and two different ones"
        return kind.refusal(self, *step.args)

    def do(self, step: Step) -> None:
        """Take a step; StepNotPossible with the reason if it is not enabled."""
        reason = self.why_not(step)
        if reason is not None:
            raise StepNotPossible(step, reason)
        KINDS[step.name].act(self, *step.args)

    def at(self, now_ms: int) -> None:
        """Set the clock that stamps registrations (ms since 1970); no step reads it."""
        self.client.now_ms = now_ms
        self.journal.now_ms = now_ms

    # State

    def observe(self) -> Observation:
        """Every fact of the world as nested dictionaries and lists, fresh for the caller."""
        return observe(self)

    def snapshot(self) -> Snapshot:
        """The whole state as a value."""
        return Snapshot(
            self.zookeeper.save(),
            self.client.now_ms,
            tuple(broker.save() for broker in self.brokers.values()),
            self.network.save(),
            self.next_record,
        )

    def restore(self, snapshot: Snapshot) -> None:
        """Become what a snapshot says; it must be of a world of as many brokers (ValueError)."""
        if len(snapshot.brokers) != len(self.brokers):
            raise ValueError(
                f"the snapshot is of {len(snapshot.brokers)} brokers, "
                f"this world has {len(self.brokers)}"
            )
        self.zookeeper.load(snapshot.zookeeper)
        self.client.now_ms = snapshot.now_ms
        for broker, saved in zip(self.brokers.values(), snapshot.brokers, strict=True):
            broker.load(saved)
        self.network.load(snapshot.network)
        self.next_record = snapshot.next_record


def strategy_named(name: str) -> Strategy:
    """An election strategy by name; ValueError lists the names."""
    if name not in STRATEGIES:
        raise ValueError(f"no election strategy {name!r}; there are {', '.join(STRATEGIES)}")
    return STRATEGIES[name]
