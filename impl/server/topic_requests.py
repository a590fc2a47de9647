"""CreateTopics, CreatePartitions and DeleteTopics: whoever is controller writes ZooKeeper (KIP-4).

What the controller makes of the znodes is its own matter, and comes by its watches. Source:
AdminManager (2.2 to 2.7), AdminZkClient.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from impl.admin.errors import AdminError, InvalidPartitions, InvalidTopic, UnknownTopicOrPartition
from impl.admin.topic_command import TopicCommand, parse_configs
from impl.server.control import Control
from impl.server.properties import TOPIC_KEYS
from impl.server.wire import Message
from impl.znodes import MalformedZnode
from impl.znodes.client import ZnodeClient
from impl.zookeeper.errors import NodeExists, ZooKeeperError
from impl.zookeeper.port import wait

SINCE = {"CreateTopics": "0.10.1", "CreatePartitions": "1.0", "DeleteTopics": "0.10.1"}
"""By request, the release that brought it."""

CODES = {
    "InvalidPartitionsException": "INVALID_PARTITIONS",
    "InvalidReplicationFactorException": "INVALID_REPLICATION_FACTOR",
    "InvalidReplicaAssignmentException": "INVALID_REPLICA_ASSIGNMENT",
    "InvalidTopicException": "INVALID_TOPIC_EXCEPTION",
    "TopicExistsException": "TOPIC_ALREADY_EXISTS",
    "UnknownTopicOrPartition": "UNKNOWN_TOPIC_OR_PARTITION",
    "ConfigException": "INVALID_CONFIG",
}
"""Kafka's exception -> the error of an answer; what is not here is INVALID_REQUEST."""


class TopicRequests:
    """``control`` gives the broker's event thread, whose session with ZooKeeper is used."""

    def __init__(self, control: Callable[[], Control]) -> None:
        self.control = control

    def client(self) -> ZnodeClient:
        """ZooKeeper, on the session that the broker has now."""
        return self.control().client

    def answer(self, head: Mapping[str, Any]) -> Message:
        """An error and a message for each topic, none of which hinders another."""
        api = str(head["api"])
        control = self.control()
        if not control.controller.active:
            return Message({"error": "NOT_CONTROLLER"})
        deletes = control.config.truth("delete.topic.enable")
        if api == "DeleteTopics" and not deletes and control.config.release.since("2.1"):
            return Message({"error": "NONE", "topics": [
                [str(one), "TOPIC_DELETION_DISABLED", "Topic deletion is disabled."]
                for one in head["topics"]
            ]})  # fmt: skip
        acts: dict[str, Callable[[TopicCommand, Any], None]] = {
            "CreateTopics": self._create,
            "CreatePartitions": self._grow,
            "DeleteTopics": self._delete,
        }
        rows = [self._row(acts[api], one) for one in head["topics"]]
        return Message({"error": "NONE", "topics": rows})

    def _row(self, act: Callable[[TopicCommand, Any], None], asked: Any) -> list[str]:
        name = str(asked if isinstance(asked, str) else asked["name"])
        try:
            act(TopicCommand(self.client(), ""), asked)
        except AdminError as error:
            return [name, CODES.get(error.kafka, "INVALID_REQUEST"), str(error)]
        except (MalformedZnode, ZooKeeperError) as error:
            return [name, "UNKNOWN_SERVER_ERROR", f"{type(error).__name__}: {error}"]
        return [name, "NONE", ""]

    def _create(self, command: TopicCommand, asked: Mapping[str, Any]) -> None:
        texts = [f"{key}={value}" for key, value in asked.get("configs", {}).items()]
        config = self.control().config
        command.create(
            str(asked["name"]),
            int(asked.get("partitions") or config.whole("num.partitions")),
            int(asked.get("factor") or config.whole("default.replication.factor")),
            asked.get("assignment"),
            parse_configs(texts, TOPIC_KEYS),
            validate_only=bool(asked.get("validate_only")),
        )

    def _grow(self, command: TopicCommand, asked: Mapping[str, Any]) -> None:
        name = str(asked["name"])
        registered = wait(command.client.topic(name))
        if registered is None:
            raise UnknownTopicOrPartition(f"The topic '{name}' does not exist.")
        if name in wait(command.client.deletions()):
            raise InvalidTopic("The topic is queued for deletion.")
        count, asked_for = len(registered.partitions), int(asked["partitions"])
        if asked_for == count:
            raise InvalidPartitions(f"Topic already has {count} partitions.")
        if asked_for < count:
            raise InvalidPartitions(
                f"Topic currently has {count} partitions, which is higher than the requested "
                f"{asked_for}."
            )
        command.add_partitions(
            name, asked_for, asked.get("assignment"), bool(asked.get("validate_only"))
        )

    def _delete(self, command: TopicCommand, asked: str) -> None:
        if wait(command.client.topic(asked)) is None:
            raise UnknownTopicOrPartition("This server does not host this topic-partition.")
        try:
            wait(command.client.request_deletion(asked))
        except NodeExists:
            return  # it is asked for already (TopicAlreadyMarkedForDeletionException is taken so)
