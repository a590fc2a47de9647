"""The ZooKeeper operations of brokers and controllers, with Kafka's names (``KafkaZkClient``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from impl.releases import Release
from impl.znodes import paths
from impl.znodes.brokers import BrokerInfo, broker_version, decode_broker, encode_broker
from impl.znodes.cluster import (
    decode_controller,
    decode_controller_epoch,
    decode_log_dir_event,
    encode_controller,
    encode_log_dir_event,
)
from impl.znodes.configs import config_change_version, encode_config_change
from impl.znodes.partitions import (
    TopicPartition,
    decode_partition_set,
    decode_reassignment,
    encode_partition_set,
    encode_reassignment,
)
from impl.znodes.retrying_client import ControllerMoved, RetryingZnodeClient
from impl.znodes.states import LeaderIsrAndControllerEpoch, decode_state, encode_state
from impl.znodes.text import number_of
from impl.znodes.topics import (
    ReplicaAssignment,
    TopicZnode,
    decode_topic,
    encode_topic,
    topic_version,
)
from impl.zookeeper.errors import BadVersion, NodeExists, NoNode, ZooKeeperError
from impl.zookeeper.znode import Create, Delete, SetData


@dataclass(frozen=True, order=True, slots=True)
class ControllerEpoch:
    """A controller's epoch, and the version of the znode that holds it: the fence of its writes."""

    epoch: int
    epoch_version: int


class EpochNotCounted(ControllerMoved):
    """Up to 2.0: ``/controller`` was created, but the version of the epoch's znode had changed.

    Another controller incremented it, or this one did and the response was lost.
    """


States = dict[TopicPartition, LeaderIsrAndControllerEpoch]


class UpdatedStates(NamedTuple):
    """The outcome of conditional writes: done (under the new version), to be retried, or failed."""

    done: States
    retry: list[TopicPartition]
    failed: dict[TopicPartition, ZooKeeperError]


class ZnodeClient(RetryingZnodeClient):
    """Every typed read and write of brokers, controllers, topics, states and admin requests."""

    # Registrations of brokers

    async def register_broker(
        self, broker: int, info: BrokerInfo, earlier_session: int = 0,
        protocol: Release | None = None,
    ) -> int:  # fmt: skip
        """Create ``/brokers/ids/N``; returns its czxid, the broker's epoch (KIP-380).

        If this session owns the znode already, the creation counts as done: its response was lost.
        A znode that ``earlier_session`` owns is replaced (2.2 and later). NodeExists otherwise.
        ``protocol`` is the inter.broker.protocol.version, by default that of the release.
        """
        path = paths.broker(broker)
        text = encode_broker(info, broker_version(protocol or self.release))
        try:
            return (
                await self.retry(lambda: self.port.create(path, text, ephemeral=True))
            ).znode.czxid
        except NodeExists:
            there = await self.read(path)
        if there is not None and there.owner == self.port.session:
            return there.czxid
        ours = there is not None and there.owner == earlier_session and earlier_session != 0
        if there is not None and not (ours and self.release.since("2.2")):
            raise NodeExists(f"a broker is already registered on the path {path}")
        replace = [Delete(path)] if there is not None else []
        create = Create(path, text, self.port.session)
        for outcome in await self.retry(lambda: self.port.multi([*replace, create])):
            if isinstance(outcome, ZooKeeperError):
                raise outcome
        made = await self.read(path)
        assert made is not None, "a znode that was created by a living session is there"
        return made.czxid

    # The controller

    async def controller(self, watch: bool = False) -> int | None:
        """The broker in /controller, None without the znode."""
        node = await self.read(paths.CONTROLLER, watch)
        return None if node is None else decode_controller(node.data)

    async def controller_epoch(self) -> ControllerEpoch | None:
        """The epoch and its version, None before the first controller."""
        node = await self.read(paths.CONTROLLER_EPOCH)
        return (
            None
            if node is None
            else ControllerEpoch(decode_controller_epoch(node.data), node.version)
        )

    async def create_controller_epoch(self, epoch: int) -> ControllerEpoch:
        """Create /controller_epoch; if it exists already, return its content."""
        try:
            await self.retry(lambda: self.port.create(paths.CONTROLLER_EPOCH, str(epoch)))
        except NodeExists:
            there = await self.controller_epoch()
            if there is not None:
                return there
        return ControllerEpoch(epoch, 0)

    async def set_controller_epoch(self, epoch: int, version: int) -> int:
        """Write the epoch conditionally; returns the new version. BadVersion, NoNode."""
        text = str(epoch)
        return (
            await self.retry(lambda: self.port.set_data(paths.CONTROLLER_EPOCH, text, version))
        ).version

    async def register_controller(self, broker: int, now_ms: int) -> ControllerEpoch:
        """Become controller, with the next epoch; ControllerMoved if another broker is.

        EpochNotCounted (1.1 to 2.0) leaves a ``/controller`` of its own behind. Up to 1.0 the error
        was only logged, and the controller went on under the epoch that it had read
        (``incrementControllerEpoch``).
        """
        if self.release.since("2.1"):
            return await self._register_at_once(broker, now_ms)
        return await self._register_and_then_count(broker, now_ms)

    async def _register_at_once(self, broker: int, now_ms: int) -> ControllerEpoch:
        read = await self.controller_epoch() or await self.create_controller_epoch(0)
        wanted = read.epoch + 1
        claim = Create(paths.CONTROLLER, encode_controller(broker, now_ms), owner=self.port.session)
        count = SetData(paths.CONTROLLER_EPOCH, str(wanted), read.epoch_version)
        outcomes = await self.retry(lambda: self.port.multi([claim, count]))
        version = outcomes[1]
        if isinstance(version, int):
            return ControllerEpoch(wanted, version)
        if any(isinstance(one, NodeExists | BadVersion) for one in outcomes):
            return await self._whose_it_is(broker, wanted)
        raise next(one for one in outcomes if isinstance(one, ZooKeeperError) and one.code)

    async def _whose_it_is(self, broker: int, wanted: int) -> ControllerEpoch:
        """This broker's own registration if id and epoch match; else ControllerMoved."""
        holder, now = await self.controller(), await self.controller_epoch()
        if holder is None:
            raise ControllerMoved("the controller has been elected, and its znode is gone again")
        if holder == broker and now is not None and now.epoch == wanted:
            return now
        raise ControllerMoved(f"broker {holder} was elected as controller")

    async def _register_and_then_count(self, broker: int, now_ms: int) -> ControllerEpoch:
        """Up to 2.0: first the ephemeral znode, then the epoch; two brokers may interleave."""
        text = encode_controller(broker, now_ms)
        try:
            await self.retry(lambda: self.port.create(paths.CONTROLLER, text, ephemeral=True))
        except NodeExists:
            there = await self.read(paths.CONTROLLER)
            if there is None or there.owner != self.port.session:
                raise ControllerMoved("another broker was elected as controller") from None
        read = await self.controller_epoch()
        if read is None:
            try:
                await self.retry(lambda: self.port.create(paths.CONTROLLER_EPOCH, "1"))
            except NodeExists:  # be it by its own write, whose answer was lost
                raise EpochNotCounted("another controller counted the epoch") from None
            return ControllerEpoch(1, 1)  # Kafka's constant; the znode itself is at version 0
        try:
            return ControllerEpoch(
                read.epoch + 1, await self.set_controller_epoch(read.epoch + 1, read.epoch_version)
            )
        except (BadVersion, NoNode) as moved:
            if not self.release.since("1.1"):
                return read
            raise EpochNotCounted("another controller counted the epoch") from moved

    async def delete_controller(self, epoch_version: int) -> None:
        """Resign on purpose, so that brokers elect a new controller (``triggerControllerMove``)."""
        await self.fenced_delete(paths.CONTROLLER, epoch_version)

    # Brokers and topics

    async def brokers(self, watch: bool = False) -> dict[int, tuple[BrokerInfo, int]]:
        """The registered brokers by id, with their epochs (czxid)."""
        found = {}
        for broker in sorted(map(number_of, await self.names(paths.BROKER_IDS, watch))):
            node = await self.read(paths.broker(broker))
            if node is not None:
                found[broker] = (decode_broker(broker, node.data), node.czxid)
        return found

    async def generate_broker_sequence_id(self) -> int:
        """A new, unused broker id, from 1 on: the version of ``/brokers/seqid``."""
        return (await self.retry(lambda: self.port.set_data(paths.BROKER_SEQUENCE, ""))).version

    async def topics(self, watch: bool = False) -> list[str]:
        """The names of the topics, sorted."""
        return await self.names(paths.TOPICS, watch)

    async def topic(self, name: str, watch: bool = False) -> TopicZnode | None:
        """The replica assignment of a topic."""
        node = await self.read(paths.topic(name), watch)
        return None if node is None else decode_topic(name, node.data)

    async def create_topic(self, name: str, assignment: Mapping[int, Iterable[int]]) -> None:
        """Create a topic's znode, as admin tools do: unfenced. NodeExists."""
        replicas = {number: ReplicaAssignment(tuple(ids)) for number, ids in assignment.items()}
        text = encode_topic(TopicZnode(replicas), min(topic_version(self.release), 2))
        await self.retry(lambda: self.port.create(paths.topic(name), text))

    async def set_topic(
        self,
        name: str,
        assignment: Mapping[int, ReplicaAssignment],
        epoch_version: int,
        topic_id: str | None = None,
    ) -> None:
        """Rewrite a topic's assignment as its controller; an id that the topic has stays."""
        version = min(topic_version(self.release), 2) if topic_id is None else 3
        text = encode_topic(TopicZnode(assignment, topic_id), version)
        await self.fenced_or_raise(SetData(paths.topic(name), text), epoch_version)

    # Partition states

    async def state(self, partition: TopicPartition) -> LeaderIsrAndControllerEpoch | None:
        """The registered state with its zkVersion, None if there is none."""
        node = await self.read(paths.state(*partition))
        return None if node is None else decode_state(*partition, node.data, node.version)

    async def create_states(
        self, states: Mapping[TopicPartition, LeaderIsrAndControllerEpoch], epoch_version: int
    ) -> dict[TopicPartition, ZooKeeperError | None]:
        """Create the first states, parents included; returns the error or None by partition."""
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

        A controller's writes are fenced by the version of its epoch; a leader passes none.
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
        """Notify the controller of changed ISRs; returns the path of the notification."""
        text = encode_partition_set(partitions)
        return await self._notify(paths.ISR_CHANGE_PREFIX, text)

    async def notify_config_change(self, entity_type: str, name: str) -> str:
        """Notify brokers of an entity's changed config; returns the path of the notification."""
        text = encode_config_change(entity_type, name, config_change_version(self.release))
        return await self._notify(paths.CONFIG_CHANGE_PREFIX, text)

    async def _notify(self, prefix: str, text: str) -> str:
        return (await self.retry(lambda: self.port.create(prefix, text, sequential=True))).path

    async def isr_changes(self, watch: bool = False) -> dict[str, list[TopicPartition]]:
        """The ISR change notifications, by name, each with its partitions."""
        found = {}
        for name in await self.names(paths.ISR_CHANGES, watch):
            node = await self.read(f"{paths.ISR_CHANGES}/{name}")
            if node is not None:
                found[name] = decode_partition_set(f"{paths.ISR_CHANGES}/{name}", node.data)
        return found

    async def propagate_log_dir_failure(self, broker: int) -> str:
        """Notify the controller of a failed log directory (1.0); returns the path."""
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
        """Delete handled notifications; one that no longer exists is no error."""
        for name in names:
            await self.fenced_delete(f"{parent}/{name}", epoch_version)

    # Requests of administrators

    async def deletions(self, watch: bool = False) -> list[str]:
        """The topics that are to be deleted, sorted."""
        return await self.names(paths.DELETE_TOPICS, watch)

    async def request_deletion(self, topic: str) -> None:
        """Request a topic's deletion. NodeExists if it has been requested already."""
        await self.retry(lambda: self.port.create(paths.deletion(topic)))

    async def delete_topic(self, topic: str, epoch_version: int) -> None:
        """Delete the rest of a topic: its znodes, its config, and the request; in this order."""
        await self.fenced_delete_below(paths.topic(topic), epoch_version)
        await self.fenced_delete_below(paths.config("topics", topic), epoch_version)
        await self.fenced_delete(paths.deletion(topic), epoch_version)

    async def reassignments(self) -> dict[TopicPartition, tuple[int, ...]]:
        """The reassignments in ``/admin/reassign_partitions``; empty without the znode."""
        node = await self.read(paths.REASSIGN_PARTITIONS)
        return {} if node is None else decode_reassignment(node.data, self.release)

    async def set_reassignments(
        self, targets: Mapping[TopicPartition, Iterable[int]], epoch_version: int
    ) -> None:
        """Write the remaining reassignments; if none remains, delete the znode."""
        if not targets:
            await self.fenced_delete(paths.REASSIGN_PARTITIONS, epoch_version)
            return
        await self.fenced_set(
            paths.REASSIGN_PARTITIONS, encode_reassignment(targets), epoch_version
        )

    async def request_preferred_election(self, partitions: Iterable[TopicPartition]) -> None:
        """Request preferred elections. NodeExists while an earlier request exists."""
        text = encode_partition_set(partitions)
        await self.retry(lambda: self.port.create(paths.PREFERRED_ELECTION, text))

    async def preferred_election(self) -> list[TopicPartition] | None:
        """The partitions of a preferred election request, None without a request."""
        node = await self.read(paths.PREFERRED_ELECTION)
        if node is None:
            return None
        return decode_partition_set(paths.PREFERRED_ELECTION, node.data)

    async def delete_preferred_election(self, epoch_version: int) -> None:
        """Delete a preferred election request that was handled."""
        await self.fenced_delete(paths.PREFERRED_ELECTION, epoch_version)
