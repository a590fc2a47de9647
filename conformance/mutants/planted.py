"""Historical bugs of Kafka planted in the implementation: each removes a fix.

Each is one place of the implementation as it would be without the fix. A historic bug whose
place the world does not have is listed with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from impl.core import answers, fetcher_thread, partition
from impl.core.fetcher_thread import EpochReply, FetchErrorCode, FetcherThread
from impl.core.partition import Partition
from impl.core.replica_machine import ReplicaMachine
from impl.core.truncation import EpochEnd, Truncation
from impl.log import HighWatermarkCheckpoint
from impl.world.in_memory_cluster import InMemoryCluster
from impl.znodes import LeaderIsrAndControllerEpoch
from impl.znodes.retrying_client import RetryingZnodeClient
from impl.zookeeper.znode import ANY_VERSION, Op


@dataclass(frozen=True)
class PlantedBug:
    """A historic bug, with the parts of the code that it replaces and their replacements."""

    id: str
    parts: tuple[tuple[type | ModuleType, str, Any], ...]

    @property
    def label(self) -> str:
        """`KIP-101: fetcher_thread.follower_truncation`."""
        places = [f"{owner.__name__.rpartition('.')[2]}.{name}" for owner, name, _ in self.parts]
        return f"{self.id}: {', '.join(places)}"

    def apply(self) -> None:
        """Plants the bug in this process, permanently."""
        for owner, name, replacement in self.parts:
            setattr(owner, name, replacement)


def _to_high_watermark(reply: EpochEnd, log_end: int, hw: int, *_: object) -> Truncation:
    return Truncation(hw, True)


def _in_one_round(reply: EpochEnd, log_end: int, hw: int, *_: object) -> Truncation:
    return Truncation(hw if reply.end < 0 else min(reply.end, log_end), True)


def _unfenced(current: int, asked: int | None, leads: bool, *_: object) -> str:
    return answers.NONE if leads else "NOT_LEADER_FOR_PARTITION"


def _records_no_epoch(self: Partition[Any], epoch: int, isr: Iterable[int], now_ms: int) -> None:
    entries = [*self.log.epochs.entries]
    _lead(self, epoch, isr, now_ms)
    self.log.epochs.entries = entries


_lead = Partition._lead


def _joins_at_hw(self: Partition[Any], replica: int, offset: int) -> bool:
    outside = replica not in self.maximal_isr and self.pending is None
    return outside and self.remotes[replica].end >= self.hw


def _hw_is_zero(self: HighWatermarkCheckpoint, log_end: int) -> int:
    return 0


async def _unfenced_write(self: RetryingZnodeClient, op: Op, epoch_version: int) -> object:
    return (await self.retry(lambda: self.port.multi([op])))[0]


async def _never_its_own(self: Partition[Any], wanted: LeaderIsrAndControllerEpoch) -> int | None:
    assert self.client is not None, "who writes has a session"
    updated = await self.client().update_states({self.partition: wanted})
    done = updated.done.get(self.partition)
    return None if done is None else done.zk_version


async def _unconditional(self: Partition[Any], wanted: LeaderIsrAndControllerEpoch) -> int | None:
    return await _written(self, wanted.with_zk_version(ANY_VERSION))


_written = Partition.written


async def _believes_late_answers(
    self: FetcherThread[Any], asked: Any, replies: Mapping[Any, EpochReply]
) -> None:
    for key, reply in replies.items():
        if key in self.states and reply.error is FetchErrorCode.FENCED_LEADER_EPOCH:
            self.remove([key])
            self.failed.add(key)
    await _on_epoch_ends(self, asked, replies)


_on_epoch_ends = FetcherThread.on_epoch_ends


def _to_nobody(
    self: ReplicaMachine, broker: int, state: LeaderIsrAndControllerEpoch, topic: str
) -> LeaderIsrAndControllerEpoch:
    fewer = tuple(member for member in state.isr if member != broker)
    return replace(_without(self, broker, state, topic), isr=fewer)


_without = ReplicaMachine.without


def _no_error(*_: object) -> str:
    return answers.NONE


def _always(*_: object) -> bool:
    return True


def _always_false(*_: object) -> bool:
    return False


def _does_nothing(*_: object) -> None:
    return None


def _single_change(
    entry: str, owner: type | ModuleType, name: str, replacement: Callable[..., Any] | property
) -> PlantedBug:
    return PlantedBug(entry, ((owner, name, replacement),))


PLANTED: tuple[PlantedBug, ...] = (
    _single_change("KIP-101", fetcher_thread, "follower_truncation", _to_high_watermark),
    _single_change("KIP-279", fetcher_thread, "follower_truncation", _in_one_round),
    _single_change("KIP-320", answers, "current_leader_epoch_error", _unfenced),
    _single_change("KAFKA-7164", partition, "keeps_fetching", _always),
    _single_change("KAFKA-7415", Partition, "_lead", _records_no_epoch),
    _single_change("KAFKA-7128", Partition, "may_join", _joins_at_hw),
    _single_change("KAFKA-7786", FetcherThread, "on_epoch_ends", _believes_late_answers),
    _single_change("KAFKA-1647", HighWatermarkCheckpoint, "read_bounded", _hw_is_zero),
    _single_change("KAFKA-532", answers, "controller_epoch_error", _no_error),
    _single_change("KAFKA-6082", RetryingZnodeClient, "fenced", _unfenced_write),
    _single_change("KAFKA-1188", answers, "leader_and_isr_error", _no_error),
    PlantedBug(
        "KIP-380",
        (
            (InMemoryCluster, "drop_requests", _does_nothing),
            (answers, "broker_epoch_error", _no_error),
        ),
    ),
    _single_change("KAFKA-1382", Partition, "written", _never_its_own),
    _single_change("KAFKA-428", Partition, "written", _unconditional),
    _single_change("KAFKA-12686", Partition, "writes_isr", property(_always_false)),
    _single_change("KAFKA-708", ReplicaMachine, "without", _to_nobody),
)
"""The entries that `replication` shows and the world has a place for."""

NOT_PLANTED: dict[str, str] = {
    "KIP-497": "up to 2.6 the partition's lock holds the high watermark while an ISR write waits",
}
"""Entries that `replication` shows and that are not planted, with the reason."""
