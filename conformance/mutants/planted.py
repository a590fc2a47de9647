"""Kafka's old bugs, planted in the implementation: what each fix would be without.

Each is one place of the implementation as it would be if the fix had never been made. An entry of
the zoo whose place the world does not have is listed with the reason.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from impl.broker.fetcher import ReplicaFetcher
from impl.broker.partition import Partition, Role
from impl.broker.replica_manager import ReplicaManager
from impl.controller.controller import KafkaController
from impl.log import HighWatermarkCheckpoint
from impl.requests import Errors, LeaderAndIsrRequest
from impl.world.network import Network
from impl.zookeeper import NO_LEADER, KafkaZkClient, PartitionState


@dataclass(frozen=True)
class Planted:
    """An entry of the zoo, and what replaces which parts."""

    id: str
    parts: tuple[tuple[type, str, Any], ...]

    @property
    def label(self) -> str:
        """`KIP-101: ReplicaFetcher.truncation_offset`."""
        return (
            f"{self.id}: {', '.join(f'{owner.__name__}.{name}' for owner, name, _ in self.parts)}"
        )

    def apply(self) -> None:
        """Plant it in this process, for good."""
        for owner, name, replacement in self.parts:
            setattr(owner, name, replacement)


def _to_high_watermark(self: ReplicaFetcher, epoch: int, end: int) -> tuple[int, bool]:
    return min(self.partition.hw, self.partition.log.end), True


def _in_one_round(self: ReplicaFetcher, epoch: int, end: int) -> tuple[int, bool]:
    log = self.partition.log
    return (min(self.partition.hw, log.end), True) if end < 0 else (min(end, log.end), True)


def _unfenced(self: ReplicaManager, leader_epoch: int) -> Errors:
    return Errors.NONE if self.partition.leads else Errors.NOT_LEADER_FOR_PARTITION


def _goes_on(self: Partition, request: LeaderAndIsrRequest) -> None:
    same = self.role is Role.FOLLOWER and self.leader == request.state.leader
    before = self.truncating
    self._adopt(request, Role.FOLLOWER)
    self.isr, self.epoch_start = (), -1
    self.truncating = before if same else self.log.end > 0


def _records_no_epoch(self: Partition, request: LeaderAndIsrRequest) -> None:
    self._adopt(request, Role.LEADER)
    self.isr, self.epoch_start = request.state.isr, self.log.end


def _joins_at_hw(self: Partition, replica: int) -> bool:
    return self.end_of(replica) >= self.hw


def _forgets(self: HighWatermarkCheckpoint, log_end: int) -> int:
    return 0


def _unfenced_write(
    self: KafkaZkClient, state: PartitionState, version: int, epoch_version: int
) -> int:
    return self.write_state(state, version)


def _never_its_own(self: ReplicaManager) -> None:
    self.partition.isr_write = None


def _unconditional(self: ReplicaManager, state: PartitionState) -> int | None:
    return self.client.write_state(state, self.client.partition_version())


def _to_nobody(self: KafkaController, replica: int) -> PartitionState:
    state = self._cached().state
    fewer = tuple(member for member in state.isr if member != replica)
    leader = NO_LEADER if state.leader == replica else state.leader
    return PartitionState(leader, state.leader_epoch + 1, fewer, self._belief().epoch)


def _no(*_: object) -> bool:
    return False


def _nothing(*_: object) -> None:
    return None


def _one(entry: str, owner: type, name: str, replacement: Callable[..., Any] | property) -> Planted:
    return Planted(entry, ((owner, name, replacement),))


PLANTED: tuple[Planted, ...] = (
    _one("KIP-101", ReplicaFetcher, "truncation_offset", _to_high_watermark),
    _one("KIP-279", ReplicaFetcher, "truncation_offset", _in_one_round),
    _one("KIP-320", ReplicaManager, "fenced", _unfenced),
    _one("KAFKA-7164", Partition, "make_follower", _goes_on),
    _one("KAFKA-7415", Partition, "make_leader", _records_no_epoch),
    _one("KAFKA-7128", Partition, "may_join", _joins_at_hw),
    _one("KAFKA-1647", HighWatermarkCheckpoint, "read_bounded", _forgets),
    _one("KAFKA-532", ReplicaManager, "controller_epoch_is_stale", _no),
    _one("KAFKA-6082", KafkaZkClient, "write_state_as_controller", _unfenced_write),
    _one("KAFKA-1188", ReplicaManager, "leader_epoch_is_old", _no),
    Planted(
        "KIP-380",
        ((Network, "discard_dead", _nothing), (ReplicaManager, "broker_epoch_is_stale", _no)),
    ),
    _one("KAFKA-1382", ReplicaManager, "read_isr_back", _never_its_own),
    _one("KAFKA-428", ReplicaManager, "_written", _unconditional),
    _one("KAFKA-12686", Partition, "locked", property(_no)),
    _one("KAFKA-708", KafkaController, "state_without", _to_nobody),
)
"""The entries that `replication` shows and the world has a place for."""

NOT_PLANTED: dict[str, str] = {
    "KAFKA-7786": "the world's fetchers have no state of having given up",
    "KIP-497": "up to 2.6 the partition's lock holds the high watermark while an ISR write waits",
}
"""Entries that `replication` shows and that are not planted, with the reason."""
