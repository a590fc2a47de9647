"""The cluster as plain data: ZooKeeper, brokers and network, saved and restored as one value."""

from __future__ import annotations

from dataclasses import dataclass

from impl.broker.broker import Broker, SavedBroker
from impl.controller.elections import STRATEGIES, Strategy
from impl.journal import Journal
from impl.world.network import Network, SavedNetwork
from impl.world.told import SavedTold, Told
from impl.zookeeper import KafkaZkClient, ZooKeeper
from impl.zookeeper.store import Saved as SavedZooKeeper

MOST_BROKERS = 9


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything in a world at one moment."""

    zookeeper: SavedZooKeeper
    now_ms: int
    brokers: tuple[SavedBroker, ...]
    network: SavedNetwork
    next_record: int
    told: SavedTold


class Cluster:
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
        self.told = Told()
        self.brokers = {
            broker: Broker(broker, self.assignment, self.client, self.journal)
            for broker in self.assignment
        }
        for broker in self.brokers.values():
            broker.start()

    def at(self, now_ms: int) -> None:
        """Set the clock that stamps registrations (ms since 1970); no step reads it."""
        self.client.now_ms = now_ms
        self.journal.now_ms = now_ms

    def snapshot(self) -> Snapshot:
        """The whole state as a value."""
        return Snapshot(
            self.zookeeper.save(),
            self.client.now_ms,
            tuple(broker.save() for broker in self.brokers.values()),
            self.network.save(),
            self.next_record,
            self.told.save(),
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
        self.told.load(snapshot.told)


def strategy_named(name: str) -> Strategy:
    """An election strategy by name; ValueError lists the names."""
    if name not in STRATEGIES:
        raise ValueError(f"no election strategy {name!r}; there are {', '.join(STRATEGIES)}")
    return STRATEGIES[name]
