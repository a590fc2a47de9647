"""Writes the znodes of CreateTopics, CreatePartitions and DeleteTopics, on the controller (KIP-4).

The controller then handles the znodes by its watches. Source: AdminManager (2.2 to 2.7),
AdminZkClient.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeVar

from impl.admin.errors import (
    AdminError,
    InvalidPartitions,
    InvalidReplicaAssignment,
    InvalidTopic,
    UnknownTopicOrPartition,
)
from impl.admin.placement import parse_replica_assignment
from impl.admin.topic_command import TopicCommand, parse_configs
from impl.error_codes import NONE
from impl.server.controller_event_thread import ControllerEventThread
from impl.server.properties import TOPIC_KEYS
from impl.znodes import MalformedZnode
from impl.zookeeper.errors import NodeExists, ZooKeeperError
from impl.zookeeper.port import wait

CODES = {
    "InvalidPartitionsException": "INVALID_PARTITIONS",
    "InvalidReplicationFactorException": "INVALID_REPLICATION_FACTOR",
    "InvalidReplicaAssignmentException": "INVALID_REPLICA_ASSIGNMENT",
    "InvalidTopicException": "INVALID_TOPIC_EXCEPTION",
    "TopicExistsException": "TOPIC_ALREADY_EXISTS",
    "UnknownTopicOrPartitionException": "UNKNOWN_TOPIC_OR_PARTITION",
    "ConfigException": "INVALID_CONFIG",
}
"""Kafka's exception -> the error of an answer; what is not here is INVALID_REQUEST."""


Changed = dict[str, tuple[str, str]]
"""By topic, an error and a message."""

Topic = TypeVar("Topic")


class TopicToCreate(NamedTuple):
    """A topic to create: numbers (None: the default) or the text of ``--replica-assignment``."""

    name: str
    partitions: int | None
    factor: int | None
    by_hand: str | None
    configs: Mapping[str, str]


class PartitionsToCreate(NamedTuple):
    """The new number of partitions of a topic, and optionally the replicas of all of them."""

    name: str
    total: int
    by_hand: str | None


def _refuse_unknown(command: TopicCommand, topic: PartitionsToCreate, count: int) -> None:
    """Brokers that are not there, of partitions that are added to the ``count`` that there are."""
    by_hand = parse_replica_assignment(topic.by_hand) if topic.by_hand is not None else {}
    named = {one for number, ids in by_hand.items() if number >= count for one in ids}
    if unknown := sorted(named - {*command.brokers()}):
        listed = ", ".join(map(str, unknown))
        raise InvalidReplicaAssignment(f"Unknown broker(s) in replica assignment: {listed}.")


class TopicRequests:
    """Writes the znodes. ``control`` returns the broker's event thread, whose session is used.

    Each method returns an error and a message for each topic, independent of the other topics; None
    if the broker is not the controller.
    """

    def __init__(self, control: Callable[[], ControllerEventThread]) -> None:
        self.control = control

    def _changed(
        self, topics: Iterable[tuple[str, Topic]], act: Callable[[TopicCommand, Topic], None]
    ) -> Changed | None:
        control = self.control()
        if not control.current_controller.active:
            return None
        return {name: self._error_of(control, act, topic) for name, topic in topics}

    def _error_of(
        self,
        control: ControllerEventThread,
        act: Callable[[TopicCommand, Topic], None],
        topic: Topic,
    ) -> tuple[str, str]:
        try:
            act(TopicCommand(control.client, ""), topic)
        except AdminError as error:
            return CODES.get(error.kafka, "INVALID_REQUEST"), str(error)
        except (MalformedZnode, ZooKeeperError) as error:
            return "UNKNOWN_SERVER_ERROR", f"{type(error).__name__}: {error}"
        return NONE, ""

    def create(
        self, topics: Iterable[TopicToCreate], validate_only: bool = False
    ) -> Changed | None:
        """CreateTopics."""
        config = self.control().config

        def create(command: TopicCommand, topic: TopicToCreate) -> None:
            command.create(
                topic.name,
                topic.partitions or config.whole_number("num.partitions"),
                topic.factor or config.whole_number("default.replication.factor"),
                topic.by_hand,
                parse_configs([f"{key}={value}" for key, value in topic.configs.items()],
                              TOPIC_KEYS, command.client.release),
                validate_only=validate_only,
            )  # fmt: skip

        return self._changed(((one.name, one) for one in topics), create)

    def grow(
        self, topics: Iterable[PartitionsToCreate], validate_only: bool = False
    ) -> Changed | None:
        """CreatePartitions."""

        def grow(command: TopicCommand, topic: PartitionsToCreate) -> None:
            registered = wait(command.client.topic(topic.name))
            if registered is None:
                raise UnknownTopicOrPartition(f"The topic '{topic.name}' does not exist.")
            if topic.name in wait(command.client.deletions()):
                raise InvalidTopic("The topic is queued for deletion.")
            count = len(registered.partitions)
            if topic.total == count:
                raise InvalidPartitions(f"Topic already has {count} partitions.")
            if topic.total < count:
                raise InvalidPartitions(
                    f"Topic currently has {count} partitions, which is higher than the requested "
                    f"{topic.total}."
                )
            _refuse_unknown(command, topic, count)
            command.add_partitions(topic.name, topic.total, topic.by_hand, validate_only)

        return self._changed(((one.name, one) for one in topics), grow)

    def delete(self, names: Iterable[str]) -> Changed | None:
        """DeleteTopics."""
        config, asked = self.control().config, list(names)
        if not config.truth("delete.topic.enable") and config.release.since("2.1"):
            if not self.control().current_controller.active:
                return None
            refused = "TOPIC_DELETION_DISABLED", "Topic deletion is disabled."
            return dict.fromkeys(asked, refused)

        def delete(command: TopicCommand, name: str) -> None:
            if wait(command.client.topic(name)) is None:
                raise UnknownTopicOrPartition("This server does not host this topic-partition.")
            # It may be asked for already (TopicAlreadyMarkedForDeletionException is taken so).
            with contextlib.suppress(NodeExists):
                wait(command.client.request_deletion(name))

        return self._changed(zip(asked, asked, strict=True), delete)
