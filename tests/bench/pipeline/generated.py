"""Logs of a cluster as large as wanted, written by seed: what the pipeline is measured on.

Three brokers of release 2.3 and a controller elect leaders, send what they wrote, and leaders
shrink and expand ISRs. Every line is in the layout and the words of Kafka's own loggers; files are
rolled each hour of the clusters' clock. What the protocol forbids is planted at known lines, so
that every way of checking has the same findings to find.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

BROKERS = (1, 2, 3)
FIRST_SECOND = 1_709_287_200  # 2024-03-01 10:00:00, when the clusters' clock begins
MS_A_LINE = 36  # so that an hour, which is a file of each log, has a hundred thousand lines
_STATE, _SERVER, _CONTROLLER = "state-change.log", "server.log", "controller.log"
_FAILOVER_EVERY = 4000  # turns
_STATE_LOGGER, _PARTITION = "state.change.logger", "kafka.cluster.Partition"
_CONTROLLER_LOGGER, _SERVER_LOGGER = "kafka.controller.KafkaController", "kafka.server.KafkaServer"


@dataclass(frozen=True)
class LogSize:
    """How many lines, of how many partitions; `skew`: half of what happens is of the first one."""

    lines: int
    partitions: int
    skew: bool = False
    seed: int = 1
    planted: int = 6

    @property
    def name(self) -> str:
        """As it is shown, and as the folder is called."""
        return f"{self.lines}-{self.partitions}{'-skew' if self.skew else ''}"


@dataclass
class PlantedLine:
    """A line that no run of the protocol writes."""

    file: str
    line: int
    rule: str


@dataclass
class _Partition:
    topic: str
    number: int
    leader: int
    isr: tuple[int, ...] = BROKERS
    epoch: int = 0
    version: int = 0
    offset: int = 0

    @property
    def tp(self) -> str:
        return f"{self.topic}-{self.number}"


@dataclass
class WrittenLogs:
    """What was written: lines in all, bytes, and what was planted, in order."""

    lines: int = 0
    bytes: int = 0
    planted: list[PlantedLine] = field(default_factory=list)


def write(size: LogSize, folder: Path) -> WrittenLogs:
    """Write the logs of a size into `folder`, one sub-folder a broker."""
    return _Writer(size, folder).run()


class _Writer:
    def __init__(self, size: LogSize, folder: Path) -> None:
        self.size, self.folder = size, folder
        self.random = random.Random(size.seed)
        self.written = WrittenLogs()
        self.files: dict[tuple[int, str], IO[str]] = {}
        self.names: dict[tuple[int, str], str] = {}
        self.counts: dict[tuple[int, str], int] = {}
        self.now = FIRST_SECOND * 1000
        self.second, self.stamp = -1, ""
        self.hour = ""
        self.controller, self.epoch, self.correlation = 1, 0, 0
        self.partitions = [
            _Partition(
                f"topic{n // 50}", n % 50, BROKERS[n % 3], (*BROKERS[n % 3 :], *BROKERS[: n % 3])
            )
            for n in range(size.partitions)
        ]

    def run(self) -> WrittenLogs:
        steps = max(1, self.size.lines // (self.size.planted + 1))
        plant_at = [steps * (n + 1) for n in range(self.size.planted)]
        turn = 0
        self._start()
        while self.written.lines < self.size.lines:
            turn += 1
            if turn % _FAILOVER_EVERY == 0:
                self._failover()
            partition = self._chosen()
            if plant_at and self.written.lines >= plant_at[0]:
                plant_at.pop(0)
                self._plant(len(plant_at) % 3, partition)
            else:
                self._turn(partition)
        self._close()
        return self.written

    def _chosen(self) -> _Partition:
        if self.size.skew and self.random.random() < 0.5:
            return self.partitions[0]
        return self.random.choice(self.partitions)

    # -- what happens ---------------------------------------------------------------------------

    def _start(self) -> None:
        for broker in BROKERS:
            self._line(broker, _SERVER, "INFO", "starting", _SERVER_LOGGER)
            self._line(
                broker, _SERVER, "INFO", "Cluster ID = q8Xn2YpPQbOe7Xk1mG4d-w", _SERVER_LOGGER
            )
            self._line(
                broker, _SERVER, "INFO",
                f"Registered broker {broker} at path /brokers/ids/{broker} with addresses: "
                f"PLAINTEXT://host{broker}:9092, czxid (broker epoch): {20 + broker}",
                "kafka.zk.KafkaZkClient",
            )  # fmt: skip
            self._line(
                broker, _SERVER, "INFO", "Kafka version: 2.3.0",
                "org.apache.kafka.common.utils.AppInfoParser",
            )  # fmt: skip
            text = f"[KafkaServer id={broker}] started"
            self._line(broker, _SERVER, "INFO", text, _SERVER_LOGGER)
        self._failover()
        for partition in self.partitions:
            self._changed(partition, "NewPartition")
            self._sent(partition, is_new=True)
            self._handled(partition, before=-1, is_new=True)

    def _failover(self) -> None:
        if self.epoch:
            text = f"[Controller id={self.controller}] Resigned"
            self._line(self.controller, _CONTROLLER, "INFO", text, _CONTROLLER_LOGGER)
        self.controller = BROKERS[(self.epoch + 1) % 3]
        self.epoch += 1
        who, epoch = self.controller, self.epoch
        text = (
            f"[Controller id={who}] {who} successfully elected as the controller. Epoch "
            f"incremented to {epoch} and epoch zk version is now {epoch}"
        )
        self._line(who, _CONTROLLER, "INFO", text, _CONTROLLER_LOGGER)
        text = f"[Controller id={who}] Ready to serve as the new controller with epoch {epoch}"
        self._line(who, _CONTROLLER, "INFO", text, _CONTROLLER_LOGGER)

    def _turn(self, partition: _Partition) -> None:
        chance = self.random.random()
        partition.offset += self.random.randrange(1, 50)
        if chance < 0.45:
            before = partition.epoch
            others = [one for one in partition.isr if one != partition.leader]
            partition.leader = self.random.choice(others or [partition.leader])
            partition.epoch += 1
            partition.version += 1
            self._changed(partition, "OnlinePartition")
            self._sent(partition)
            self._handled(partition, before)
        elif chance < 0.9:
            out = [one for one in BROKERS if one not in partition.isr]
            if out:
                self._isr(partition, "Expanding", tuple(sorted((*partition.isr, out[0]))))
            else:
                left = [one for one in partition.isr if one != partition.leader]
                gone = self.random.choice(left)
                kept = tuple(one for one in partition.isr if one != gone)
                self._isr(partition, "Shrinking", kept)
        else:
            text = (
                f"[GroupMetadataManager brokerId={partition.leader}] Removed 0 expired offsets "
                "in 0 milliseconds."
            )
            logger = "kafka.coordinator.group.GroupMetadataManager"
            self._line(partition.leader, _SERVER, "INFO", text, logger)

    def _plant(self, which: int, partition: _Partition) -> None:
        """Break one rule in one line; what follows goes on from before it."""
        if which == 0:
            held = partition.leader
            partition.leader = 9
            self._changed(partition, "OnlinePartition", again=True)
            partition.leader = held
            self._planted(self.controller, _STATE, "leader_is_in_its_isr")
        elif which == 1:
            held, partition.epoch = partition.epoch, max(0, partition.epoch - 5)
            self._turn_back(partition)
            partition.epoch = held
            self._planted(self.controller, _STATE, "leader_epochs_never_go_back")
        else:
            self._cached(BROKERS[self.controller % 3], partition, self.epoch - 1)
            self._planted(BROKERS[self.controller % 3], _STATE, "no_older_controller_is_obeyed")

    def _turn_back(self, partition: _Partition) -> None:
        version = partition.version
        partition.version = 1_000_000 + version  # no neighbour: the epoch alone is wrong
        self._changed(partition, "OnlinePartition", again=True)
        partition.version = version

    def _planted(self, broker: int, log: str, rule: str) -> None:
        key = broker, log
        self.written.planted.append(PlantedLine(self.names[key], self.counts[key], rule))

    # -- what is written ------------------------------------------------------------------------

    def _state(self, partition: _Partition, is_new: bool = False, more: str = "") -> str:
        isr = ",".join(map(str, partition.isr))
        return (
            f"PartitionState(controllerEpoch={self.epoch}, leader={partition.leader}, "
            f"leaderEpoch={partition.epoch}, isr={isr}, zkVersion={partition.version}, "
            f"replicas=1,2,3{more or f', isNew={str(is_new).lower()}'})"
        )

    def _changed(self, partition: _Partition, before: str, again: bool = False) -> None:
        head = f"[Controller id={self.controller} epoch={self.epoch}] "
        if before == "NewPartition":
            text = (
                f"{head}Changed partition {partition.tp} state from NonExistentPartition to "
                f"NewPartition with assigned replicas {','.join(map(str, partition.isr))}"
            )
            self._line(self.controller, _STATE, "TRACE", text, _STATE_LOGGER)
        isr = ", ".join(map(str, partition.isr))
        version = partition.version + (7_000_000 if again and partition.leader == 9 else 0)
        text = (
            f"{head}Changed partition {partition.tp} from {before} to OnlinePartition with state "
            f"LeaderAndIsr(leader={partition.leader}, leaderEpoch={partition.epoch}, "
            f"isr=List({isr}), zkVersion={version})"
        )
        self._line(self.controller, _STATE, "TRACE", text, _STATE_LOGGER)

    def _sent(self, partition: _Partition, is_new: bool = False) -> None:
        head = f"[Controller id={self.controller} epoch={self.epoch}] "
        for broker in BROKERS:
            role = "leader" if broker == partition.leader else "follower"
            text = (
                f"{head}Sending become-{role} LeaderAndIsr request "
                f"{self._state(partition, is_new)} to broker {broker} for partition {partition.tp}"
            )
            self._line(self.controller, _STATE, "TRACE", text, _STATE_LOGGER)

    def _handled(self, partition: _Partition, before: int, is_new: bool = False) -> None:
        self.correlation += 1
        request = f"controller {self.controller} epoch {self.epoch}"
        for broker in BROKERS:
            head, role = f"[Broker id={broker}] ", "follower"
            text = (
                f"{head}Received LeaderAndIsr request {self._state(partition, is_new)} "
                f"correlation id {self.correlation} from {request} for partition {partition.tp}"
            )
            self._line(broker, _STATE, "TRACE", text, _STATE_LOGGER)
            if broker == partition.leader:
                role = "leader"
            text = (
                f"{head}Handling LeaderAndIsr request correlationId {self.correlation} from "
                f"{request} starting the become-{role} transition for partition {partition.tp}"
                + ("" if role == "leader" else f" with leader {partition.leader}")
            )
            self._line(broker, _STATE, "TRACE", text, _STATE_LOGGER)
            if role == "leader":
                text = (
                    f"[Partition {partition.tp} broker={broker}] {partition.tp} starts at Leader "
                    f"Epoch {partition.epoch} from offset {partition.offset}. Previous Leader "
                    f"Epoch was: {before}"
                )
                self._line(broker, _SERVER, "INFO", text, _PARTITION)
            self._cached(broker, partition, self.epoch)

    def _cached(self, broker: int, partition: _Partition, epoch: int) -> None:
        held, self.epoch = self.epoch, epoch
        state = self._state(partition, more=", offlineReplicas=")
        self.epoch = held
        text = (
            f"[Broker id={broker}] Cached leader info {state} for partition {partition.tp} in "
            f"response to UpdateMetadata request sent by controller {self.controller} epoch "
            f"{epoch} with correlation id {self.correlation}"
        )
        self._line(broker, _STATE, "TRACE", text, _STATE_LOGGER)

    def _isr(self, partition: _Partition, verb: str, isr: tuple[int, ...]) -> None:
        head = f"[Partition {partition.tp} broker={partition.leader}] "
        was, now = (",".join(map(str, each)) for each in (partition.isr, isr))
        self._line(
            partition.leader, _SERVER, "INFO", f"{head}{verb} ISR from {was} to {now}", _PARTITION
        )
        partition.isr, partition.version = isr, partition.version + 1
        text = f"{head}ISR updated to [{now}] and zkVersion updated to [{partition.version}]"
        self._line(partition.leader, _SERVER, "INFO", text, _PARTITION)

    def _line(self, broker: int, log: str, level: str, text: str, logger: str) -> None:
        self.now += MS_A_LINE
        second, ms = divmod(self.now, 1000)
        if second != self.second:
            self.second = second
            self.stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(second))
            hour = time.strftime("%Y-%m-%d-%H", time.gmtime(second))
            if hour != self.hour:
                self._roll(hour)
        key = broker, log
        file = self.files.get(key)
        if file is None:
            file = self._opened(broker, log)
        line = f"[{self.stamp},{ms:03}] {level} {text} ({logger})\n"
        file.write(line)
        self.counts[key] += 1
        self.written.lines += 1
        self.written.bytes += len(line)

    # -- files ----------------------------------------------------------------------------------

    def _opened(self, broker: int, log: str) -> IO[str]:
        name = f"broker{broker}/{log}.{self.hour}"
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("w", encoding="utf-8")
        self.files[broker, log], self.names[broker, log] = file, name
        self.counts[broker, log] = 0
        return file

    def _roll(self, hour: str) -> None:
        for file in self.files.values():
            file.close()
        self.files, self.hour = {}, hour

    def _close(self) -> None:
        self._roll("")
