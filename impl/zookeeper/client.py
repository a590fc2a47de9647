"""What Kafka asks of ZooKeeper, in Kafka's words (``KafkaZkClient`` of 2.3)."""

from __future__ import annotations

from dataclasses import dataclass

from impl.zookeeper.errors import BadVersion, NodeExists, NoNode, ZooKeeperError
from impl.zookeeper.payloads import (
    BROKER_IDS,
    CONTROLLER,
    CONTROLLER_EPOCH,
    PartitionState,
    broker_path,
    decode_controller,
    decode_state,
    encode_broker,
    encode_controller,
    encode_state,
    encode_topic,
    state_path,
    topic_path,
)
from impl.zookeeper.store import ZooKeeper
from impl.zookeeper.znode import Check, Create, OpResult, SetData

STATE = state_path()


class ControllerMoved(Exception):
    """``ControllerMovedException``: the controller epoch znode is not at the caller's version."""


@dataclass(frozen=True, slots=True)
class ControllerNode:
    """Who is registered as controller: the broker id written there, and the owning session."""

    broker: int
    session: int


class KafkaZkClient:
    """Typed reads and writes on one ensemble; ``now_ms`` stamps what is registered."""

    def __init__(self, zookeeper: ZooKeeper) -> None:
        self.zookeeper = zookeeper
        self.now_ms = 0

    def create_top_level(self, assignment: tuple[int, ...]) -> None:
        """The znodes of a cluster with one created, never led partition."""
        never_led = PartitionState(-1, 0, assignment, 0)
        self.zookeeper.make_path(BROKER_IDS)
        self.zookeeper.make_path(topic_path(), encode_topic(assignment))
        self.zookeeper.make_path(STATE, encode_state(never_led))
        self.zookeeper.make_path(CONTROLLER_EPOCH, "0")

    # Brokers

    def register_broker(self, broker: int, session: int) -> int:
        """Create ``/brokers/ids/N`` for this session; returns the broker epoch (its czxid)."""
        text = encode_broker(broker, self.now_ms)
        return self.zookeeper.create(broker_path(broker), text, session).czxid

    def broker_epoch(self, broker: int) -> int | None:
        """The epoch under which the broker is registered, None if it is not."""
        node = self.zookeeper.nodes.get(broker_path(broker))
        return None if node is None else node.czxid

    def live_brokers(self) -> dict[int, int]:
        """Registered broker ids with their broker epochs, sorted by id."""
        ids = sorted(int(name) for name in self.zookeeper.children(BROKER_IDS))
        return {broker: self.zookeeper.get(broker_path(broker)).czxid for broker in ids}

    # The controller

    def controller(self) -> ControllerNode | None:
        """Who is registered as controller, None if nobody is."""
        node = self.zookeeper.nodes.get(CONTROLLER)
        return None if node is None else ControllerNode(decode_controller(node.data), node.owner)

    def controller_owner(self) -> int | None:
        """The session that owns /controller, None if nobody is registered."""
        node = self.zookeeper.nodes.get(CONTROLLER)
        return None if node is None else node.owner

    def controller_epoch(self) -> tuple[int, int]:
        """The controller epoch and the data version of its znode."""
        node = self.zookeeper.get(CONTROLLER_EPOCH)
        return int(node.data), node.version

    def register_controller(self, broker: int, session: int, epoch: int, version: int) -> bool:
        """Take office: create /controller and write the next epoch, together or not at all.

        ``epoch`` and ``version`` are what the caller read before. False if somebody is registered
        (NodeExists) or the epoch has moved on (BadVersion). KAFKA-6082.
        """
        outcome = self.zookeeper.multi(
            [
                Create(CONTROLLER, encode_controller(broker, self.now_ms), session),
                SetData(CONTROLLER_EPOCH, str(epoch + 1), version),
            ]
        )
        refused = _failure(outcome)
        if refused is None:
            return True
        if isinstance(refused[1], NodeExists | BadVersion):
            return False
        raise refused[1]

    def delete_controller(self) -> None:
        """Delete /controller, whoever owns it (an operator's command); NoNode if there is none."""
        self.zookeeper.delete(CONTROLLER)

    # The state of the partition

    def partition_state(self) -> tuple[PartitionState, int]:
        """The registered state of the partition and its zkVersion."""
        node = self.zookeeper.get(STATE)
        return decode_state(node.data), node.version

    def partition_version(self) -> int:
        """The zkVersion of the registered state."""
        return self.zookeeper.get(STATE).version

    def write_state(self, state: PartitionState, version: int) -> int:
        """A leader's conditional write (no controller check); the new zkVersion or BadVersion."""
        return self.zookeeper.set_data(STATE, encode_state(state), version).version

    def write_state_as_controller(
        self, state: PartitionState, version: int, epoch_version: int
    ) -> int:
        """A controller's conditional write, fenced by the version of its epoch (KAFKA-6082).

        Returns the new zkVersion. ControllerMoved if the fence refused, whatever the rest;
        otherwise the write's own error (BadVersion, NoNode).
        """
        outcome = self.zookeeper.multi(
            [
                Check(CONTROLLER_EPOCH, epoch_version),
                SetData(STATE, encode_state(state), version),
            ]
        )
        refused = _failure(outcome)
        if refused is None:
            return version + 1
        position, error = refused
        if position == 0 and isinstance(error, BadVersion | NoNode):
            raise ControllerMoved(str(error)) from error
        raise error


def _failure(outcome: list[OpResult]) -> tuple[int, ZooKeeperError] | None:
    """Position and error of the operation that failed, None if all went well."""
    for position, result in enumerate(outcome):
        if isinstance(result, ZooKeeperError) and result.code not in (0, -2):
            return position, result
    return None
