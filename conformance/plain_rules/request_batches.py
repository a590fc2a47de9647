"""The contents of a batch of a controller's requests, by broker, from the calls that fill it.

Source: ControllerBrokerRequestBatch (0.10 to 2.8).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.plain_rules import request_versions

DELETED, NO_EPOCH, EPOCH_DURING_DELETE = -2, -1, -2
State = Mapping[str, Any]
"""``leader``, ``isr``, ``leaderEpoch``."""


class NotSent(Exception):
    """A new batch is begun while the last one is not empty (IllegalStateException)."""


def topic_of(partition: str) -> str:
    """The topic of ``topic-N``."""
    return partition.rpartition("-")[0]


@dataclass
class BatchByTheRules:
    """The calls of one round. ``release`` as (2, 3); ``live``: brokers alive or shutting down;
    ``known``: states by partition."""

    release: tuple[int, ...]
    protocol: tuple[int, ...]
    live: Collection[int]
    known: dict[str, State]
    queued: Collection[str] = ()
    started: Collection[str] = ()
    orders: dict[int, dict[str, Any]] = field(default_factory=dict)
    stops: dict[int, list[tuple[str, bool]]] = field(default_factory=dict)
    epochs: dict[tuple[int, str], int] = field(default_factory=dict)
    announced: dict[str, State] = field(default_factory=dict)
    listeners: set[int] = field(default_factory=set)

    def begin(self) -> None:
        """Begins a new batch. NotSent."""
        if self.orders or self.stops or self.listeners:
            raise NotSent

    def leader_and_isr(
        self, brokers: Iterable[int], partition: str, state: State, new: bool
    ) -> None:
        """Adds LeaderAndIsr to brokers (`new` stays set), and UpdateMetadata to all live ones."""
        self.known[partition] = state
        for broker in brokers:
            if broker >= 0:
                orders = self.orders.setdefault(broker, {})
                was_new = orders.get(partition, {}).get("isNew", False)
                orders[partition] = {**state, "isNew": new or was_new}
        self.update_metadata(self.live, [partition])

    def update_metadata(self, brokers: Iterable[int], partitions: Sequence[str]) -> None:
        """Adds UpdateMetadata about partitions; none means all (up to 2.1); those of topics queued
        for deletion are always included (up to 1.1)."""
        named = list(partitions)
        if not named and self.release < (2, 2):
            named = list(self.known)
        if self.release < (2, 0):
            named += [one for one in self.known if topic_of(one) in self.queued]
        self.listeners |= {one for one in brokers if one >= 0}
        for one in named:
            if one in self.known:
                gone = {"leader": DELETED, "leaderEpoch": 0} if topic_of(one) in self.queued else {}
                self.announced[one] = {**self.known[one], **gone}

    def stop_replica(self, brokers: Iterable[int], partition: str, delete: bool) -> None:
        """Adds StopReplica to brokers, each once, in the leader epoch known now; `delete` once set
        stays set (2.6)."""
        for broker in brokers:
            if broker >= 0:
                stops = self.stops.setdefault(broker, [])
                self.epochs[broker, partition] = self._epoch(partition)
                if self.release >= (2, 6):
                    said = dict(stops)
                    stops[:] = {**said, partition: delete or said.get(partition, False)}.items()
                else:
                    stops.append((partition, delete))

    def sent(self) -> dict[int, list[dict[str, Any]]]:
        """The requests to each broker in their order; since 2.2 none to dead brokers."""
        found: dict[int, list[dict[str, Any]]] = {}
        for broker, orders in self.orders.items():
            self._to(found, broker, "LeaderAndIsr", orders)
        for broker in sorted(self.listeners):
            self._to(found, broker, "UpdateMetadata", self.announced, liveBrokers=sorted(self.live))
        for broker, stops in self.stops.items():
            for group in self._groups(stops):
                shown = {one: {"delete": delete, "leaderEpoch": self.epochs[broker, one]}
                         for one, delete in group}  # fmt: skip
                deletes = any(delete for _, delete in group)
                self._to(found, broker, "StopReplica", shown, deletePartitions=deletes)
        return found

    def events(self) -> list[str]:
        """Partitions whose deletion is reported: since 2.3 only of topics in started deletion."""
        reached = [stops for broker, stops in self.stops.items() if self._reaches(broker)]
        deleted = {one for stops in reached for one, delete in stops if delete}
        if self.release >= (2, 3):
            deleted = {one for one in deleted if topic_of(one) in self.started}
        return sorted(deleted)

    def _reaches(self, broker: int) -> bool:
        return broker in self.live or self.release < (2, 2)

    def _version(self, kind: str) -> int:
        return request_versions.version_of(kind, self.protocol)

    def _to(
        self, found: dict[int, list[dict[str, Any]]], broker: int, kind: str,
        partitions: Mapping[str, Any], **more: Any,
    ) -> None:  # fmt: skip
        if self._reaches(broker):
            request = {"type": kind, "version": self._version(kind), "partitions": partitions}
            found.setdefault(broker, []).append(request | more)

    def _groups(self, stops: list[tuple[str, bool]]) -> list[list[tuple[str, bool]]]:
        """How StopReplica is split: one request knows both kinds in version 3 alone."""
        deletes = [stop for stop in stops if stop[1]]
        keeps = [stop for stop in stops if not stop[1]]
        if self._version("StopReplica") >= 3:
            return [stops]
        if self.release >= (2, 3):
            return [group for group in (deletes, keeps) if group]
        if self.release >= (1, 1):
            return [[], *([one] for one in stops)]
        return [keeps, *([one] for one in deletes)]

    def _epoch(self, partition: str) -> int:
        if self.release < (2, 6):
            return NO_EPOCH
        if topic_of(partition) in self.queued:
            return EPOCH_DURING_DELETE
        return int(self.known.get(partition, {}).get("leaderEpoch", NO_EPOCH))
