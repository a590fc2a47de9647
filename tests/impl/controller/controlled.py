"""A cluster with a controller, as the tests of controllers build it, and what they do with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from conformance.vectors.implementation.stage import ControllerStage
from impl.core.controller_parts import ControllerConfig
from impl.core.journal import ControllerJournal
from impl.releases import Release
from impl.znodes import (
    LeaderIsrAndControllerEpoch,
    ReplicaAssignment,
    TopicPartition,
    encode_reassignment,
    encode_state,
    paths,
)
from impl.zookeeper.port import wait

T0, T1, T2 = (TopicPartition("t", number) for number in range(3))


class ControlledCluster(ControllerStage):
    """Brokers with a controller on the first of them, which has handled and sent everything.

    ``placed``: the replicas of each partition of a topic ``t``; without any there is no topic.
    """

    def __init__(
        self,
        release: str = "2.3",
        *placed: tuple[int, ...],
        brokers: Sequence[int] = (1, 2, 3),
        config: ControllerConfig | None = None,
        journal: ControllerJournal | None = None,
        protocol: Release | None = None,
    ) -> None:
        super().__init__(Release.of(release))
        for broker in brokers:
            self.start_broker(broker)
        self.elected = self.controller(brokers[0], config, journal, protocol)
        if placed:
            self.create_topic("t", dict(enumerate(placed)))
        self.handle()
        self.placing = self.take_sent()

    def handle(self) -> None:
        """The controller handles every event."""
        self.run(self.elected)

    def write_request(
        self, targets: Mapping[TopicPartition, Sequence[int]], over: bool = False
    ) -> None:
        """A reassignment is asked for, over another request or without one; nobody has noticed."""
        port, text = self.admin.port, encode_reassignment(targets)
        if over:
            wait(port.set_data(paths.REASSIGN_PARTITIONS, text))
        else:
            wait(port.create(paths.REASSIGN_PARTITIONS, text))

    def ask(self, targets: Mapping[TopicPartition, Sequence[int]], over: bool = False) -> None:
        """A reassignment is asked for, and the controller hears of it."""
        self.write_request(targets, over)
        self.handle()

    def isr(self, partition: TopicPartition, *members: int) -> None:
        """The leader writes its ISR, and the controller hears of it."""
        self.leader_writes_isr(partition, members)
        self.handle()

    def registered(self, partition: TopicPartition = T0) -> LeaderIsrAndControllerEpoch:
        """The state of a partition that has one."""
        state = self.state(partition)
        assert state is not None
        return state

    def write_state(self, partition: TopicPartition, controller_epoch: int) -> None:
        """Another controller writes the state as it is."""
        state = replace(self.registered(partition), controller_epoch=controller_epoch)
        wait(self.admin.port.set_data(paths.state(*partition), encode_state(state)))

    def assigned(self, topic: str = "t") -> Mapping[int, ReplicaAssignment]:
        """The partitions of a topic that there is."""
        info = wait(self.admin.topic(topic))
        assert info is not None
        return info.partitions

    def replicas(self, partition: TopicPartition) -> tuple[int, ...]:
        """The replicas of a partition."""
        return self.assigned(partition.topic)[partition.partition].replicas
