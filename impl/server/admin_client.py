"""Admin client: sends requests to the controller, to one broker, or to any broker.

Source: KafkaAdminClient; KIP-4, KIP-455, KIP-460, KIP-113, KIP-339.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from impl.admin.port import (
    DescribedPartition,
    Errors,
    LogDir,
    NewPartitions,
    NewTopic,
    RequestFailed,
    Settings,
)
from impl.core.api import UNCLEAN_TYPE
from impl.error_codes import NONE
from impl.server.clients import PAUSE_S, Client, ClientError, error_in
from impl.server.connection import Connection, Disconnected, UnsupportedVersion
from impl.server.control_messages import by_topic
from impl.server.dynamic_configs import EVERY_BROKER
from impl.wire import Fields
from impl.znodes import ReplicaAssignment, TopicPartition

ASK_AGAIN = ("NOT_CONTROLLER", "NETWORK_EXCEPTION", "LEADER_NOT_AVAILABLE")
KINDS = {"topics": 2, "brokers": 4}
SOURCES = {
    1: "DYNAMIC_TOPIC_CONFIG", 2: "DYNAMIC_BROKER_CONFIG", 3: "DYNAMIC_DEFAULT_BROKER_CONFIG",
    4: "STATIC_BROKER_CONFIG", 5: "DEFAULT_CONFIG",
}  # fmt: skip
SET, DELETE = 0, 1
OF_TOPICS, OF_ELECTIONS = timedelta(seconds=10), 5.0


class AdminClient(Client):
    """Every call raises RequestFailed with Kafka's error, at once or when ``timeout_s`` is over."""

    client_id = "adminclient-1"

    def _controller(
        self, api: str, known: int, body: Fields, error_of: Callable[[Any], str], oldest: int = 0
    ) -> Any:
        """Ask whoever is controller, until somebody is, in a version from ``oldest`` on."""
        deadline = time.monotonic() + self.timeout_s
        while True:
            error, text = "NOT_CONTROLLER", f"{api}: NOT_CONTROLLER"
            try:
                address = self.addresses.get(self.refresh().controller_id)
                if address is not None:
                    answer = _asked(self.connection(address), api, known, body, oldest)
                    error = error_of(answer)
                    if error not in ASK_AGAIN:
                        return answer
                    text = f"{api}: {error}"
            except (Disconnected, ClientError) as trouble:
                error, text = "NETWORK_EXCEPTION", str(trouble)
            if time.monotonic() > deadline:
                raise RequestFailed(error, text)
            time.sleep(PAUSE_S)

    def _broker(self, broker: int | None, api: str, known: int, body: Fields) -> Any:
        """Ask one broker, or any."""
        try:
            self.refresh()
            addresses = self.addresses
            chosen = min(addresses) if broker is None else broker
            if chosen not in addresses:
                raise RequestFailed("BROKER_NOT_AVAILABLE", f"broker {chosen} is not available")
            return _asked(self.connection(addresses[chosen]), api, known, body)
        except ClientError as error:
            raise RequestFailed(error.code, str(error)) from error
        except Disconnected as error:
            raise RequestFailed("NETWORK_EXCEPTION", str(error)) from error

    def _known(self) -> Any:
        try:
            return self.refresh()
        except ClientError as error:
            raise RequestFailed(error.code, str(error)) from error

    def brokers(self) -> dict[int, str | None]:
        """The live brokers, with their racks."""
        return {one.node_id: one.rack for one in self._known().brokers}

    def assignments(self, topics: Collection[str]) -> dict[TopicPartition, tuple[int, ...]]:
        """The replicas of the partitions of the given topics, as far as these exist."""
        return {
            TopicPartition(topic.name, one.partition_index): tuple(one.replica_nodes)
            for topic in self._known().topics
            for one in topic.partitions
            if topic.name in topics
        }

    def describe_topics(self) -> dict[str, list[DescribedPartition]]:
        """All topics that brokers know, by name, with their partitions in order."""
        return {
            topic.name: [
                DescribedPartition(
                    one.partition_index, None if one.leader_id < 0 else one.leader_id,
                    tuple(one.replica_nodes), tuple(one.isr_nodes),
                )
                for one in sorted(topic.partitions, key=lambda one: one.partition_index)
            ]
            for topic in sorted(self._known().topics, key=lambda topic: topic.name)
        }  # fmt: skip

    def topic_configs(self, topics: Collection[str]) -> dict[str, tuple[dict[str, str], int]]:
        """The configs that are set on the topics themselves, and their ``min.insync.replicas``."""
        found = {}
        for answer in self._described("topics", sorted(topics)) if topics else ():
            name = answer.resource_name
            own = {
                one.name: one.value or "" for one in answer.configs if _is_of("topics", name, one)
            }
            [least] = [one.value for one in answer.configs if one.name == "min.insync.replicas"]
            found[name] = own, int(least or 1)
        return found

    # Topics

    def create_topic(self, topic: NewTopic) -> None:
        """CreateTopics."""
        by_hand = topic.by_hand or {}
        unsaid = -1
        wanted = Fields(
            name=topic.name,
            num_partitions=unsaid if topic.partitions is None or by_hand else topic.partitions,
            replication_factor=unsaid if topic.factor is None or by_hand else topic.factor,
            assignments=[
                Fields(partition_index=number, broker_ids=tuple(replicas))
                for number, replicas in by_hand.items()
            ],
            configs=[Fields(name=key, value=value) for key, value in topic.configs.items()],
        )
        body = Fields(topics=(wanted,), timeout=OF_TOPICS, validate_only=False)
        answer = self._controller("CreateTopics", 4, body, lambda reply: _first(reply.topics))
        _refused(answer.topics)

    def create_partitions(self, topics: Sequence[NewPartitions]) -> None:
        """CreatePartitions; the first refusal is raised."""
        wanted = [
            Fields(
                name=one.name, count=one.total,
                assignments=None if one.by_hand is None else [
                    Fields(broker_ids=tuple(replicas)) for replicas in one.by_hand
                ],
            )
            for one in topics
        ]  # fmt: skip
        body = Fields(topics=wanted, timeout=OF_TOPICS, validate_only=False)
        answer = self._controller("CreatePartitions", 1, body, lambda reply: _first(reply.results))
        _refused(answer.results)

    def delete_topics(self, topics: Sequence[str]) -> None:
        """DeleteTopics; the first refusal is raised."""
        body = Fields(topic_names=list(topics), timeout=OF_TOPICS)
        answer = self._controller("DeleteTopics", 5, body, lambda reply: _first(reply.responses))
        _refused(answer.responses)

    # Moves and elections

    def alter_reassignments(self, targets: Mapping[TopicPartition, Sequence[int] | None]) -> Errors:
        """Start, change or (None) cancel reassignments (2.4)."""
        rows = (
            (
                one.topic,
                Fields(
                    partition_index=one.partition,
                    replicas=None if target is None else tuple(target),
                ),
            )
            for one, target in targets.items()
        )
        topics = [Fields(name=topic, partitions=parts) for topic, parts in by_topic(rows).items()]
        body = Fields(timeout=OF_TOPICS, topics=topics)
        answer = self._controller("AlterPartitionReassignments", 0, body, error_in)
        _raise_for_error("AlterPartitionReassignments", answer)
        return {
            TopicPartition(topic.name, one.partition_index): error_in(one)
            for topic in answer.responses
            for one in topic.partitions
        }

    def list_reassignments(self) -> dict[TopicPartition, ReplicaAssignment]:
        """The reassignments in progress (2.4)."""
        body = Fields(timeout=OF_TOPICS, topics=None)
        answer = self._controller("ListPartitionReassignments", 0, body, error_in)
        _raise_for_error("ListPartitionReassignments", answer)
        return {
            TopicPartition(topic.name, one.partition_index): ReplicaAssignment(
                tuple(one.replicas), tuple(one.adding_replicas), tuple(one.removing_replicas)
            )
            for topic in answer.topics
            for one in topic.partitions
        }

    def elect_leaders(self, kind: str, partitions: Collection[TopicPartition] | None) -> Errors:
        """Elect PREFERRED (2.2) or UNCLEAN (2.4) leaders, of all partitions if none is named."""
        named = None
        if partitions is not None:
            rows = ((one.topic, one.partition) for one in partitions)
            named = [
                Fields(topic=topic, partitions=parts) for topic, parts in by_topic(rows).items()
            ]
        patience = timedelta(seconds=min(self.timeout_s, OF_ELECTIONS))
        body = Fields(
            election_type=int(kind == UNCLEAN_TYPE), topic_partitions=named, timeout=patience
        )
        oldest = 1 if kind == UNCLEAN_TYPE else 0  # which asks for preferred ones alone

        def error_of(answer: Any) -> str:
            parts = [
                one for each in answer.replica_election_results for one in each.partition_result
            ]
            return error_in(answer) if hasattr(answer, "error_code") else _first(parts)

        answer = self._controller("ElectLeaders", 2, body, error_of, oldest)
        _raise_for_error("ElectLeaders", answer)
        return {
            TopicPartition(each.topic, one.partition_id): error_in(one)
            for each in answer.replica_election_results
            for one in each.partition_result
        }

    # Directories

    def describe_log_dirs(self, broker: int) -> list[LogDir]:
        """The log directories of a broker (1.0)."""
        answer = self._broker(broker, "DescribeLogDirs", 2, Fields(topics=None))

        def replicas(one: Any, future: bool) -> frozenset[TopicPartition]:
            return frozenset(
                TopicPartition(topic.name, row.partition_index)
                for topic in one.topics
                for row in topic.partitions
                if row.is_future_key == future
            )

        return [
            LogDir(one.log_dir, error_in(one), replicas(one, False), replicas(one, True))
            for one in answer.results
        ]

    def alter_log_dirs(self, broker: int, wanted: Mapping[TopicPartition, str]) -> Errors:
        """Move replicas to other log directories of their broker (1.1)."""
        dirs: dict[str, list[tuple[str, int]]] = {}
        for one, path in wanted.items():
            dirs.setdefault(path, []).append((one.topic, one.partition))
        body = Fields(dirs=[
            Fields(path=path, topics=[
                Fields(name=topic, partitions=numbers) for topic, numbers in by_topic(rows).items()
            ])
            for path, rows in dirs.items()
        ])  # fmt: skip
        answer = self._broker(broker, "AlterReplicaLogDirs", 1, body)
        return {
            TopicPartition(topic.topic_name, one.partition_index): error_in(one)
            for topic in answer.results
            for one in topic.partitions
        }

    # Settings

    def describe_configs(
        self, kind: str, name: str, every: bool = False
    ) -> dict[str, tuple[str | None, list[tuple[str, str, str | None]]]]:
        """The configs of a topic or a broker: each with its value and its synonyms (0.11).

        ``every``: include the configs that are not set. A synonym is a source, the name of the
        config in that source, and the value there. The value of a sensitive config is None.
        """
        [answer] = self._described(kind, [name])
        return {
            one.name: (_plain(one, one.value), [
                (SOURCES[synonym.source], synonym.name, _plain(one, synonym.value))
                for synonym in getattr(one, "synonyms", ())
            ])
            for one in answer.configs
            if every or _is_of(kind, name, one)
        }  # fmt: skip

    def _described(self, kind: str, names: Sequence[str]) -> Any:
        """What one DescribeConfigs answers, for each resource."""
        broker = int(names[0]) if kind == "brokers" and names[0].isdecimal() else None
        wanted = tuple(
            Fields(
                resource_type=KINDS[kind], resource_name=_resource(kind, name),
                configuration_keys=None,
            )
            for name in names
        )  # fmt: skip
        body = Fields(resources=wanted, include_synonyms=True, include_documentation=False)
        results = self._broker(broker, "DescribeConfigs", 3, body).results
        _refused(results)
        return results

    def alter_configs(self, settings: Settings, incremental: bool = True) -> None:
        """Set and unset configs of topics and brokers (2.3); AlterConfigs before 2.3 names all."""
        rows = [
            Fields(
                resource_type=KINDS[kind], resource_name=_resource(kind, name),
                configs=[
                    Fields(
                        name=key, value=value,
                        config_operation=DELETE if value is None else SET,
                    )
                    for key, value in changes.items()
                ],
            )
            for (kind, name), changes in settings.items()
        ]  # fmt: skip
        api = "IncrementalAlterConfigs" if incremental else "AlterConfigs"
        answer = self._broker(None, api, 1, Fields(resources=rows, validate_only=False))
        for (kind, name), one in zip(settings, answer.responses, strict=True):
            error = error_in(one)
            if error != NONE:
                raise RequestFailed(error, f"{kind} {name}: {one.error_message or error}")


def _asked(connection: Connection, api: str, known: int, body: Fields, oldest: int = 0) -> Any:
    """Ask in the newest version that both sides know; RequestFailed UNSUPPORTED_VERSION."""
    try:
        version = connection.newest(api, known)
        if version < oldest:
            raise UnsupportedVersion(f"The broker does not support version {oldest} of {api}")
        return connection.ask(api, version, body)
    except UnsupportedVersion as error:
        raise RequestFailed("UNSUPPORTED_VERSION", str(error)) from error


def _resource(kind: str, name: str) -> str:
    """A resource's name; that of every broker is empty."""
    return "" if kind == "brokers" and name == EVERY_BROKER else name


def _is_of(kind: str, name: str, setting: Any) -> bool:
    """The setting is of the entity itself, and no default. Version 0 says no more than that."""
    if not hasattr(setting, "config_source"):
        return not setting.is_default
    own = "DYNAMIC_TOPIC_CONFIG"
    if kind == "brokers":
        own = "DYNAMIC_DEFAULT_BROKER_CONFIG" if name == EVERY_BROKER else "DYNAMIC_BROKER_CONFIG"
    return SOURCES[setting.config_source] == own


def _plain(setting: Any, value: str | None) -> str | None:
    return None if setting.is_sensitive else value or ""


def _first(rows: Iterable[Any]) -> str:
    """The error of the first of some, by which the others have one too if it is the whole's."""
    return next((error_in(one) for one in rows), NONE)


def _refused(rows: Iterable[Any]) -> None:
    """RequestFailed for the first that was refused."""
    for one in rows:
        error = error_in(one)
        if error != NONE:
            raise RequestFailed(error, getattr(one, "error_message", None) or error)


def _raise_for_error(api: str, answer: Any) -> None:
    """RequestFailed for a request that was refused as a whole."""
    error = error_in(answer) if hasattr(answer, "error_code") else NONE
    if error != NONE:
        raise RequestFailed(error, getattr(answer, "error_message", None) or f"{api}: {error}")
