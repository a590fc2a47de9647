"""The lab as controller: it holds /controller, writes states, and sends requests.

In a run of the model its controller takes given steps, but Kafka's own decides for itself. So the
lab takes the controller's place: it registers before any broker does, under an id that no broker
has, writes a controller's znodes, conditionally as it does, and sends LeaderAndIsr and
UpdateMetadata in the version that the release's controller would. Only the brokers are under test.
Source: ZkController paths, `KafkaController`, `ControllerChannelManager`.
"""

from __future__ import annotations

from conformance.kafka import requests
from conformance.kafka.lab import Lab
from conformance.kafka.zookeeper_client import LOOPBACK, LabZooKeeper
from impl.core.request_batch import NO_BROKER_EPOCH
from impl.core.requests import (
    LeaderAndIsr,
    LeaderAndIsrPartitionState,
    PartitionMetadata,
    UpdateMetadata,
    request_version,
)
from impl.releases import Release
from impl.server.control_messages import LiveBrokers
from impl.znodes import (
    LeaderIsrAndControllerEpoch,
    TopicPartition,
    encode_controller,
    encode_state,
    paths,
)
from impl.zookeeper.port import wait

LAB = 1000
"""The broker id under which the lab is controller."""

PERSISTENT = (paths.BROKER_IDS, paths.TOPICS, f"{paths.CONFIG}/topics", "/admin")


class LabController:
    """A session with a lab's ZooKeeper; ``topic`` has one partition."""

    def __init__(self, lab: Lab, topic: str) -> None:
        self.release, self.ports = lab.release, lab.state.ports
        self.partition = TopicPartition(topic, 0)
        self.replicas: tuple[int, ...] = ()
        self.epoch = 0
        self.zk = LabZooKeeper(lab.state.zookeeper)

    # Znodes

    def become_controller(self) -> int:
        """Becomes controller in the next controller epoch, which is returned."""
        self.epoch += 1
        wait(self.zk.port.set_data(paths.CONTROLLER_EPOCH, str(self.epoch)))
        wait(self.zk.port.set_data(paths.CONTROLLER, encode_controller(LAB, 0)))
        return self.epoch

    def register_as_controller(self) -> None:
        """Registers without an epoch, so that no broker becomes controller."""
        wait(self.zk.port.create(paths.CONTROLLER, encode_controller(LAB, 0), ephemeral=True))
        wait(self.zk.port.create(paths.CONTROLLER_EPOCH, "0"))
        for path in PERSISTENT:
            wait(self.zk.make_path(path))

    def create_topic(self, replicas: tuple[int, ...], state: LeaderIsrAndControllerEpoch) -> None:
        """Creates the topic's znodes, with a state of version 0."""
        self.replicas = replicas
        self.zk.make_topic(self.partition.topic, {0: replicas})
        wait(self.zk.make_path(paths.state(*self.partition), encode_state(state)))

    def read(self) -> LeaderIsrAndControllerEpoch:
        """The state as it is registered."""
        state = wait(self.zk.state(self.partition))
        assert state is not None, "the lab has created it"
        return state

    def write(self, state: LeaderIsrAndControllerEpoch, expected: int) -> bool:
        """Writes the state if its version is the expected one; returns whether it was."""
        wanted = {self.partition: state.with_zk_version(expected)}
        return self.partition in wait(self.zk.update_states(wanted)).done

    # Requests

    def inform(self, broker: int, epoch: int, state: LeaderIsrAndControllerEpoch) -> int:
        """Send a broker LeaderAndIsr, as the controller of an epoch; the error code."""
        order = LeaderAndIsrPartitionState(state, self.replicas, False)
        leaders = (state.leader,) if state.leader >= 0 else ()
        request = LeaderAndIsr(
            self._version("LeaderAndIsr"), LAB, epoch, self._broker_epoch(broker),
            {self.partition: order}, leaders,
        )  # fmt: skip
        return requests.send(self.ports[broker][0], request, self._live)

    def announce(self, broker: int, state: LeaderIsrAndControllerEpoch) -> int:
        """Sends a broker UpdateMetadata with every broker's address; the error code.

        A follower must know its leader's address; so every broker of the lab is named, as live.
        """
        request = UpdateMetadata(
            self._version("UpdateMetadata"), LAB, self.epoch, self._broker_epoch(broker),
            {self.partition: PartitionMetadata(state, self.replicas, ())},
            tuple(sorted(self.ports)),
        )  # fmt: skip
        return requests.send(self.ports[broker][0], request, self._live)

    @property
    def _live(self) -> LiveBrokers:
        """Every broker, at its proxy."""
        return LiveBrokers({one: (LOOPBACK, ports[1]) for one, ports in self.ports.items()})

    def _version(self, kind: str) -> int:
        return request_version(kind, Release.of(self.release.protocol))

    def _broker_epoch(self, broker: int) -> int:
        """The registration that a request names (KIP-380)."""
        names_it = self.release.since("2.2")
        return self.zk.registered().get(broker, -1) if names_it else NO_BROKER_EPOCH

    def close(self) -> None:
        """End the session."""
        self.zk.close()
