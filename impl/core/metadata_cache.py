"""A broker's metadata cache, filled by UpdateMetadata (``MetadataCache``; f.4)."""

from __future__ import annotations

from collections.abc import Mapping

from impl.core.replica_events import LeaderCached, LeaderForgotten, Observer, Sender, silent
from impl.core.requests import PartitionMetadata, UpdateMetadata
from impl.znodes import TopicPartition
from impl.znodes.states import LEADER_DURING_DELETE

Endpoints = Mapping[int, tuple[str, int]]
"""InMemoryBroker and port of each live broker."""


class MetadataCache:
    """Brokers are replaced by each request; partitions are kept until they are sent again."""

    def __init__(self, observer: Observer = silent) -> None:
        self.observer = observer
        self.controller: int | None = None
        self.brokers: dict[int, tuple[str, int]] = {}
        self.partitions: dict[TopicPartition, PartitionMetadata] = {}

    @property
    def alive(self) -> set[int]:
        """The live brokers of the last UpdateMetadata."""
        return set(self.brokers)

    def leader(self, partition: TopicPartition) -> int | None:
        """The leader; None if the partition is unknown, -1 if it has no leader."""
        cached = self.partitions.get(partition)
        return None if cached is None else cached.state.leader

    def update(self, request: UpdateMetadata, endpoints: Endpoints, sender: Sender) -> None:
        """Apply an UpdateMetadata; leader -2 means that the topic is being deleted."""
        self.controller = request.controller
        self.brokers = dict(endpoints)
        for partition, metadata in request.partitions.items():
            if metadata.state.leader == LEADER_DURING_DELETE:
                self.partitions.pop(partition, None)
                self.observer(LeaderForgotten(partition, sender))
            else:
                self.partitions[partition] = metadata
                self.observer(LeaderCached(partition, metadata, sender))

    def partitions_of(self, topic: str) -> dict[int, PartitionMetadata]:
        """A topic's partitions by number."""
        found = {
            one.partition: metadata
            for one, metadata in self.partitions.items()
            if one.topic == topic
        }
        return dict(sorted(found.items()))
