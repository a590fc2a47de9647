"""One broker of the staged cluster; a grain decides where its controller's events are suspended.

A leader adds a follower to the ISR only in a step for this, and each partition is in its own log
directory.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from impl.core.answers import NONE
from impl.core.channels import Channel
from impl.core.event_controller import EventController
from impl.core.event_manager import Work
from impl.core.fetcher_thread import Phase
from impl.core.partition import Partition
from impl.core.replica_manager import STORAGE_ERROR, ReplicaManager
from impl.core.requests import LeaderAndIsr
from impl.log import Record
from impl.log.errors import StorageError
from impl.log.record_log import RecordLog
from impl.releases import Release
from impl.sim.effects import JournalReport, SendRequests, ZkOperation
from impl.sim.event_run import ControllerThread, Grain, WatchEvent
from impl.sim.isr_write import SteppedIsr
from impl.world.simulated_broker import SentRequest, SimulatedBroker
from impl.world.stepped.in_memory_broker import InMemoryBroker, LogsInMemory
from impl.znodes import TopicPartition
from impl.zookeeper import ConnectionLoss, EmbeddedSession, ZooKeeper

LAG_MS = 10_000
NO_SESSION = 0
MOST_ROUNDS = 200


ANSWER, SHUTDOWN = "LeaderAndIsrResponseReceived", "ControlledShutdown"
"""Events of a controller that brokers bring."""

Answers = tuple[frozenset[TopicPartition], frozenset[TopicPartition]]
"""Partitions that a broker said it cannot reach the logs of, and those that it obeyed after all."""


async def _never_run(controller: EventController) -> None:
    raise AssertionError("answers are heard as `response_event` says")


class StagedLogs(LogsInMemory):
    """Each log in its own log directory. ``failing``: the directories that cannot be used.

    ``offline``: the partitions whose directory failed under the process.
    """

    def __init__(self, release: Release) -> None:
        super().__init__(release)
        self.failing: set[TopicPartition] = set()
        self.offline: set[TopicPartition] = set()

    @property
    def some_offline(self) -> bool:  # type: ignore[override]
        """Whether a log directory cannot be used."""
        return bool(self.failing)

    def has(self, partition: TopicPartition) -> bool:
        """Whether the partition has a log that can be used."""
        return partition not in self.failing and super().has(partition)

    def is_offline(self, partition: TopicPartition) -> bool:
        """Whether the partition had a log that can no longer be used."""
        return partition in self.offline

    async def create(self, partition: TopicPartition) -> RecordLog:
        """A partition's log, created if there is none. StorageError."""
        if partition in self.failing:
            raise StorageError(str(partition), "", "its log directory is offline")
        return await super().create(partition)

    def save(self) -> Any:
        """Everything, as a value."""
        return super().save(), frozenset(self.failing), frozenset(self.offline)

    def load(self, saved: Any) -> None:
        """Restore what `save` returned."""
        held, failing, offline = saved
        super().load(held)
        self.failing, self.offline = set(failing), set(offline)


class StagedPartition(SteppedIsr[RecordLog]):
    """A replica that adds a follower to its ISR only in the step about this follower."""

    joining: int | None = None

    async def expand(self, replica: int, now_ms: int) -> None:
        """Expand the ISR when Kafka would."""
        if replica == self.joining:
            await Partition.expand(self, replica, now_ms)


class StagedBroker(SimulatedBroker, InMemoryBroker):
    """A broker whose controller's events are suspended at the points of ``grain``.

    ``perform_effect`` gets the requests and reports of its controller.
    """

    lag_ms = LAG_MS
    new_logs = StagedLogs
    logs: StagedLogs
    replicas: ReplicaManager

    def __init__(
        self,
        broker: int,
        zookeeper: ZooKeeper,
        release: Release,
        now_ms: Callable[[], int],
        grain: Grain,
        perform_effect: Callable[[int, SendRequests | JournalReport], None],
    ) -> None:
        SimulatedBroker.__init__(self, broker, zookeeper, release, now_ms)
        self.departure = "stays"
        self.answered: dict[int, Answers] = {}
        self.thread = ControllerThread(
            broker, zookeeper, NO_SESSION, release, grain,
            lambda effect: perform_effect(broker, effect),
        )  # fmt: skip
        InMemoryBroker.__init__(self, broker, release, self.thread.port, StagedPartition)
        self.start()

    # Life

    def start(self) -> None:
        """Start a new process: open a session, and register."""
        self.logs.offline.clear()
        self.open_session()
        self.register()

    def _controller_of_session(self) -> EventController:
        self.thread.renew(self.session.session)
        return self.thread.controller

    def resign(self) -> None:
        """Close the channels, and drop what was queued for the controller."""
        self.channels.close()
        self.forget()

    def forget(self) -> None:
        """Drop what was queued for a controller that has resigned."""
        self.events.waiting.clear()
        self.answered.clear()

    def crash(self, power: bool = False) -> None:
        """The process ends; its session and its written data stay."""
        super().crash(power)
        self.lose_memory()
        self.replicas.isr_changes.clear()
        self.departure = "stays"
        self.answered.clear()
        self.thread.renew(self.session.session)

    def put(self, name: str, work: Work, broker: int = 0) -> None:
        """Queue an event of its controller, unless the same event is queued already."""
        if all((one.name, one.broker) != (name, broker) for one in self.events.waiting):
            super().put(name, work, broker)

    # The controller's event thread

    @property
    def is_blocked(self) -> bool:
        """Whether its event is about to use ZooKeeper and has no session."""
        place = self.thread.place
        asks = place is not None and isinstance(place.effect, ZkOperation) and not place.is_done
        return asks and not self.alive

    @property
    def waits_for_reply(self) -> bool:
        """Whether ZooKeeper has executed its event's operation; its reply is under way or lost."""
        place = self.thread.place
        return place is not None and place.is_done and isinstance(place.effect, ZkOperation)

    @property
    def reply_to_registration_is_lost(self) -> bool:
        """Whether the reply that its event waits for is lost."""
        place = self.thread.place
        return place is not None and place.is_done and isinstance(place.answer, ConnectionLoss)

    # Answers to this broker's controller

    def note(self, broker: int, partition: TopicPartition, error: str) -> None:
        """Record a broker's LeaderAndIsr response about one partition's log directory.

        Of the waiting responses the last error counts, and a success that came after it.
        """
        known = self.thread.controller.core.context.offline_directories.get(broker, ())
        refused, obeyed = self.answered.get(broker, (frozenset(), frozenset()))
        if error == STORAGE_ERROR:
            refused, obeyed = refused | {partition}, obeyed - {partition}
        elif error == NONE and (partition in known or partition in refused):
            obeyed = obeyed | {partition}
        if refused or obeyed:
            self.answered[broker] = refused, obeyed

    def handle_response(self, broker: int) -> None:
        """Queue a response event; its content is determined when the event is handled."""
        self.put(ANSWER, _never_run, broker)

    def response_event(self, broker: int) -> WatchEvent:
        """The controller event for a broker's responses: new errors only, or all of them."""
        context = self.thread.controller.core.context
        refused, obeyed = self.answered.pop(broker, (frozenset(), frozenset()))
        errors = dict.fromkeys(refused, STORAGE_ERROR)
        if not refused <= context.offline_directories.get(broker, set()):
            if obeyed:
                self.answered[broker] = frozenset(), obeyed
                self.handle_response(broker)
        else:
            errors |= dict.fromkeys(obeyed, NONE)
        asked = LeaderAndIsr(0, self.broker, context.epoch, -1, {}, ())
        return lambda controller: controller.leader_and_isr_answered(broker, asked, NONE, errors)

    # Log directories

    def has_failed(self, partition: TopicPartition) -> bool:
        """Whether the log directory of a partition cannot be used."""
        return partition in self.logs.failing

    def lose(self, partition: TopicPartition) -> None:
        """Fail its log directory under the broker, which keeps its other log directories."""
        if self.logs.has(partition):
            self.logs.offline.add(partition)
        self.logs.failing.add(partition)
        self.replicas.log_dir_failed()
        self.failure_unreported = True

    def repair(self, partition: TopicPartition) -> None:
        """Mount its log directory again, with its old content."""
        self.logs.failing.discard(partition)

    # Following

    def fetches(self, partition: TopicPartition, leader: StagedBroker) -> bool:
        """Whether its fetches are answered: both brokers are up, and in the same leader epoch."""
        mine = self.replicas.partitions.get(partition)
        theirs = leader.replicas.partitions.get(partition)
        connection = self.connections.get(leader.broker)
        return (
            self.up and leader.up and mine is not None and theirs is not None and theirs.leads
            and mine.leader_epoch == theirs.leader_epoch
            and connection is not None and partition in connection.rounds.states
        )  # fmt: skip

    def compares(self, partition: TopicPartition, leader: int) -> bool:
        """Whether the follower has not yet compared its log with the leader's."""
        state = self.connections[leader].rounds.states[partition]
        return state.phase is Phase.TRUNCATING

    def catches_up(self, partition: TopicPartition, leader: StagedBroker) -> None:
        """Compare, truncate and fetch, until the leader knows that the follower caught up."""
        for _ in range(MOST_ROUNDS):
            compared = not self.compares(partition, leader.broker)
            before = self.replicas.partitions[partition].log_end
            self.exchange(partition, leader.replicas, self.now_ms())
            after = self.replicas.partitions[partition].log_end
            if compared and before == after == leader.replicas.partitions[partition].log_end:
                return
        raise AssertionError(f"broker {self.broker} does not catch up with {leader.broker}")

    # Logs

    def records(self, partition: TopicPartition) -> list[Record]:
        """The records of a replica's log, even if the log cannot be used."""
        held = self.logs.held.get(partition)
        return [] if held is None else held[1].records

    # Plain data

    def save(self) -> Any:
        """Everything except its controller, as a value."""
        return (
            super().save(), self.lingers, self.failure_unreported, self.epoch, self.port,
            self.departure, self.session.session, dict(self.answered),
            frozenset(self.replicas.isr_changes), tuple(self.events.waiting),
            _saved(self.channels.open), _saved(self.channels.orphans),
        )  # fmt: skip

    def load(self, saved: Any) -> None:
        """Restore what `save` returned."""
        (
            host, self.lingers, self.failure_unreported, self.epoch, self.port, self.departure,
            session, answered, isr_changes, waiting, channels, orphans,
        ) = saved  # fmt: skip
        super().load(host)
        if session != self.session.session:
            self._has_session(EmbeddedSession.known(self.zookeeper, session))
        self.answered, self.replicas.isr_changes = dict(answered), set(isr_changes)
        self.events.waiting = deque(waiting)
        self.channels.open, self.channels.orphans = _loaded(channels), _loaded(orphans)


Sent = Channel[SentRequest]


def _saved(channels: Mapping[int, Sent]) -> Any:
    return tuple(
        (broker, one.epoch, tuple(one.waiting), one.under_way, one.orphan)
        for broker, one in channels.items()
    )


def _loaded(saved: Any) -> dict[int, Sent]:
    found = dict[int, Sent]()
    for broker, epoch, waiting, under_way, orphan in saved:
        one: Sent = Channel(epoch)
        one.waiting, one.under_way, one.orphan = deque(waiting), under_way, orphan
        found[broker] = one
    return found
