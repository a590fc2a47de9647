"""One broker of the staged cluster; a grain says where its controller's events are suspended.

A leader takes a follower into the ISR only in a step that says so, and each partition lies in a log
directory of its own.
"""

from __future__ import annotations

from collections.abc import Callable

from impl.core.answers import NONE
from impl.core.event_controller import EventController
from impl.core.event_manager import Work
from impl.core.fetcher_thread import Phase
from impl.core.partition import Partition
from impl.core.replica_manager import STORAGE_ERROR, HostedLog
from impl.core.requests import LeaderAndIsr
from impl.disk import MemoryDisk
from impl.log import LogConfig
from impl.log.stored_log import StoredLog, StoredLogs
from impl.releases import Release
from impl.sim.effects import JournalReport, SendRequests, ZkOperation
from impl.sim.event_run import ControllerThread, Grain, WatchEvent
from impl.world.simulated_broker import FOLDER, SimulatedBroker
from impl.world.wide.ghosts import records_in
from impl.znodes import TopicPartition
from impl.zookeeper import ConnectionLoss, ZooKeeper

LAG_MS = 10_000
NO_SESSION = 0
MOST_ROUNDS = 200


ANSWER, SHUTDOWN = "LeaderAndIsrResponseReceived", "ControlledShutdown"
"""Events of a controller that brokers bring."""

Answers = tuple[frozenset[TopicPartition], frozenset[TopicPartition]]
"""Partitions that a broker said it cannot reach the logs of, and those that it obeyed after all."""


async def _never_run(controller: EventController) -> None:
    raise AssertionError("answers are heard as `answer_of` says")


def folder_of(partition: TopicPartition) -> str:
    """The log directory in which a partition lies, alone."""
    return f"{FOLDER}-{partition.partition}"


class OwnDirectories(StoredLogs):
    """The logs of a broker, each in a log directory of its own."""

    async def create(self, partition: tuple[str, int]) -> StoredLog:
        """A partition's log, made if there is none. StorageError."""
        log = self.logs.create(partition, folder_of(TopicPartition(*partition)))
        return StoredLog(self.logs, partition, log, self.release)


class StagedPartition(Partition[HostedLog]):
    """A replica that takes a follower into its ISR in the step that is about this follower."""

    joining: int | None = None

    async def expand(self, replica: int, now_ms: int) -> None:
        """Expand the ISR when Kafka would."""
        if replica == self.joining:
            await super().expand(replica, now_ms)


class StagedBroker(SimulatedBroker):
    """A broker whose controller's events are suspended where ``grain`` says.

    ``carry_out`` gets what its controller sends and reports.
    """

    lag_ms = LAG_MS
    config = LogConfig(segment_index_bytes=256, index_interval_bytes=512)
    stored_logs = OwnDirectories

    def __init__(
        self,
        broker: int,
        zookeeper: ZooKeeper,
        release: Release,
        now_ms: Callable[[], int],
        grain: Grain,
        carry_out: Callable[[int, SendRequests | JournalReport], None],
        partitions: int = 1,
    ) -> None:
        super().__init__(broker, zookeeper, release, now_ms)
        self.folders = [folder_of(TopicPartition("", number)) for number in range(partitions)]
        self.departure = "stays"
        self.disk = MemoryDisk(now_ms, power_loss=False)
        self.held: dict[TopicPartition, dict[int, int]] = {}
        self.answered: dict[int, Answers] = {}
        self.thread = ControllerThread(
            broker, zookeeper, NO_SESSION, release, grain,
            lambda effect: carry_out(broker, effect),
        )  # fmt: skip
        self.start()

    # Life

    def start(self) -> None:
        """A new process: logs are loaded, a session is opened, and it registers."""
        # One directory has to work: one without partitions, where all others have failed.
        spare = [FOLDER] if self.disk.failing.issuperset(self.folders) else []
        self.load([*self.folders, *spare], new_partition=StagedPartition)
        self.open_session()
        self.register()

    def _controller_of_session(self) -> EventController:
        self.thread.renew(self.session.session)
        return self.thread.controller

    def resign(self) -> None:
        """The controller is none any more: what was queued is forgotten."""
        self.channels.close()
        self.forget()

    def forget(self) -> None:
        """What was queued for a controller that is none any more."""
        self.events.waiting.clear()
        self.answered.clear()

    def crash(self, power: bool = False) -> None:
        """The process ends; its session and what it wrote stay."""
        for partition in self.replicas.partitions:
            self.look(partition)
        super().crash(power)
        self.departure = "stays"
        self.answered.clear()
        self.thread.renew(self.session.session)

    def put(self, name: str, work: Work, broker: int = 0) -> None:
        """Queue an event of its controller, unless it waits there already."""
        if all((one.name, one.broker) != (name, broker) for one in self.events.waiting):
            super().put(name, work, broker)

    # The controller's event thread

    @property
    def is_blocked(self) -> bool:
        """Its event is about to ask ZooKeeper, and waits for a session to ask on."""
        place = self.thread.place
        asks = place is not None and isinstance(place.effect, ZkOperation) and not place.is_done
        return asks and not self.alive

    @property
    def waits_for_reply(self) -> bool:
        """ZooKeeper has carried out what its event asked; the answer is on its way, or lost."""
        place = self.thread.place
        return place is not None and place.is_done and isinstance(place.effect, ZkOperation)

    @property
    def reply_to_registration_is_lost(self) -> bool:
        """The answer that its event waits for will not come."""
        place = self.thread.place
        return place is not None and place.is_done and isinstance(place.answer, ConnectionLoss)

    # Answers to this broker's controller

    def note(self, broker: int, partition: TopicPartition, error: str) -> None:
        """A broker's answer to a LeaderAndIsr: what it says of one partition's log directory.

        Of those that wait the last refusal counts, and that the broker obeyed after it.
        """
        known = self.thread.controller.core.context.offline_directories.get(broker, ())
        refused, obeyed = self.answered.get(broker, (frozenset(), frozenset()))
        if error == STORAGE_ERROR:
            refused, obeyed = refused | {partition}, obeyed - {partition}
        elif error == NONE and (partition in known or partition in refused):
            obeyed = obeyed | {partition}
        if refused or obeyed:
            self.answered[broker] = refused, obeyed

    def hears_answer(self, broker: int) -> None:
        """A broker has answered; what its answers say is found when the event is taken up."""
        self.put(ANSWER, _never_run, broker)

    def answer_of(self, broker: int) -> WatchEvent:
        """The controller event for a broker's responses: new errors only, or all of them."""
        context = self.thread.controller.core.context
        refused, obeyed = self.answered.pop(broker, (frozenset(), frozenset()))
        errors = dict.fromkeys(refused, STORAGE_ERROR)
        if not refused <= context.offline_directories.get(broker, set()):
            if obeyed:
                self.answered[broker] = frozenset(), obeyed
                self.hears_answer(broker)
        else:
            errors |= dict.fromkeys(obeyed, NONE)
        asked = LeaderAndIsr(0, self.broker, context.epoch, -1, {}, ())
        return lambda controller: controller.leader_and_isr_answered(broker, asked, NONE, errors)

    # Log directories

    def has_failed(self, partition: TopicPartition) -> bool:
        """The log directory of a partition cannot be used."""
        return folder_of(partition) in self.disk.failing

    def lose(self, partition: TopicPartition) -> None:
        """Its log directory fails under the broker, which has others and goes on with them."""
        self.look(partition)
        self.disk.failing.add(folder_of(partition))
        self.logs.fail(folder_of(partition), "input/output error")

    def repair(self, partition: TopicPartition) -> None:
        """Its log directory is mounted again, with all that was in it."""
        self.disk.failing.discard(folder_of(partition))

    # Following

    def fetches(self, partition: TopicPartition, leader: StagedBroker) -> bool:
        """Its fetches are answered: both are up, and in one leader epoch."""
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
        """Compare, cut, fetch: until a fetch has shown the leader that there is nothing more."""
        for _ in range(MOST_ROUNDS):
            compared = not self.compares(partition, leader.broker)
            before = self.replicas.partitions[partition].log_end
            self.exchange(partition, leader.replicas, self.now_ms())
            after = self.replicas.partitions[partition].log_end
            if compared and before == after == leader.replicas.partitions[partition].log_end:
                return
        raise AssertionError(f"broker {self.broker} does not catch up with {leader.broker}")

    # Logs

    def look(self, partition: TopicPartition) -> dict[int, int]:
        """The records of a replica's log, by offset; of a stopped process, as they were."""
        hosted = self.replicas.partitions.get(partition) if self.up else None
        if hosted is not None:
            self.held[partition] = records_in(hosted)
        return self.held.get(partition, {})
