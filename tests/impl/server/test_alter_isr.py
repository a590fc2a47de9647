from __future__ import annotations

from collections.abc import Callable
from typing import Any

from impl.core.metadata_cache import MetadataCache
from impl.releases import Release
from impl.server.apis.api_request import no_throttle
from impl.server.broker_lock import BrokerLock
from impl.server.clients import Producer
from impl.server.cluster import Cluster
from impl.server.isr_requests import IsrRequests
from impl.server.listener import Listener
from impl.wire import Fields, decode_request, encode_response, error_code
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition, paths
from impl.znodes.client import ZnodeClient
from impl.zookeeper.port import wait
from tests.impl.server.conftest import Start
from tests.impl.server.test_cluster import registered, values
from tests.waiting import eventually

T0 = TopicPartition("t", 0)
STATE = LeaderIsrAndControllerEpoch(1, 4, (1,), 5, 6)


def test_since_2_7_leaders_ask_the_controller_for_smaller_and_larger_isrs(start: Start):
    cluster = start(
        2, "2.7", zookeeper_session_timeout_ms="20000", replica_lag_time_max_ms="600",
        auto_leader_rebalance_enable="false",
    )  # fmt: skip
    client = ZnodeClient(cluster.session(), cluster.release)
    wait(client.create_topic("t", {0: [1, 2]}))
    with Producer(cluster.addresses()) as producer:
        producer.send("t", [b"both"])
        follower = 2 if wait(client.controller()) == 1 else 1
        if registered(client).leader == follower:  # whoever leads must not be who is paused
            cluster.stop_one(follower)
            cluster.start()
            assert eventually(lambda: set(registered(client).isr) == {1, 2})
        cluster.pause(follower)
        late = Producer(cluster.addresses(), acks=1)
        late.send("t", [b"one alone"])
        leader = 3 - follower
        shrunk = eventually(lambda: registered(client).isr == (leader,))
        cluster.resume(follower)
        grown = eventually(lambda: registered(client).isr == (leader, follower))
        late.close()

    line = f"ISR updated from AlterIsr to {leader},{follower} and version updated to"
    assert shrunk
    assert grown
    assert eventually(lambda: tells(cluster, leader, line))
    assert wait(client.names(paths.ISR_CHANGES)) == []
    assert values(cluster, "t") == [b"both", b"one alone"]
    client.port.close()


def test_an_older_protocol_keeps_leaders_writing_to_zookeeper_in_2_7(start: Start):
    cluster = start(
        2, "2.7", zookeeper_session_timeout_ms="20000", replica_lag_time_max_ms="600",
        inter_broker_protocol_version="2.6", auto_leader_rebalance_enable="false",
    )  # fmt: skip
    client = ZnodeClient(cluster.session(), cluster.release)
    wait(client.create_topic("t", {0: [1, 2]}))
    with Producer(cluster.addresses(), acks=1) as producer:
        producer.send("t", [b"x"])
        assert eventually(lambda: set(registered(client).isr) == {1, 2})
        leader = registered(client).leader  # 2 if the controller had not yet heard of 1
        cluster.pause(3 - leader)
        producer.send("t", [b"y"])
        shrunk = eventually(lambda: registered(client).isr == (leader,))
        cluster.resume(3 - leader)

    line = f"ISR updated to [{leader}] and zkVersion updated to"
    assert shrunk
    assert eventually(lambda: tells(cluster, leader, line)), server_log(cluster, leader)
    assert cluster.release == Release.of("2.7")
    client.port.close()


def tells(cluster: Cluster, broker: int, line: str) -> bool:
    """A broker's log has a line; it comes after the write that it announces."""
    return line in server_log(cluster, broker)


def server_log(cluster: Cluster, broker: int) -> str:
    return (cluster.folder / "logs" / f"broker{broker}" / "server.log").read_text()


class Controller:
    """A controller that answers as the test says, one answer a request."""

    def __init__(self, *answers: Fields) -> None:
        self.answers = list(answers)
        self.asked: list[Any] = []
        self.meanwhile: Callable[[], None] = lambda: None
        self.listener = Listener(("127.0.0.1", 0), self.answer)
        self.listener.start()
        metadata = MetadataCache()
        metadata.controller = 7
        metadata.brokers = {7: self.listener.address}
        self.reported: list[str] = []
        self.requests = IsrRequests(1, BrokerLock(), metadata, lambda: 33,
                                    self.reported.append)  # fmt: skip
        self.requests.start()

    def answer(self, frame: bytes, _host: str) -> list[Any]:
        request = decode_request(frame)
        self.asked.append(request.body)
        meanwhile, self.meanwhile = self.meanwhile, lambda: None
        meanwhile()
        key, version, correlation, _ = request.header
        return encode_response(key, version, correlation, self.answers.pop(0))

    def close(self) -> None:
        self.requests.stop()
        self.requests.join(5)
        self.listener.close()
        assert not self.requests.is_alive()


def refused(error: str) -> Fields:
    return Fields(throttle_time=no_throttle(), error_code=error_code(error), topics=())


def yes(version: int) -> Fields:
    row = Fields(
        partition_index=0, error_code=error_code("NONE"), leader_id=1, leader_epoch=4, isr=(1,),
        partition_epoch=version,
    )  # fmt: skip
    topics = (Fields(topic_name="t", partitions=(row,)),)
    return Fields(throttle_time=no_throttle(), error_code=error_code("NONE"), topics=topics)


def test_a_request_that_is_refused_as_a_whole_is_sent_again():
    controller = Controller(refused("NOT_CONTROLLER"), refused("STALE_BROKER_EPOCH"), yes(7))
    answers: list[object] = []

    with controller.requests.news:
        controller.requests.submit(T0, STATE, lambda *reported: answers.append(reported[:2]))
    came = eventually(lambda: bool(answers), 5)
    controller.close()

    assert came
    assert answers == [("NONE", LeaderIsrAndControllerEpoch(1, 4, (1,), -1, 7))]
    assert [one.broker_epoch for one in controller.asked] == [33, 33, 33]
    assert [text.split(": ")[1].split(";")[0] for text in controller.reported] == [
        "NOT_CONTROLLER", "STALE_BROKER_EPOCH"
    ]  # fmt: skip


def test_an_answer_to_a_change_that_became_void_is_not_taken():
    controller = Controller(yes(7), yes(8))
    answers: list[object] = []

    def a_leader_and_isr_comes() -> None:
        with controller.requests.news:
            controller.requests.clear(T0)
            controller.requests.submit(T0, STATE, lambda *reported: answers.append("valid"))

    controller.meanwhile = a_leader_and_isr_comes
    with controller.requests.news:
        controller.requests.submit(T0, STATE, lambda *reported: answers.append("void"))
    came = eventually(lambda: bool(answers), 5)
    controller.close()

    assert came
    assert answers == ["valid"]
    assert len(controller.asked) == 2
