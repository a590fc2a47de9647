"""What every handler of a request has at hand."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from impl.core.metadata_cache import MetadataCache
from impl.core.requests import PartitionMetadata
from impl.log.region import Region
from impl.releases import Release
from impl.server.dispatch import Dispatch
from impl.server.groups.coordinator import GroupCoordinator
from impl.server.properties import BrokerProperties
from impl.server.replicas import HostedReplicas
from impl.server.serving import Serving
from impl.wire import Header
from impl.znodes import MalformedZnode, TopicPartition
from impl.znodes.client import ZnodeClient
from impl.zookeeper.errors import ZooKeeperError
from impl.zookeeper.port import wait

NO_OPERATIONS = -(2**31)
"""``authorized_operations`` of who was not asked for them."""


class CloseConnection(Exception):
    """A request that ends its connection; the message says why."""


def no_throttle() -> timedelta:
    """``throttle_time_ms``: quotas of clients are not there."""
    return timedelta(0)


@dataclass(frozen=True)
class Shared:
    """The parts of a broker that answer requests."""

    dispatch: Dispatch
    config: BrokerProperties
    cluster_id: str | None
    coordinator: GroupCoordinator
    racks: Callable[[Collection[int]], dict[int, str | None]]

    @property
    def serving(self) -> Serving:
        """The data plane."""
        return self.dispatch.serving

    @property
    def replicas(self) -> HostedReplicas:
        """The replicas, with their lock."""
        return self.dispatch.replicas

    @property
    def release(self) -> Release:
        """What the broker behaves like."""
        return self.config.release

    @property
    def metadata(self) -> MetadataCache:
        """What the broker knows of the cluster."""
        return self.replicas.metadata

    def partitions_of(self, topic: str) -> dict[int, PartitionMetadata]:
        """A topic's partitions, as far as they are known here."""
        with self.replicas.lock:
            return self.metadata.partitions_of(topic)

    @property
    def client(self) -> ZnodeClient:
        """ZooKeeper, on the session that the broker has now."""
        return self.dispatch.control().client


@dataclass(frozen=True)
class ApiRequest:
    """One request: who asks for what, and the broker that answers. ``body`` is kio's."""

    shared: Shared
    header: Header
    body: Any
    host: str

    @property
    def version(self) -> int:
        """The version of the request, and of its answer."""
        return self.header.version

    def get(self, name: str, otherwise: Any = None) -> Any:
        """A field that not every version has."""
        return getattr(self.body, name, otherwise)

    def error_at(self, partition: TopicPartition, error: str) -> str:
        """The error about a partition: who has it not, but knows of it, leads it not.

        Source: ReplicaManager.getPartitionOrException.
        """
        unknown = error == "UNKNOWN_TOPIC_OR_PARTITION"
        if unknown and partition in self.shared.metadata.partitions:
            return self.shared.replicas.core.not_leader
        return error


class Racks:
    """The racks of brokers, which no request of ours tells: read again once others are alive."""

    def __init__(self, client: Callable[[], ZnodeClient]) -> None:
        self.client = client
        self._known: dict[int, str | None] = {}

    def __call__(self, brokers: Collection[int]) -> dict[int, str | None]:
        """The rack of each; what ZooKeeper does not tell now is asked again."""
        if not set(brokers) <= self._known.keys():
            try:
                found = wait(self.client().brokers())
            except (MalformedZnode, ZooKeeperError):
                return self._known
            self._known = {one: info.rack for one, (info, _) in found.items()}
        return self._known


class FileRecords:
    """A region of a segment on its way to a socket: the bytes are never looked at."""

    def __init__(self, region: Region) -> None:
        self.region = region

    def __len__(self) -> int:
        return self.region.length
