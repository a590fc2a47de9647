"""Who answers which request: from a header to producers' side, followers' side, or the controller.

Source: kafka.server.KafkaApis.handle; fact sheet f.1.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from impl.core.answers import EpochFromTheFuture
from impl.core.metadata_cache import Endpoints
from impl.core.replica_manager import Answered
from impl.core.requests import Request
from impl.server import config_requests
from impl.server.codec import decode_request
from impl.server.control import Control
from impl.server.controller_api import SINCE as OF_CONTROLLERS
from impl.server.controller_api import wait_for_leaders
from impl.server.dynamic_configs import DynamicConfigs
from impl.server.log_dirs import LogDirs
from impl.server.serving import Serving
from impl.server.topic_requests import SINCE as OF_TOPICS
from impl.server.topic_requests import TopicRequests
from impl.server.wire import Message
from impl.znodes import MalformedZnode, TopicPartition
from impl.znodes.producer_ids import ProducerIds, ProducerIdsExhausted
from impl.zookeeper.errors import ZooKeeperError
from impl.zookeeper.port import wait

EPOCH_PATIENCE_S = 5.0
SINCE = {
    "DescribeLogDirs": "1.0",
    "AlterReplicaLogDirs": "1.1",
    "IncrementalAlterConfigs": "2.3",
    "AlterConfigs": "0.11",
    "DescribeConfigs": "0.11",
    "InitProducerId": "0.11",
}
"""By request, the release that brought it, where not every one has it."""


class Dispatch:
    """``control`` gives the broker's event thread, ``stopping`` is set once the broker ends.

    ``told`` hears of each request's header, before it is answered.
    """

    def __init__(
        self,
        serving: Serving,
        log_dirs: LogDirs,
        dynamic: DynamicConfigs,
        control: Callable[[], Control],
        stopping: threading.Event,
        told: Callable[[dict[str, Any]], None] = lambda head: None,
    ) -> None:
        self.serving = serving
        self.replicas = serving.replicas
        self.log_dirs = log_dirs
        self.dynamic = dynamic
        self.control = control
        self.stopping = stopping
        self.told = told
        self.about_to_wait: Callable[[], None] = lambda: None
        self.producer_ids = ProducerIds(self.replicas.broker)
        self._giving_ids = threading.Lock()
        self.topics = TopicRequests(control)

    def answer(self, head: dict[str, Any], body: bytes) -> Message:
        """One request of whoever it is."""
        self.told(head)
        trace = self.replicas.trace
        if trace is None:
            return self.serve(head, body)
        with trace.on_behalf_of(head):
            return self.serve(head, body)

    def serve(self, head: dict[str, Any], body: bytes) -> Message:
        """As ``answer``, for who has told of the request already."""
        api, release = str(head.get("api")), self.replicas.release
        since = SINCE.get(api) or OF_TOPICS.get(api)
        if since is not None and not release.since(since):
            text = f"{api} came with {since}; this is {release}"
            return Message({"error": "UNSUPPORTED_VERSION", "message": text})
        match api:
            case "Produce":
                return self.serving.produce(head, body)
            case "Fetch":
                return self.serving.fetch(head, body)
            case "OffsetForLeaderEpoch":
                return self.serving.epoch_ends(head, body)
            case "ListOffsets":
                return self.serving.list_offsets(head, body)
            case "Metadata":
                return self.serving.metadata(head, body)
            case "LeaderAndIsr" | "UpdateMetadata" | "StopReplica":
                return self._controlled(head)
            case "DescribeLogDirs":
                with self.replicas.lock:
                    return Message({"error": "NONE", "dirs": self.log_dirs.describe()})
            case "AlterReplicaLogDirs":
                return self._alter_log_dirs(head)
            case "DescribeCluster":
                known = wait(self.control().client.brokers())
                rows = [[one, info.rack] for one, (info, _) in sorted(known.items())]
                return Message({"error": "NONE", "brokers": rows})
            case "IncrementalAlterConfigs":
                return config_requests.alter(self.control().client, head)
            case "AlterConfigs":
                return config_requests.alter(self.control().client, head, replaces=True)
            case "DescribeConfigs":
                return config_requests.describe(self.control().client, self.dynamic, head)
            case "InitProducerId":
                return self.init_producer_id()
            case "ElectLeaders":
                self.about_to_wait()
                told = self.control().requests.answer(head)
                metadata, changed = self.replicas.metadata, self.replicas.changed
                return wait_for_leaders(told, metadata, changed, int(head["timeout_ms"]))
            case _ if api in OF_TOPICS:
                return self.topics.answer(head)
            case _ if api in OF_CONTROLLERS:
                self.about_to_wait()
                return self.control().requests.answer(head)
            case _:
                return Message({"error": "UNSUPPORTED_VERSION", "message": f"no request {api}"})

    def init_producer_id(self) -> Message:
        """An id for an idempotent producer; those of transactions have a coordinator."""
        try:
            with self._giving_ids:
                number = wait(self.producer_ids.generate(self.control().client))
        except (MalformedZnode, ProducerIdsExhausted) as error:
            return Message({"error": "UNKNOWN_SERVER_ERROR", "message": str(error)})
        except ZooKeeperError:
            return Message({"error": "COORDINATOR_LOAD_IN_PROGRESS"})
        return Message({"error": "NONE", "producer_id": number, "producer_epoch": 0})

    def _alter_log_dirs(self, head: dict[str, Any]) -> Message:
        wanted = {
            TopicPartition(topic, number): str(path) for topic, number, path in head["partitions"]
        }
        with self.replicas.lock:
            errors = self.log_dirs.alter(wanted)
        rows = [[*one, error] for one, error in errors.items()]
        return Message({"error": "NONE", "partitions": rows})

    def _controlled(self, head: dict[str, Any]) -> Message:
        if self.stopping.is_set():
            return Message({"error": "RETRY"})
        request, endpoints = decode_request(head)
        whole, errors = self._handled(request, int(head["correlation"]), endpoints)
        return Message(
            {"error": whole, "partitions": [[*one, error] for one, error in errors.items()]}
        )

    def _handled(self, request: Request, correlation: int, endpoints: Endpoints) -> Answered:
        """Hand it to the replicas; what is meant for a registration of which nothing is known here
        yet is waited for: ZooKeeper told the controller first.
        """
        deadline = time.monotonic() + EPOCH_PATIENCE_S
        while True:
            try:
                return self.replicas.handle(request, self.control().epoch, correlation, endpoints)
            except EpochFromTheFuture:
                if time.monotonic() > deadline:
                    return "RETRY", {}
                time.sleep(0.02)
