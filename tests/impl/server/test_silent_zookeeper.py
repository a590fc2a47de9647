"""What a broker does while ZooKeeper is silent, and what a controller that cannot begin does."""

from __future__ import annotations

from impl.server.clients import Producer
from impl.znodes import TopicPartition, paths
from impl.znodes.client import ZnodeClient
from impl.zookeeper.port import wait
from tests.impl.server.conftest import Start
from tests.impl.server.test_cluster import registered
from tests.waiting import PATIENCE_S, eventually

T0 = TopicPartition("t", 0)


def test_leaders_serve_on_while_zookeeper_is_silent_but_where_an_isr_is_written(start: Start):
    cluster = start(2, zookeeper_session_timeout_ms="20000", replica_lag_time_max_ms="600")
    client = ZnodeClient(cluster.session(), cluster.release)
    wait(client.create_topic("t", {0: [1, 2]}))
    wait(client.create_topic("u", {0: [1]}))
    log = cluster.folder / "logs" / "broker1" / "server.log"
    with Producer(cluster.addresses(), acks=1, timeout_s=PATIENCE_S) as producer:
        producer.send("t", [b"x"])
        producer.send("u", [b"x"])
        cluster.pause("zookeeper")
        cluster.pause(2)
        producer.send("t", [b"y"])
        shrinking = eventually(lambda: "Shrinking ISR from 1,2 to 1" in log.read_text())
        (sent,) = producer.send("u", [b"y"])  # and its metadata are asked for anew below
        with Producer(cluster.addresses()[:1], acks=-1, timeout_s=PATIENCE_S) as another:
            another.send("u", [b"z"])
        unheard = "ISR updated to [1]" not in log.read_text()
        cluster.resume("zookeeper")
        shrunk = eventually(lambda: registered(client).isr == (1,))
        cluster.resume(2)

    assert shrinking
    assert unheard
    assert sent.offset == 1
    assert shrunk
    client.port.close()


def test_a_broker_id_that_is_no_number_keeps_nobody_as_a_dead_controller(start: Start):
    cluster = start(1)
    client = ZnodeClient(cluster.session(), cluster.release)
    wait(client.port.create(f"{paths.BROKER_IDS}/one", "{}"))
    wait(client.port.delete(paths.CONTROLLER))
    log = cluster.folder / "logs" / "broker1" / "controller.log"
    said = "Error while electing or becoming controller on broker 1"

    tried = eventually(lambda: said in log.read_text())
    wait(client.port.delete(f"{paths.BROKER_IDS}/one"))
    wait(client.create_topic("t", {0: [1]}))
    led = eventually(lambda: wait(client.state(T0)) is not None)

    assert tried
    assert led
    client.port.close()
