from __future__ import annotations

import re
from pathlib import Path

import pytest

from impl.releases import Release
from impl.server.admin_client import AdminClient
from impl.server.clients import Producer
from impl.server.log4j_files import Log4jFiles
from impl.znodes.client import ZnodeClient
from impl.zookeeper.port import wait
from tests.impl.server.conftest import Start
from tests.impl.server.test_cluster import values
from tests.waiting import eventually


def test_requests_carry_the_client_ids_of_kafkas_request_logs(start: Start):
    cluster = start(2, request_log=True)
    client = ZnodeClient(cluster.session(), cluster.release)
    wait(client.create_topic("t", {0: [1, 2]}))
    with Producer(cluster.addresses()) as producer:
        producer.send("t", [b"x"])
    with AdminClient(cluster.addresses()) as admin:
        admin.elect_leaders("PREFERRED", None)
    controller = wait(client.controller())
    read = values(cluster, "t")
    client.port.close()

    def heard() -> dict[int, set[tuple[str, str]]]:
        found = {}
        for broker in (1, 2):
            path = cluster.folder / "logs" / f"broker{broker}" / "kafka-request.log"
            pattern = r"apiKey=(\w+), (?:apiVersion=\d+, )?clientId=([\w-]*), correlationId=\d+"
            found[broker] = set(re.findall(pattern, path.read_text()))
        return found

    fetched = eventually(lambda: ("FETCH", "broker-2-fetcher-0") in heard()[1])
    reported = heard()

    assert read == [b"x"]
    assert fetched
    assert {
        ("LEADER_AND_ISR", str(controller)), ("UPDATE_METADATA", str(controller)),
        ("PRODUCE", "console-producer"), ("FETCH", "console-consumer"),
    } <= reported[1]  # fmt: skip
    assert {("UPDATE_METADATA", str(controller))} <= reported[2]
    assert ("ELECT_LEADERS", "adminclient-1") in reported[controller or 0]


@pytest.mark.parametrize(
    ("release", "said"),
    [
        ("0.10.1", ["/brokers/ids/3 (is it secure? false) (kafka.utils.ZKCheckedEphemeral)",
                    "PLAINTEXT -> EndPoint(h,9,PLAINTEXT) (kafka.utils.ZkUtils)",
                    "zookeeper state changed (Expired) (org.I0Itec.zkclient.ZkClient)"]),
        ("0.11", ["(kafka.utils.ZKCheckedEphemeral)",
                  ": EndPoint(h,9,ListenerName(PLAINTEXT),PLAINTEXT) (kafka.utils.ZkUtils)",
                  "(org.I0Itec.zkclient.ZkClient)"]),
        ("1.1", ["(kafka.zk.KafkaZkClient)",
                 "ArrayBuffer(EndPoint(h,9,ListenerName(PLAINTEXT),PLAINTEXT)) "
                 "(kafka.zk.KafkaZkClient)",
                 "[ZooKeeperClient] Session expired. (kafka.zookeeper.ZooKeeperClient)"]),
        ("2.3", ["(kafka.zk.KafkaZkClient)",
                 "czxid (broker epoch): 7 (kafka.zk.KafkaZkClient)",
                 "[ZooKeeperClient Kafka server] Session expired. "
                 "(kafka.zookeeper.ZooKeeperClient)"]),
    ],
)  # fmt: skip
def test_what_a_broker_says_of_zookeeper_is_said_by_the_classes_of_its_release(
    release: str, said: list[str], tmp_path: Path
):
    files = Log4jFiles(tmp_path, 3, Release.of(release), lambda: 0)

    files.broker_registering()
    files.broker_registered("h", 9, 7)
    files.session_expired()
    files.close()

    lines = (tmp_path / "server.log").read_text().splitlines()
    assert [line[-len(end) :] for line, end in zip(lines, said, strict=True)] == said


def test_headers_are_written_as_the_release_writes_them(tmp_path: Path):
    head = {"api": "LeaderAndIsr", "version": 1, "client_id": "3", "correlation": 7, "more": []}
    for release in ("0.11", "1.1"):
        files = Log4jFiles(tmp_path / release, 1, Release.of(release))
        files.request(head)
        files.close()

    written = [(tmp_path / release / "kafka-request.log").read_text().split("] ", 1)[1]
               for release in ("0.11", "1.1")]  # fmt: skip
    assert written == [
        "TRACE Processor 0 received request : {api_key=LEADER_AND_ISR,api_version=1,client_id=3,"
        "correlation_id=7} (kafka.request.logger)\n",
        "TRACE Processor 0 received request: RequestHeader(apiKey=LEADER_AND_ISR, apiVersion=1, "
        "clientId=3, correlationId=7) (kafka.request.logger)\n",
    ]
