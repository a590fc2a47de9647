"""librdkafka, kafka-python, aiokafka and kcat send to our brokers, and read what was sent."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from impl.server.cluster import Cluster
from tests.waiting import PATIENCE_S

confluent = pytest.importorskip("confluent_kafka", reason="confluent-kafka is not installed")
confluent_admin = pytest.importorskip(
    "confluent_kafka.admin", reason="confluent-kafka is not installed"
)
kafka = pytest.importorskip("kafka", reason="kafka-python is not installed")
aiokafka = pytest.importorskip("aiokafka", reason="aiokafka is not installed")
kcat = pytest.mark.skipif(shutil.which("kcat") is None, reason="kcat is not installed")

MANY = [b"%d" % number for number in range(120)]
QUIET = {"log_level": 0, "message.timeout.ms": 20000}


def send_librdkafka(servers: str, topic: str, acks: str, idempotent: bool = False) -> None:
    failed: list[Any] = []

    def reported(error: Any, record: Any) -> None:
        if error is not None:
            failed.append(error)

    settings = {"bootstrap.servers": servers, "acks": acks, **QUIET}
    producer = confluent.Producer(settings | {"enable.idempotence": idempotent})
    for value in MANY:
        producer.produce(topic, value, on_delivery=reported)
    assert producer.flush(20) == 0
    assert failed == []


def read_librdkafka(servers: str, topic: str, count: int) -> list[bytes]:
    settings = {"bootstrap.servers": servers, "group.id": topic, "auto.offset.reset": "earliest",
                "enable.auto.commit": False, "log_level": 0}  # fmt: skip
    consumer = confluent.Consumer(settings)
    consumer.subscribe([topic])
    found: list[bytes] = []
    deadline = time.monotonic() + PATIENCE_S
    while len(found) < count and time.monotonic() < deadline:
        found += [one.value() for one in consumer.consume(100, 0.5) if one.error() is None]
    consumer.commit(asynchronous=False)
    consumer.close()
    return sorted(found, key=int)


def send_kafka_python(servers: str, topic: str, acks: str, idempotent: bool = False) -> None:
    producer = kafka.KafkaProducer(
        bootstrap_servers=servers.split(","), acks=acks if acks == "all" else int(acks),
        enable_idempotence=idempotent,
    )  # fmt: skip
    for sent in [producer.send(topic, value) for value in MANY]:
        sent.get(PATIENCE_S)
    producer.close()


def read_kafka_python(servers: str, topic: str, count: int) -> list[bytes]:
    consumer = kafka.KafkaConsumer(
        topic, bootstrap_servers=servers.split(","), auto_offset_reset="earliest", group_id=topic,
        enable_auto_commit=False,
    )  # fmt: skip
    found: list[bytes] = []
    deadline = time.monotonic() + PATIENCE_S
    while len(found) < count and time.monotonic() < deadline:
        for records in consumer.poll(500).values():
            found += [record.value for record in records]
    consumer.commit()
    consumer.close()
    return sorted(found, key=int)


def send_aiokafka(servers: str, topic: str, acks: str, idempotent: bool = False) -> None:
    async def send() -> None:
        producer = aiokafka.AIOKafkaProducer(
            bootstrap_servers=servers, acks=acks if acks == "all" else int(acks),
            enable_idempotence=idempotent,
        )  # fmt: skip
        await producer.start()
        try:
            for sent in [await producer.send(topic, value) for value in MANY]:
                await sent
        finally:
            await producer.stop()

    asyncio.run(asyncio.wait_for(send(), 40))


def read_aiokafka(servers: str, topic: str, count: int) -> list[bytes]:
    async def read() -> list[bytes]:
        consumer = aiokafka.AIOKafkaConsumer(
            topic, bootstrap_servers=servers, auto_offset_reset="earliest", group_id=topic,
            enable_auto_commit=False,
        )  # fmt: skip
        await consumer.start()
        try:
            found = [(await consumer.getone()).value for _ in range(count)]
            await consumer.commit()
            return found
        finally:
            await consumer.stop()

    return sorted(asyncio.run(asyncio.wait_for(read(), 40)), key=int)


def send_kcat(servers: str, topic: str, acks: str, idempotent: bool = False) -> None:
    command = ["kcat", "-P", "-b", servers, "-t", topic, "-X", f"acks={acks}"]
    if idempotent:
        command += ["-X", "enable.idempotence=true"]
    subprocess.run(command, input=b"\n".join(MANY), check=True, timeout=PATIENCE_S)


def read_kcat(servers: str, topic: str, count: int) -> list[bytes]:
    command = ["kcat", "-C", "-b", servers, "-t", topic, "-o", "beginning", "-c", str(count), "-q"]
    result = subprocess.run(command, capture_output=True, check=True, timeout=PATIENCE_S)
    return sorted(result.stdout.split(), key=int)


SENDERS: dict[str, Callable[..., None]] = {
    "librdkafka": send_librdkafka, "kafka-python": send_kafka_python, "aiokafka": send_aiokafka,
}  # fmt: skip
READERS: dict[str, Callable[..., list[bytes]]] = {
    "librdkafka": read_librdkafka, "kafka-python": read_kafka_python, "aiokafka": read_aiokafka,
}  # fmt: skip


@pytest.mark.parametrize("name", SENDERS)
@pytest.mark.parametrize("acks", ["0", "1", "all", "idempotent"])
def test_what_a_client_sends_is_there_once(name: str, acks: str, servers: str, topic: str):
    SENDERS[name](servers, topic, "all" if acks == "idempotent" else acks, acks == "idempotent")

    assert read_librdkafka(servers, topic, len(MANY)) == MANY


@pytest.mark.parametrize("name", READERS)
def test_a_client_reads_as_member_of_a_group_what_another_one_sent(
    name: str, servers: str, topic: str
):
    send_librdkafka(servers, topic, "all")

    assert READERS[name](servers, topic, len(MANY)) == MANY


@kcat
@pytest.mark.parametrize("acks", ["0", "1", "all", "idempotent"])
def test_kcat_sends_and_reads(acks: str, servers: str, topic: str):
    send_kcat(servers, topic, "all" if acks == "idempotent" else acks, acks == "idempotent")

    assert read_kcat(servers, topic, len(MANY)) == MANY


def test_a_group_shares_its_partitions_and_goes_on_where_it_was(servers: str, topic: str):
    send_librdkafka(servers, topic, "all")
    settings = {"bootstrap.servers": servers, "group.id": topic, "auto.offset.reset": "earliest",
                "session.timeout.ms": 6000, "heartbeat.interval.ms": 300,
                "log_level": 0}  # fmt: skip
    members: list[Any] = []
    found: list[bytes] = []

    def shares() -> list[int]:
        return [len(member.assignment()) for member in members]

    def join() -> None:
        members.append(confluent.Consumer(settings))
        members[-1].subscribe([topic])

    def read_until(done: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not done() and time.monotonic() < deadline:
            for member in members:
                one = member.poll(0.05)
                if one is not None and one.error() is None:
                    found.append(one.value())

    join()
    read_until(lambda: len(found) == len(MANY))
    alone = shares()
    join()
    read_until(lambda: shares() == [1, 1])
    both = shares()
    members.pop(0).close()
    read_until(lambda: shares() == [2])
    left = shares()
    members[0].close()

    assert (alone, both, left) == ([2], [1, 1], [2])
    assert sorted(found, key=int) == MANY  # nothing was read again: the offsets were committed


def test_a_client_finds_the_first_record_of_a_time(servers: str, topic: str):
    producer = confluent.Producer({"bootstrap.servers": servers, **QUIET})
    for number in range(10):
        producer.produce(topic, b"%d" % number, partition=0, timestamp=1_600_000_000_000 + number)
    assert producer.flush(20) == 0
    consumer = kafka.KafkaConsumer(bootstrap_servers=servers.split(","))
    partition = kafka.TopicPartition(topic, 0)
    wanted = {partition: 1_600_000_000_004}
    found = consumer.offsets_for_times(wanted)[partition]
    ends = consumer.beginning_offsets([partition]), consumer.end_offsets([partition])
    consumer.close()

    assert (found.offset, found.timestamp) == (4, 1_600_000_000_004)
    assert ends == ({partition: 0}, {partition: 10})


def test_nothing_acknowledged_is_lost_when_a_leader_is_killed_while_clients_send(
    cluster: Cluster, servers: str, topic: str
):
    admin = confluent_admin.AdminClient({"bootstrap.servers": servers, "log_level": 0})
    made = confluent_admin.NewTopic(topic, 1, 3, config={"min.insync.replicas": "2"})
    admin.create_topics([made])[topic].result(15)
    acknowledged: list[bytes] = []

    def reported(error: Any, record: Any) -> None:
        if error is None:
            acknowledged.append(record.value())

    producer = confluent.Producer(
        {"bootstrap.servers": servers, "acks": "all", "enable.idempotence": True, **QUIET}
    )
    for number in range(600):
        producer.produce(topic, b"%d" % number, on_delivery=reported)
        producer.poll(0)
        if number == 200:
            producer.flush(PATIENCE_S)
            leader = admin.list_topics(topic, 10).topics[topic].partitions[0].leader
            cluster.kill(leader)
        time.sleep(0.002)
    unsent = producer.flush(PATIENCE_S)
    cluster.start()  # a group's first offset needs three brokers
    found = read_kafka_python(servers, topic, 600)

    assert unsent == 0
    assert len(acknowledged) == 600
    assert found == [b"%d" % number for number in range(600)]


def test_a_transaction_is_refused_with_the_reason(servers: str):
    producer = confluent.Producer(
        {"bootstrap.servers": servers, "transactional.id": "t", "log_level": 0}
    )

    with pytest.raises(confluent.KafkaException) as refused:
        producer.init_transactions(20)

    error = refused.value.args[0]
    assert error.name() == "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"
    assert "There are no transactions here; a producer may be idempotent." in error.str()


def test_what_the_guide_shows_works(servers: str, capsys: pytest.CaptureFixture[str]):
    guide = Path(__file__).parents[2] / "docs" / "guide.md"
    section = guide.read_text(encoding="utf-8").partition("### Bring your own client")[2]
    code = section.partition("```python\n")[2].partition("```")[0]
    exec(compile(code, str(guide), "exec"), {"servers": servers})

    assert capsys.readouterr().out == "b'hello'\n"


def test_what_a_group_has_committed_outlives_its_coordinator(
    cluster: Cluster, servers: str, topic: str
):
    send_librdkafka(servers, topic, "all")
    read_librdkafka(servers, topic, len(MANY))
    member = confluent.Consumer({"bootstrap.servers": servers, "group.id": topic, "log_level": 0})
    partitions = [confluent.TopicPartition(topic, number) for number in (0, 1)]
    before = [one.offset for one in member.committed(partitions, 15)]
    admin = confluent_admin.AdminClient({"bootstrap.servers": servers, "log_level": 0})
    group = admin.describe_consumer_groups([topic])[topic].result(15)
    cluster.kill(group.coordinator.id)
    after = [one.offset for one in member.committed(partitions, 25)]
    member.close()
    cluster.start()

    assert sum(max(one, 0) for one in before) == len(MANY)
    assert after == before
