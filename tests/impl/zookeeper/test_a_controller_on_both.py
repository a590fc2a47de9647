"""A controller's whole tour, once on the embedded ZooKeeper and once on a real one.

Both leave the same texts in the same znodes, at the same versions, and send the same requests.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.vectors.implementation.stage import ControllerStage
from impl.core.cluster_context import Replica
from impl.core.controller_parts import ControllerConfig
from impl.core.event_controller import EventController
from impl.core.requests import Request
from impl.releases import Release
from impl.server.cluster import Cluster
from impl.znodes import TopicPartition, paths
from impl.zookeeper import Port
from impl.zookeeper.port import wait
from impl.zookeeper.real import RealSession
from tests.impl.zookeeper.real_server import real_zookeeper

T0, U0 = TopicPartition("t", 0), TopicPartition("u", 0)
Sent = list[tuple[int, Request]]
WATCHED = (paths.TOPICS, "/admin", "/config", paths.ISR_CHANGES, paths.CONTROLLER_EPOCH)


def texts(port: Port, path: str) -> dict[str, tuple[str, int]]:
    """Every znode from here on: its text and its version."""
    node = wait(port.get(path))
    found = {path: (node.data, node.version)}
    for name in wait(port.children(path)):
        found |= texts(port, f"{path}/{name}")
    return found


class Tour:
    """What a controller of 2.3 or 2.4 does, step by step."""

    def __init__(self, release: str, open_session: Callable[[], Port] | None) -> None:
        self.stage = ControllerStage(Release.of(release), open_session)
        for broker in (1, 2, 3):
            self.stage.start_broker(broker)
        self.config = ControllerConfig(delete_topics=True)
        self.controller: EventController = self.stage.controller(1, self.config)
        self.seen: list[tuple[dict[str, tuple[str, int]], Sent]] = []

    def look(self) -> None:
        """Handle what there is, and note what ZooKeeper holds and what was sent."""
        self.stage.run(self.controller)
        held: dict[str, tuple[str, int]] = {}
        for path in WATCHED:
            held |= texts(self.stage.admin.port, path)
        sent = [(to, replace(one, broker_epoch=0)) for to, one in self.stage.take_sent()]
        self.seen.append((held, sent))

    def go(self) -> None:
        """The tour."""
        stage = self.stage
        self.look()
        stage.create_topic("t", {0: (2, 3)})
        stage.create_topic("u", {0: (3, 1), 1: (1, 2)})
        self.look()
        stage.stop_broker(2)
        self.look()
        stage.start_broker(2)
        self.look()
        stage.leader_writes_isr(T0, (3, 2))
        wait(stage.admin.propagate_isr_changes([T0]))
        self.look()
        wait(stage.admin.request_preferred_election([T0]))
        self.look()
        text = '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1,2]}]}'
        wait(stage.admin.port.create(paths.REASSIGN_PARTITIONS, text))
        self.look()
        stage.leader_writes_isr(T0, (2, 3, 1))
        self.look()
        wait(stage.admin.request_deletion("u"))
        self.look()
        context = self.controller.core.context
        wait(
            self.controller.core.deletion.replicas_deleted(
                [Replica(one, broker) for one, broker in context.replicas_of("u") if broker != 1]
            )
        )
        stage.stop_broker(1)
        self.controller = stage.controller(3, self.config)
        self.look()


@pytest.mark.parametrize("release", ["2.3", "2.4"])
def test_a_controllers_tour_is_the_same_on_both(release: str, server: Cluster, tmp_path: Path):
    embedded = Tour(release, None)
    embedded.go()

    with real_zookeeper(tmp_path) as fresh:
        assert fresh.state.connect != server.state.connect
        real = Tour(release, lambda: RealSession(fresh.state.connect))
        real.go()
        for session in real.stage.sessions.values():
            session.close()
        real.stage.admin.port.close()

    for number, (mine, theirs) in enumerate(zip(embedded.seen, real.seen, strict=True)):
        assert mine[0] == theirs[0], f"step {number}"
        assert mine[1] == theirs[1], f"step {number}"
    state = embedded.stage.state(T0)
    assert state is not None
    assert state.leader == 2
    assert embedded.controller.core.context.epoch == 2
