"""ZooKeeper operations of a controller and a leader, with Kafka's names (``KafkaZkClient``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from impl.znodes import paths
from impl.znodes.brokers import BrokerInfo, decode_broker
from impl.znodes.cluster import decode_log_dir_event, encode_log_dir_event
from impl.znodes.configs import config_change_version, encode_config_change
from impl.znodes.controller import ControllerZnodes
from impl.znodes.partitions import (
    TopicPartition,
    decode_partition_set,
    decode_reassignment,
    encode_partition_set,
    encode_reassignment,
)
from impl.znodes.states import LeaderIsrAndControllerEpoch, decode_state, encode_state
from impl.znodes.text import number_of
from impl.znodes.topics import (
    ReplicaAssignment,
    TopicZnode,
    decode_topic,
    encode_topic,
    topic_version,
)
from impl.zookeeper.errors import BadVersion, ZooKeeperError
from impl.zookeeper.znode import Create, SetData

States = dict[TopicPartition, LeaderIsrAndControllerEpoch]


class UpdatedStates(NamedTuple):
    """Outcome of conditional writes: done (under the new version), to be retried, failed."""

    done: States
    retry: list[TopicPartition]
    failed: dict[TopicPartition, ZooKeeperError]


class ZnodeClient(ControllerZnodes):
    """Every typed read and write of brokers, topics, states and admin requests."""

    # Brokers and topics

    async def brokers(self, watch: bool = False) -> dict[int, tuple[BrokerInfo, int]]:
        """Registered brokers by id: what they say, and their epoch (czxid)."""
        found = {}
        for broker in sorted(map(number_of, await self.names(paths.BROKER_IDS, watch))):
            node = await self.read(paths.broker(broker))
            if node is not None:
                found[broker] = (decode_broker(broker, node.data), node.czxid)
        return found

    async def generate_broker_id(self) -> int:
        """A number that no broker has got before, from 1 on: the version of ``/brokers/seqid``."""
        return (await self.retry(lambda: self.port.set_data(paths.BROKER_SEQUENCE, ""))).version

    async def topics(self, watch: bool = False) -> list[str]:
        """The names of the topics, sorted."""
        return await self.names(paths.TOPICS, watch)

    async def topic(self, name: str, watch: bool = False) -> TopicZnode | None:
        """The assignment of a topic's replicas."""
        node = await self.read(paths.topic(name), watch)
        return None if node is None else decode_topic(name, node.data)

    async def create_topic(self, name: str, assignment: Mapping[int, Iterable[int]]) -> None:
        """Create a topic's znode, as admin code does: unfenced. NodeExists."""
        replicas = {number: ReplicaAssignment(tuple(ids)) for number, ids in assignment.items()}
        text = encode_topic(TopicZnode(replicas), min(topic_version(self.release), 2))
        await self.retry(lambda: self.port.create(paths.topic(name), text))

    async def set_topic(
        self, name: str, assignment: Mapping[int, ReplicaAssignment], epoch_version: int
    ) -> None:
        """Rewrite a topic's assignment as its controller."""
        text = encode_topic(TopicZnode(assignment), min(topic_version(self.release), 2))
        await self.fenced_or_raise(SetData(paths.topic(name), text), epoch_version)

    # Partition states

    async def state(self, partition: TopicPartition) -> LeaderIsrAndControllerEpoch | None:
        """The registered state with its zkVersion, None if there is none."""
        node = await self.read(paths.state(*partition))
        return None if node is None else decode_state(*partition, node.data, node.version)

    async def create_states(
        self, states: Mapping[TopicPartition, LeaderIsrAndControllerEpoch], epoch_version: int
    ) -> dict[TopicPartition, ZooKeeperError | None]:
        """Create the first states, parents included; by partition the error, None if it is done."""
        outcome: dict[TopicPartition, ZooKeeperError | None] = {}
        for partition, state in states.items():
            for parent in (paths.partitions(partition.topic), paths.partition(*partition)):
                await self.fenced_outcome(
                    Create(parent, ""), epoch_version
                )  # one that exists is fine
            create = Create(paths.state(*partition), encode_state(state))
            made = await self.fenced_outcome(create, epoch_version)
            outcome[partition] = made if isinstance(made, ZooKeeperError) else None
        return outcome

    async def update_states(
        self,
        states: Mapping[TopicPartition, LeaderIsrAndControllerEpoch],
        epoch_version: int | None = None,
    ) -> UpdatedStates:
        """Conditional writes, each under its state's zkVersion (``updateLeaderAndIsr``).

        With the version of a controller's epoch they are fenced by it; a leader gives none.
        """
        result = UpdatedStates({}, [], {})
        for partition, state in states.items():
            op = SetData(paths.state(*partition), encode_state(state), state.zk_version)
            outcome = await self.fenced_outcome(op, epoch_version)
            if isinstance(outcome, int):
                result.done[partition] = state.with_zk_version(outcome)
            elif isinstance(outcome, BadVersion):
                result.retry.append(partition)
            else:
                assert isinstance(outcome, ZooKeeperError), f"no answer to a write: {outcome!r}"
                result.failed[partition] = outcome
        return result

    # Notifications

    async def propagate_isr_changes(self, partitions: Iterable[TopicPartition]) -> str:
        """A leader's news of changed ISRs; the path of the notification."""
        text = encode_partition_set(partitions)
        return await self._notify(paths.ISR_CHANGE_PREFIX, text)

    async def notify_config_change(self, entity_type: str, name: str) -> str:
        """The news that the config of an entity changed; the path of the notification."""
        text = encode_config_change(entity_type, name, config_change_version(self.release))
        return await self._notify(paths.CONFIG_CHANGE_PREFIX, text)

    async def _notify(self, prefix: str, text: str) -> str:
        return (await self.retry(lambda: self.port.create(prefix, text, sequential=True))).path

    async def isr_changes(self, watch: bool = False) -> dict[str, list[TopicPartition]]:
        """The notifications there are, by name, each with its partitions."""
        found = {}
        for name in await self.names(paths.ISR_CHANGES, watch):
            node = await self.read(f"{paths.ISR_CHANGES}/{name}")
            if node is not None:
                found[name] = decode_partition_set(f"{paths.ISR_CHANGES}/{name}", node.data)
        return found

    async def propagate_log_dir_failure(self, broker: int) -> str:
        """A broker's news of a failed log directory (1.0); the path of the notification."""
        return await self._notify(paths.LOG_DIR_EVENT_PREFIX, encode_log_dir_event(broker))

    async def log_dir_events(self, watch: bool = False) -> dict[str, int]:
        """The notifications of failed log directories, by name, each with its broker."""
        found = {}
        for name in await self.names(paths.LOG_DIR_EVENTS, watch):
            path = f"{paths.LOG_DIR_EVENTS}/{name}"
            node = await self.read(path)
            broker = None if node is None else decode_log_dir_event(path, node.data)
            if broker is not None:
                found[name] = broker
        return found

    async def delete_notifications(
        self, parent: str, names: Iterable[str], epoch_version: int
    ) -> None:
        """Delete notifications that were handled; one that is gone already is no error."""
        for name in names:
            await self.fenced_delete(f"{parent}/{name}", epoch_version)

    # Requests of administrators

    async def deletions(self, watch: bool = False) -> list[str]:
        """The topics that are to be deleted, sorted."""
        return await self.names(paths.DELETE_TOPICS, watch)

    async def request_deletion(self, topic: str) -> None:
        """Ask for a topic's deletion. NodeExists if somebody did already."""
        await self.retry(lambda: self.port.create(paths.deletion(topic)))

    async def delete_topic(self, topic: str, epoch_version: int) -> None:
        """Remove what is left of a topic: its znodes, its config, the request; in this order."""
        await self.fenced_delete_below(paths.topic(topic), epoch_version)
        await self.fenced_delete_below(paths.config("topics", topic), epoch_version)
        await self.fenced_delete(paths.deletion(topic), epoch_version)

    async def reassignments(self) -> dict[TopicPartition, tuple[int, ...]]:
        """What ``/admin/reassign_partitions`` asks for, nothing if it is missing."""
        node = await self.read(paths.REASSIGN_PARTITIONS)
        return {} if node is None else decode_reassignment(node.data, self.release)

    async def set_reassignments(
        self, targets: Mapping[TopicPartition, Iterable[int]], epoch_version: int
    ) -> None:
        """Write what is left of the reassignments; when nothing is left, the znode goes."""
        if not targets:
            await self.fenced_delete(paths.REASSIGN_PARTITIONS, epoch_version)
            return
        await self.fenced_set(
            paths.REASSIGN_PARTITIONS, encode_reassignment(targets), epoch_version
        )

    async def request_preferred_election(self, partitions: Iterable[TopicPartition]) -> None:
        """Ask for preferred leaders. NodeExists while an earlier request is there."""
        text = encode_partition_set(partitions)
        await self.retry(lambda: self.port.create(paths.PREFERRED_ELECTION, text))

    async def preferred_election(self) -> list[TopicPartition] | None:
        """The partitions that a preferred election was asked for, None without a request."""
        node = await self.read(paths.PREFERRED_ELECTION)
        if node is None:
            return None
        return decode_partition_set(paths.PREFERRED_ELECTION, node.data)

    async def delete_preferred_election(self, epoch_version: int) -> None:
        """The request has been dealt with."""
        await self.fenced_delete(paths.PREFERRED_ELECTION, epoch_version)
