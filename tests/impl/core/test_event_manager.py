"""Controller events: one that fails takes no other with it, and a failed failover is given up."""

from __future__ import annotations

from impl.core.channels import Channels
from impl.core.event_controller import EventController
from impl.core.event_manager import ControllerEventManager
from impl.core.requests import LeaderAndIsr, Request, StopReplica
from impl.releases import Release
from impl.znodes import BrokerInfo, TopicPartition, encode_reassignment, paths
from impl.znodes.client import ZnodeClient
from impl.zookeeper import EmbeddedSession, ZooKeeper, wait

R23 = Release.of("2.3")
A0, B0 = TopicPartition("a", 0), TopicPartition("b", 0)


class BrokerWithQueue:
    """Broker 1 with its session, its controller and the queue of its events."""

    def __init__(self, zookeeper: ZooKeeper | None = None) -> None:
        self.zookeeper = zookeeper or ZooKeeper()
        self.session = EmbeddedSession(self.zookeeper)
        self.admin = ZnodeClient(EmbeddedSession(self.zookeeper), R23)
        for path in paths.persistent(R23):
            wait(self.admin.make_path(path))
        client = ZnodeClient(self.session, R23)
        wait(client.register_broker(1, BrokerInfo(("PLAINTEXT://b1:9092",), 0)))
        self.sent: list[Request] = []
        self.failed: list[tuple[str, str]] = []
        self.events = ControllerEventManager(
            EventController(1, self.session, R23, self.send),
            Channels[Request](),
            lambda name, error: self.failed.append((name, str(error))),
        )

    async def send(self, requests: object) -> None:
        """Nobody is there to be sent anything."""

    def elected(self) -> BrokerWithQueue:
        self.events.put("Startup", lambda controller: controller.elect(0))
        self.handle()
        return self

    def handle(self) -> None:
        """All notifications that came, each an event of its own, and all else that waits."""
        for event in self.session.events():
            self.events.notified(event, 0)
        while self.events.waiting:
            wait(self.events.handle_next())


def test_an_event_that_fails_does_not_take_the_others_with_it() -> None:
    broker = BrokerWithQueue().elected()
    wait(broker.admin.create_topic("a", {0: (1,)}))
    broker.handle()

    async def fails(controller: EventController) -> None:
        raise ValueError("unexpected")

    wait(broker.admin.create_topic("b", {0: (1,)}))
    broker.events.put("TopicChange", fails)
    broker.handle()

    assert broker.failed == [("TopicChange", "unexpected")]
    assert wait(broker.admin.state(B0)) is not None


def test_a_topic_that_goes_while_it_is_to_move_does_not_silence_the_controller() -> None:
    """A request to move a topic whose znodes are gone, then two other topics."""
    broker = BrokerWithQueue().elected()
    wait(broker.admin.create_topic("a", {0: (1,)}))
    broker.handle()

    wait(broker.admin.port.create(paths.REASSIGN_PARTITIONS, encode_reassignment({A0: (1, 2)})))
    for path in sorted(broker.zookeeper.nodes, reverse=True):
        if path.startswith(paths.topic("a")):
            wait(broker.admin.port.delete(path))
    wait(broker.admin.create_topic("b", {0: (1,)}))
    broker.handle()
    wait(broker.admin.create_topic("c", {0: (1,)}))
    broker.handle()

    assert wait(broker.admin.state(B0)) is not None
    assert wait(broker.admin.state(TopicPartition("c", 0))) is not None


def test_a_failover_that_fails_lets_another_broker_be_controller() -> None:
    broker = BrokerWithQueue()
    wait(broker.admin.port.create(f"{paths.BROKER_IDS}/one", "{}"))

    broker.events.put("Startup", lambda controller: controller.elect(0))
    wait(broker.events.handle_next())

    controller = broker.events.controller
    assert not controller.active
    assert paths.CONTROLLER not in broker.zookeeper.nodes
    assert not broker.failed

    wait(broker.admin.port.delete(f"{paths.BROKER_IDS}/one"))
    broker.handle()  # the notification that /controller is gone: it tries again

    assert controller.active


def test_only_the_answers_that_a_controller_minds_are_events() -> None:
    broker = BrokerWithQueue()
    quiet = StopReplica(0, 1, 1, -1, {})
    for request in (quiet, LeaderAndIsr(0, 1, 1, -1, {}, ())):
        broker.events.answered(1, request, "NONE", {})

    assert [event.name for event in broker.events.waiting] == ["LeaderAndIsrResponseReceived"]
