"""The request context that every handler receives."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from impl.core.metadata_cache import MetadataCache
from impl.core.requests import PartitionMetadata
from impl.log.region import Region
from impl.releases import Release
from impl.server.controller_event_thread import ControllerEventThread
from impl.server.dynamic_configs import DynamicConfigs
from impl.server.fetch_sessions import FetchSessions
from impl.server.groups.coordinator import GroupCoordinator
from impl.server.log_dirs import LogDirs
from impl.server.properties import BrokerProperties
from impl.server.replicas import HostedReplicas
from impl.server.serving import Serving
from impl.server.topic_requests import TopicRequests
from impl.wire import Header
from impl.znodes import TopicPartition
from impl.znodes.client import ZnodeClient
from impl.znodes.producer_ids import ProducerIds

NO_OPERATIONS = -(2**31)
"""``authorized_operations`` of who was not asked for them."""


class CloseConnection(Exception):
    """A request that makes the broker close the connection; the message says why."""


def no_throttle() -> timedelta:
    """``throttle_time_ms``: 0, because client quotas are not implemented."""
    return timedelta(0)


@dataclass(frozen=True)
class BrokerParts:
    """The parts of a broker that answer requests.

    ``control`` returns the broker's event thread; ``stopping`` is set when the broker stops.
    ``request_received`` is called with each request's header before the request is handled.
    ``fetch_sessions`` may be used only while holding the replicas' lock.
    """

    serving: Serving
    config: BrokerProperties
    cluster_id: str | None
    coordinator: GroupCoordinator
    log_dirs: LogDirs
    dynamic: DynamicConfigs
    control: Callable[[], ControllerEventThread]
    topics: TopicRequests
    producer_ids: ProducerIds
    fetch_sessions: FetchSessions[TopicPartition]
    stopping: threading.Event
    request_received: Callable[[Mapping[str, Any]], None]
    giving_ids: threading.Lock = field(default_factory=threading.Lock)

    @property
    def replicas(self) -> HostedReplicas:
        """The replicas, with their lock."""
        return self.serving.replicas

    def about_to_wait(self) -> None:
        """Called before this thread waits: another request may be handled meanwhile."""
        self.replicas.lock.about_to_wait()

    @property
    def release(self) -> Release:
        """The release that the broker behaves like."""
        return self.config.release

    @property
    def metadata(self) -> MetadataCache:
        """The broker's metadata cache."""
        return self.replicas.metadata

    def partitions_of(self, topic: str) -> dict[int, PartitionMetadata]:
        """A topic's partitions, as far as the metadata cache has them."""
        with self.replicas.lock:
            return self.metadata.partitions_of(topic)

    @property
    def client(self) -> ZnodeClient:
        """The ZooKeeper client of the broker's current session."""
        return self.control().client


@dataclass(frozen=True)
class ApiRequest:
    """One request: the broker's parts, the header, the body (kio's), and the client's host."""

    shared: BrokerParts
    header: Header
    body: Any
    host: str

    @property
    def version(self) -> int:
        """The version of the request and of its response."""
        return self.header.version

    def get(self, name: str, otherwise: Any = None) -> Any:
        """A field that some versions lack."""
        return getattr(self.body, name, otherwise)

    def error_at(self, partition: TopicPartition, error: str) -> str:
        """The error for a partition: "not leader" if only the metadata cache knows the partition.

        Source: ReplicaManager.getPartitionOrException.
        """
        unknown = error == "UNKNOWN_TOPIC_OR_PARTITION"
        if unknown and partition in self.shared.metadata.partitions:
            return self.shared.replicas.core.not_leader
        return error


class FileRecords:
    """A region of a segment that is sent to a socket; the broker never reads its bytes."""

    def __init__(self, region: Region) -> None:
        self.region = region

    def __len__(self) -> int:
        return self.region.length
