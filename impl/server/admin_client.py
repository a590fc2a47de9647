"""A client for administrators: requests to the controller, to one broker, or to any.

Source: KafkaAdminClient; KIP-455, KIP-460, KIP-113, KIP-339.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from impl.admin.port import DescribedPartition, Errors, LogDir, RequestFailed, Settings
from impl.server.clients import PAUSE_S, Client, ClientError
from impl.server.wire import Disconnected
from impl.znodes import ReplicaAssignment, TopicPartition

ASK_AGAIN = ("NOT_CONTROLLER", "NETWORK_EXCEPTION", "LEADER_NOT_AVAILABLE")


class AdminClient(Client):
    """Every call raises RequestFailed with Kafka's error, once ``timeout_s`` is over or at once."""

    client_id = "adminclient-1"

    def _controller(self, head: dict[str, Any]) -> dict[str, Any]:
        """Ask whoever is controller, until somebody is."""
        deadline = time.monotonic() + self.timeout_s
        while True:
            answer: dict[str, Any] = {"error": "NOT_CONTROLLER"}
            try:
                controller = self.refresh().get("controller")
                address = self.addresses.get(-1 if controller is None else controller)
                if address is not None:
                    answer = self.connection(address).ask(head).head
            except (Disconnected, ClientError) as error:
                answer = {"error": "NETWORK_EXCEPTION", "message": str(error)}
            if answer["error"] not in ASK_AGAIN or time.monotonic() > deadline:
                return _fine(head, answer)
            time.sleep(PAUSE_S)

    def _broker(self, broker: int | None, head: dict[str, Any]) -> dict[str, Any]:
        """Ask one broker, or any."""
        try:
            self.refresh()
            known = self.addresses
            chosen = min(known) if broker is None else broker
            if chosen not in known:
                raise RequestFailed("BROKER_NOT_AVAILABLE", f"broker {chosen} is not available")
            return _fine(head, self.connection(known[chosen]).ask(head).head)
        except ClientError as error:
            raise RequestFailed(error.code, str(error)) from error
        except Disconnected as error:
            raise RequestFailed("NETWORK_EXCEPTION", str(error)) from error

    def brokers(self) -> dict[int, str | None]:
        """The brokers that live, with their racks."""
        answer = self._broker(None, {"api": "DescribeCluster"})
        return {int(broker): rack for broker, rack in answer["brokers"]}

    def assignments(self, topics: Collection[str]) -> dict[TopicPartition, tuple[int, ...]]:
        """The replicas of the partitions of some topics, as far as these exist."""
        answer = self._broker(None, {"api": "Metadata", "topics": sorted(topics)})
        return {
            TopicPartition(topic, number): tuple(replicas)
            for topic, partitions in answer["topics"].items()
            for number, _, _, replicas, _ in partitions
        }

    def describe_topics(self) -> dict[str, list[DescribedPartition]]:
        """All topics that brokers know, by name, with their partitions in order."""
        answer = self._broker(None, {"api": "Metadata"})
        return {
            topic: [
                DescribedPartition(
                    number, None if leader < 0 else leader, tuple(replicas), tuple(isr)
                )
                for number, leader, _, replicas, isr in sorted(partitions)
            ]
            for topic, partitions in sorted(answer["topics"].items())
        }

    def topic_configs(self, topics: Collection[str]) -> dict[str, dict[str, str]]:
        """What is set for topics of their own."""
        return {
            topic: {
                key: value for key, (value, _) in self.describe_configs("topics", topic).items()
            }
            for topic in sorted(topics)
        }

    def change_topics(self, api: str, topics: Sequence[Any]) -> None:
        """CreateTopics, CreatePartitions or DeleteTopics; the first refusal is raised."""
        answer = self._controller({"api": api, "topics": list(topics)})
        for _, error, text in answer["topics"]:
            if error != "NONE":
                raise RequestFailed(str(error), str(text))

    def alter_reassignments(self, targets: Mapping[TopicPartition, Sequence[int] | None]) -> Errors:
        """Begin, turn or (None) cancel moves (2.4)."""
        rows = [[*one, None if target is None else list(target)] for one, target in targets.items()]
        return _errors(self._controller({"api": "AlterPartitionReassignments", "partitions": rows}))

    def list_reassignments(self) -> dict[TopicPartition, ReplicaAssignment]:
        """What moves (2.4)."""
        answer = self._controller({"api": "ListPartitionReassignments"})
        return {
            TopicPartition(topic, number): ReplicaAssignment(
                tuple(replicas), tuple(adding), tuple(removing)
            )
            for topic, number, replicas, adding, removing in answer["partitions"]
        }

    def elect_leaders(self, kind: str, partitions: Collection[TopicPartition] | None) -> Errors:
        """Elect PREFERRED (2.2) or UNCLEAN (2.4) leaders, of all partitions if none is named."""
        rows = None if partitions is None else [list(one) for one in partitions]
        patience_ms = int(min(self.timeout_s, 5.0) * 1000)
        head = {"api": "ElectLeaders", "type": kind, "partitions": rows,
                "timeout_ms": patience_ms}  # fmt: skip
        return _errors(self._controller(head))

    def describe_log_dirs(self, broker: int) -> list[LogDir]:
        """The directories of a broker (1.0)."""
        answer = self._broker(broker, {"api": "DescribeLogDirs"})
        return [
            LogDir(
                one["path"],
                one["error"],
                frozenset(TopicPartition(t, n) for t, n, *_, future in one["replicas"]
                          if not future),
                frozenset(TopicPartition(t, n) for t, n, *_, future in one["replicas"] if future),
            )
            for one in answer["dirs"]
        ]  # fmt: skip

    def alter_log_dirs(self, broker: int, wanted: Mapping[TopicPartition, str]) -> Errors:
        """Have replicas moved to other directories of their broker (1.1)."""
        rows = [[*one, path] for one, path in wanted.items()]
        return _errors(self._broker(broker, {"api": "AlterReplicaLogDirs", "partitions": rows}))

    def describe_configs(
        self, kind: str, name: str
    ) -> dict[str, tuple[str, list[tuple[str, str]]]]:
        """What is set for a topic or a broker: its value, and where it has which (0.11)."""
        broker = int(name) if kind == "brokers" and name.isdecimal() else None
        answer = self._broker(broker, {"api": "DescribeConfigs", "entities": [[kind, name]]})
        [[_, _, error, text, settings]] = answer["entities"]
        if error != "NONE":
            raise RequestFailed(error, text or error)
        return {
            key: (value, [(source, known) for source, known in synonyms])
            for key, (value, synonyms) in settings.items()
        }

    def alter_configs(self, settings: Settings, incremental: bool = True) -> None:
        """Set and unset properties of topics and brokers (2.3); before, all of them are named."""
        rows = [[kind, name, dict(changes)] for (kind, name), changes in settings.items()]
        api = "IncrementalAlterConfigs" if incremental else "AlterConfigs"
        answer = self._broker(None, {"api": api, "entities": rows})
        for kind, name, error, text in answer["entities"]:
            if error != "NONE":
                raise RequestFailed(error, f"{kind} {name}: {text or error}")


def _fine(head: Mapping[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    error = str(answer.get("error"))
    if error != "NONE":
        text = str(answer.get("message") or f"{head['api']}: {error}")
        raise RequestFailed(error, text)
    return answer


def _errors(answer: Mapping[str, Any]) -> Errors:
    return {
        TopicPartition(topic, number): str(error)
        for topic, number, error, *_ in answer["partitions"]
    }
