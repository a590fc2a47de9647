"""Kafka's own log lines (release 2.3) for the events of a one-partition world.

What controllers do and what happens to replicas is said by the lines of running brokers
(``impl.server.controller_lines``, ``replica_lines``); here is what a broker says of its process,
and which request an event answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from impl.core.events import LogTruncating, ReplicaEvent, Sender
from impl.core.states import PartitionState, ReplicaState
from impl.releases import DEFAULT, Release
from impl.server.controller_lines import ControllerLines
from impl.server.log4j_files import CONTROLLER, SERVER, STATE_CHANGE, Log4jFiles, stamp
from impl.server.replica_lines import ReplicaLines
from impl.server.state_texts import ids
from impl.world.journal import Journal
from impl.world.network import PARTITION, OrderInFlight
from impl.znodes import LeaderIsrAndControllerEpoch
from impl.znodes.states import NO_LEADER
from impl.zookeeper.port import wait

FOLDER = "/kafka-logs"
FILES = (CONTROLLER, SERVER, STATE_CHANGE)


class LinesOfBroker(Log4jFiles):
    """One broker's files, whose lines are kept, or written, where all of them are."""

    def __init__(self, logs: KafkaLogs, broker: int) -> None:
        self.logs = logs
        self.broker = broker
        self.release = Release.of(DEFAULT)
        self.old = False

    def line(self, file: str, level: str, message: str, logger: str, thrown: str = "") -> None:
        """Add one line, stamped now; the samples have no stack traces."""
        line = f"[{stamp(self.logs.now_ms)}] {level} {message} ({logger})"
        self.logs.lines[self.broker, file].append(line)


class LineSink(Protocol):
    """What the lines of a file are added to."""

    def append(self, line: str, /) -> None:
        """One more, without its end."""


class LinesOnDisk:
    """A file that is written line by line, whole or not at all."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.file = path.with_name(f"{path.name}.unfinished").open("w", encoding="utf-8")

    def append(self, line: str, /) -> None:
        """One more."""
        self.file.write(f"{line}\n")

    def finish(self) -> None:
        """It is whole."""
        self.file.close()
        Path(self.file.name).replace(self.path)


class KafkaLogs(Journal):
    """Turns what the implementation tells into the lines that Kafka would write.

    They are ``kept`` by broker and file; with a folder they are written to ``brokerN/*.log`` in it
    as they come, and none is kept (``finish`` ends that). ``lines`` takes them either way. Attach
    it to a new world: it numbers the requests that it saw being sent.
    """

    def __init__(self, brokers: int, now_ms: int, folder: Path | None = None) -> None:
        self.now_ms = now_ms
        numbers = range(1, brokers + 1)
        places = [(broker, file) for broker in numbers for file in FILES]
        self._written: dict[tuple[int, str], LinesOnDisk] = {}
        if folder is not None:
            for broker, file in places:
                self._written[broker, file] = LinesOnDisk(folder / f"broker{broker}" / file)
        self.kept: dict[tuple[int, str], list[str]] = (
            {place: [] for place in places} if folder is None else {}
        )
        self.lines: Mapping[tuple[int, str], LineSink] = self._written or self.kept
        self._files = {broker: LinesOfBroker(self, broker) for broker in numbers}
        self._replicas = {broker: ReplicaLines(one) for broker, one in self._files.items()}
        self._controllers = {broker: ControllerLines(one) for broker, one in self._files.items()}
        self._live: dict[int, dict[int, int]] = {}
        self._sent: Counter[int] = Counter()
        self._in_flight: dict[tuple[int, int, int], int] = {}
        """By key, the number of each request that has not arrived; of the lost ones, too."""
        self._answers: dict[int, int] = {}
        self._leaders: dict[int, int] = {}

    def write(self, folder: Path) -> None:
        """Write ``brokerN/*.log``, replacing what is there; each whole or not at all."""
        for (broker, file), lines in self.kept.items():
            written = LinesOnDisk(folder / f"broker{broker}" / file)
            for line in lines:
                written.append(line)
            written.finish()

    def finish(self) -> None:
        """No more lines: the files that were written meanwhile are whole."""
        for one in self._written.values():
            one.finish()

    # Brokers

    def broker_started(self, broker: int, broker_epoch: int, end: int) -> None:
        files = self._files[broker]
        files.line(SERVER, "INFO", "starting", "kafka.server.KafkaServer")
        files.loaded(PARTITION, FOLDER, 1, 0, end)
        if end == 0:
            text = f"No checkpointed highwatermark is found for partition {PARTITION}"
            files.partition(PARTITION, text)
        self._registered(broker, broker_epoch)
        files.server("started")

    def broker_registered_again(self, broker: int, broker_epoch: int) -> None:
        self._files[broker].session_expired()
        self._registered(broker, broker_epoch)

    def _registered(self, broker: int, broker_epoch: int) -> None:
        files = self._files[broker]
        files.registering()
        files.registered(f"broker-{broker}", 9092, broker_epoch)

    # Controllers

    def controller_elected(self, broker: int, epoch: int, epoch_version: int) -> None:
        lines = self._controllers[broker]
        lines.epoch = epoch
        self._live.pop(broker, None)
        wait(lines.elected(epoch, epoch_version))
        for what in (
            "Registering handlers",
            "Deleting log dir event notifications",
            "Deleting isr change notifications",
            "Initializing controller context",
        ):
            wait(lines.step(what))

    def controller_lost_the_race(self, broker: int, winner: int) -> None:
        lines = self._controllers[broker]
        if winner == NO_LEADER:
            text = (
                "A controller has been elected but just resigned, this will result in another "
                "round of election"
            )
            wait(lines.log_line(text, "WARN"))
        else:
            wait(lines.lost_the_race(f"broker {winner} was elected"))

    def controller_resigned(self, broker: int, moved: bool) -> None:
        lines = self._controllers[broker]
        if moved:
            wait(lines.moved("changed", ""))
            self.lines[broker, CONTROLLER].append(
                "org.apache.kafka.common.errors.ControllerMovedException: "
                "Controller epoch zkVersion check fails."
            )
        wait(lines.log_line("Resigning", "DEBUG"))
        wait(lines.resigned())

    def controller_read_brokers(self, broker: int, live: dict[int, int]) -> None:
        lines, before = self._controllers[broker], self._live.get(broker)
        self._live[broker] = dict(live)
        if before is None:
            active = ids(live, ", ")
            wait(lines.log_line(f"Currently active brokers in the cluster: Set({active})"))
            wait(lines.ready(lines.epoch))
        elif before != live:
            added = [other for other in live if other not in before]
            gone = [other for other in before if other not in live]
            bounced = [other for other in live if before.get(other, live[other]) != live[other]]
            wait(lines.brokers(added, gone, bounced, live))

    def controller_wrote_state(
        self,
        broker: int,
        epoch: int,
        before: LeaderIsrAndControllerEpoch,
        now: LeaderIsrAndControllerEpoch,
        removed: int | None,
    ) -> None:
        lines, online = self._controllers[broker], PartitionState.ONLINE
        if removed is None:
            source = online if before.leader in self._live[broker] else PartitionState.OFFLINE
            wait(lines.partition_moved(PARTITION, source, online, (), now))
            return
        if now.leader == NO_LEADER and before.leader == removed:
            wait(lines.partition_moved(PARTITION, online, PartitionState.OFFLINE, ()))
        wait(lines.isr_removed(removed, PARTITION, now))
        states = ReplicaState.ONLINE, ReplicaState.OFFLINE
        wait(lines.replica_moved(removed, PARTITION, *states))

    def controller_sends(self, broker: int, to: int, request: OrderInFlight) -> None:
        self._sent[broker] += 1
        self._in_flight[request.key] = self._sent[broker]
        lines = self._controllers[broker]
        wait(lines.sends_leader_and_isr(to, request.request))

    # Replicas

    def request_arrives(self, request: OrderInFlight) -> None:
        self._answers[request.target] = self._in_flight.pop(request.key)
        self._leaders[request.target] = request.state.leader

    def replicas(self, broker: int, event: ReplicaEvent) -> None:
        lines = self._replicas[broker]
        if isinstance(event, LogTruncating):
            lines.truncating(event, FOLDER + "/t-0", self._leaders[broker], 0)
            return
        by = getattr(event, "sender", None)
        if isinstance(by, Sender):  # under the number that its sender gave the request
            number = self._answers[broker]
            event = replace(event, sender=replace(by, correlation=number))  # type: ignore[arg-type]
        lines(event)
