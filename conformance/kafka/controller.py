"""The lab as controller: it holds /controller, writes states, and sends requests.

In a run of the model its controller takes given steps, but Kafka's own decides for itself. So the
lab takes the controller's place: it registers before any broker does, under an id that no broker
has, writes a controller's znodes, conditionally as it does, and sends LeaderAndIsr, UpdateMetadata
and StopReplica in the version that the release's controller would. Only the brokers are under test.
Source: ZkController paths, `KafkaController`, `ControllerChannelManager`.
"""

from __future__ import annotations

import json
from typing import Any

from conformance.kafka import requests, zookeeper_client
from conformance.kafka.lab import LOOPBACK, Lab
from conformance.kafka.releases import KafkaRelease
from conformance.kafka.requests import PartitionStateNode, RequestSender

LAB = 1000
"""The broker id under which the lab is controller."""

PERSISTENT = ("/brokers", "/brokers/ids", "/brokers/topics", "/config", "/config/topics", "/admin")


class LabController:
    """A session with ZooKeeper, and the ports of brokers (id -> own port, port of its proxy).

    ``hosts``: ZooKeeper itself, past the proxies.
    """

    def __init__(
        self, release: KafkaRelease, hosts: str, ports: dict[int, tuple[int, int]], topic: str
    ) -> None:
        self.release, self.ports, self.topic = release, ports, topic
        self.hosts = hosts
        self.replicas: tuple[int, ...] = ()
        self.epoch = 0
        self.zk = zookeeper_client.connect(hosts, 60.0)

    @classmethod
    def of(cls, lab: Lab, topic: str) -> LabController:
        """The controller for the ports of a lab, whose ZooKeeper runs."""
        ports = {one: (at[0], at[1]) for one, at in lab.state.ports.items()}
        return cls(lab.release, f"{LOOPBACK}:{lab.state.zookeeper}", ports, topic)

    # Znodes

    def become_controller(self) -> int:
        """Becomes controller in the next controller epoch, which is returned."""
        self.epoch += 1
        text = str(self.epoch).encode()
        if self.zk.exists("/controller_epoch"):
            self.zk.set("/controller_epoch", text)
        else:
            self.zk.create("/controller_epoch", text)
        value = {"version": 1, "brokerid": LAB, "timestamp": "0"}
        if self.zk.exists("/controller"):
            self.zk.set("/controller", json.dumps(value).encode())
        else:
            self.zk.create("/controller", json.dumps(value).encode(), ephemeral=True)
        return self.epoch

    def register_as_controller(self) -> None:
        """Registers without an epoch, so that no broker becomes controller."""
        value = {"version": 1, "brokerid": LAB, "timestamp": "0"}
        self.zk.create("/controller", json.dumps(value).encode(), ephemeral=True)
        self.zk.create("/controller_epoch", b"0")
        for path in PERSISTENT:
            self.zk.ensure_path(path)

    def create_topic(self, replicas: tuple[int, ...], state: PartitionStateNode) -> None:
        """Creates the topic's znodes, with a state of version 0."""
        self.replicas = replicas
        assignment = {"version": 1, "partitions": {"0": list(replicas)}}
        self.zk.create(f"/config/topics/{self.topic}", b'{"version":1,"config":{}}')
        self.zk.create(f"/brokers/topics/{self.topic}", json.dumps(assignment).encode())
        self.zk.create(self.state_path, _state_text(state), makepath=True)

    @property
    def state_path(self) -> str:
        """The znode of the partition's state."""
        return f"/brokers/topics/{self.topic}/partitions/0/state"

    def read(self) -> PartitionStateNode:
        """The state as it is registered."""
        data, stat = self.zk.get(self.state_path)
        fields = json.loads(data)
        return PartitionStateNode(
            fields["leader"], fields["leader_epoch"], tuple(fields["isr"]),
            fields["controller_epoch"], stat.version,
        )  # fmt: skip

    def write(self, state: PartitionStateNode, expected: int) -> bool:
        """Writes the state if its version is the expected one; returns whether it was."""
        from kazoo.exceptions import BadVersionError  # type: ignore[import-untyped]

        try:
            self.zk.set(self.state_path, _state_text(state), version=expected)
        except BadVersionError:
            return False
        return True

    def registered(self) -> dict[int, int]:
        """Broker id -> its broker epoch (the czxid of its znode)."""
        found = {}
        for name in self.zk.get_children("/brokers/ids"):
            stat = self.zk.exists(f"/brokers/ids/{name}")
            if stat is not None:
                found[int(name)] = stat.czxid
        return dict(sorted(found.items()))

    def expire(self, session: tuple[int, bytes]) -> None:
        """End another's session, as if it had expired."""
        zookeeper_client.expire(self.hosts, session)

    # Requests

    def sender(self, epoch: int) -> RequestSender:
        """The sender fields of a request from the lab as controller of an epoch."""
        return RequestSender(LAB, epoch, self.topic, self.replicas)

    def inform(self, broker: int, epoch: int, state: PartitionStateNode) -> int:
        """Send a broker LeaderAndIsr, as the controller of an epoch; the error code."""
        leader_port = self.ports[state.leader][1] if state.leader in self.ports else 0
        return requests.leader_and_isr(
            self.release, self.ports[broker][0], self.sender(epoch), state,
            self._broker_epoch(broker), leader_port,
        )  # fmt: skip

    def announce(self, broker: int, state: PartitionStateNode) -> int:
        """Sends a broker UpdateMetadata with every broker's address; the error code.

        A follower must know its leader's address; so every broker of the lab is named, as live.
        """
        live = {one: ports[1] for one, ports in self.ports.items()}
        return requests.update_metadata(
            self.release, self.ports[broker][0], self.sender(self.epoch), state,
            self._broker_epoch(broker), live,
        )  # fmt: skip

    def stop_replica(self, broker: int, epoch: int, leader_epoch: int, delete: bool) -> int:
        """Send a broker StopReplica; the error code."""
        return requests.stop_replica(
            self.release, self.ports[broker][0], self.sender(epoch), leader_epoch,
            self._broker_epoch(broker), delete,
        )  # fmt: skip

    def _broker_epoch(self, broker: int) -> int:
        return self.registered().get(broker, -1) if self.release.has_broker_epochs else -1

    def close(self) -> None:
        """End the session."""
        zookeeper_client.disconnect(self.zk)


def _state_text(state: PartitionStateNode) -> bytes:
    fields: dict[str, Any] = {
        "controller_epoch": state.controller_epoch, "leader": state.leader, "version": 1,
        "leader_epoch": state.leader_epoch, "isr": list(state.isr),
    }  # fmt: skip
    return json.dumps(fields, separators=(",", ":")).encode()
