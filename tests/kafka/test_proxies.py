"""Proxies before a server that is none of Kafka's: what a gate holds, loses, repeats, lets go."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator
from itertools import count

import pytest

from conformance.kafka.messages import ANSWER, REQUEST, KafkaReader, Message, ZooKeeperReader
from conformance.kafka.proxy import MessageGate, Proxy
from conformance.kafka.schedule import MessageFilter, MessageRule, ReleaseMessage, parse_line
from impl.wire import Fields, Header, api_key, encode_request

PATIENCE_S = 5.0


def fetch(correlation: int = 1, offset: int = 7, replica: int = 2) -> bytes:
    part = Fields(partition=0, fetch_offset=offset, partition_max_bytes=1)
    body = Fields(
        replica_id=replica, max_wait=0, max_wait_ms=0, min_bytes=0,
        topics=(Fields(topic="t", partitions=(part,)),),
    )  # fmt: skip
    import datetime

    body.max_wait = body.max_wait_ms = datetime.timedelta(0)
    return encode_request(Header(api_key("Fetch"), 0, correlation, "broker-2-fetcher-0"), body)


@pytest.fixture
def echo() -> Iterator[int]:
    """A server that answers each frame with its correlation id, and how many it had before."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                one, _ = server.accept()
                threading.Thread(target=answer, args=(one,), daemon=True).start()

    def answer(one: socket.socket) -> None:
        seen = 0
        with contextlib.suppress(OSError), one:
            while len(size := one.recv(4, socket.MSG_WAITALL)) == 4:
                frame = one.recv(struct.unpack(">i", size)[0], socket.MSG_WAITALL)
                one.sendall(struct.pack(">i", 8) + frame[4:8] + struct.pack(">i", seen))
                seen += 1

    threading.Thread(target=serve, daemon=True).start()
    yield server.getsockname()[1]
    server.close()


class ProxyStage:
    def __init__(self, port: int) -> None:
        self.heard: list[str] = []
        self.gate = MessageGate(
            lambda what, message: self.heard.append(f"{what} {message.in_words()}")
        )
        self.proxy = Proxy(0, port, self.gate, lambda number: KafkaReader("1", number), count(1))

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.proxy.port), timeout=PATIENCE_S)

    def close(self) -> None:
        self.gate.close()
        self.proxy.close()


@pytest.fixture
def stage(echo: int) -> Iterator[ProxyStage]:
    found = ProxyStage(echo)
    yield found
    found.close()


def answered(connection: socket.socket) -> int:
    return int(struct.unpack(">iii", connection.recv(12, socket.MSG_WAITALL))[1])


def test_a_message_passes_and_is_heard_with_who_says_what_to_whom(stage: ProxyStage) -> None:
    with stage.connect() as connection:
        connection.sendall(fetch(correlation=3))
        assert answered(connection) == 3

    assert stage.heard[0] == "passed Fetch request 2 -> 1 (t-0 at 7)"
    assert stage.heard[1].startswith("passed Fetch answer 1 -> 2")


def test_what_is_held_waits_with_all_that_is_behind_it_until_it_is_released(
    stage: ProxyStage,
) -> None:
    rule = parse_line(["hold", "Fetch", "from", "2", "to", "1", "nth", "1"])
    assert isinstance(rule, MessageRule)
    stage.gate.apply(rule)
    with stage.connect() as connection:
        connection.sendall(fetch(1) + fetch(2))
        held = stage.gate.await_held(MessageFilter("Fetch", REQUEST, "2"), PATIENCE_S)
        assert held is not None
        assert [one.correlation for one in stage.gate.all_held()] == [1]
        line = parse_line(["release", "Fetch", "from", "2"])
        assert not isinstance(line, MessageRule)
        stage.gate.apply(line)  # type: ignore[arg-type]
        assert [answered(connection), answered(connection)] == [1, 2]


def test_an_answer_is_held_on_its_way_back(stage: ProxyStage) -> None:
    stage.gate.add(MessageRule("hold", MessageFilter("Fetch", ANSWER)))
    with stage.connect() as connection:
        connection.sendall(fetch(1))
        held = stage.gate.await_held(MessageFilter("Fetch", ANSWER), PATIENCE_S)
        assert held is not None
        connection.settimeout(0.2)
        with pytest.raises(TimeoutError):
            connection.recv(1)
        connection.settimeout(PATIENCE_S)
        stage.gate.settle(held, "pass")
        assert answered(connection) == 1


def test_what_is_dropped_takes_its_connection_with_it(stage: ProxyStage) -> None:
    stage.gate.add(MessageRule("drop", MessageFilter("Fetch"), nth=2))
    with stage.connect() as connection:
        connection.sendall(fetch(1))
        assert answered(connection) == 1
        connection.sendall(fetch(2))
        assert connection.recv(1) == b""


def test_a_duplicate_arrives_twice_and_its_second_answer_reaches_nobody(stage: ProxyStage) -> None:
    rule = MessageRule("duplicate", MessageFilter("Fetch", REQUEST))
    stage.gate.add(rule)
    with stage.connect() as connection:
        connection.sendall(fetch(5))
        assert struct.unpack(">iii", connection.recv(12, socket.MSG_WAITALL)) == (8, 5, 0)
        stage.gate.apply(ReleaseMessage("pass", rule.which))
        connection.sendall(fetch(6))
        assert struct.unpack(">iii", connection.recv(12, socket.MSG_WAITALL)) == (8, 6, 2)


def test_what_its_sender_gave_up_is_not_held_any_more_unless_it_is_claimed(
    stage: ProxyStage,
) -> None:
    stage.gate.add(MessageRule("hold", MessageFilter("Fetch", REQUEST)))
    first, second = stage.connect(), stage.connect()
    first.sendall(fetch(1))
    second.sendall(fetch(2))
    assert stage.gate.wait_for(lambda: len(stage.gate.all_held()) == 2, PATIENCE_S)
    for held in stage.gate.held(MessageFilter("Fetch")):
        held.claimed = held.message.correlation == 2
    first.close()
    second.close()

    assert stage.gate.wait_for(
        lambda: [one.correlation for one in stage.gate.all_held()] == [2], PATIENCE_S
    )


def test_a_claimed_request_does_not_outlive_the_process_that_it_is_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        found = ProxyStage(server.getsockname()[1])
        found.gate.add(MessageRule("hold", MessageFilter("Fetch", REQUEST)))
        with contextlib.closing(found), found.connect() as connection:
            connection.sendall(fetch(4))
            process, _ = server.accept()
            held = found.gate.await_held(MessageFilter("Fetch"), PATIENCE_S)
            assert held is not None
            held.claimed = True
            found.proxy.readers[held.message.connection].claimed = True
            process.close()

            assert found.gate.wait_for(
                lambda: found.heard[-1].startswith("dropped Fetch request"), PATIENCE_S
            )
            assert found.gate.all_held() == []


def test_a_claimed_request_is_answered_though_its_sender_is_gone(stage: ProxyStage) -> None:
    stage.gate.add(MessageRule("hold", MessageFilter("Fetch", ANSWER)))
    stage.gate.add(MessageRule("hold", MessageFilter("Fetch", REQUEST)))
    connection = stage.connect()
    connection.sendall(fetch(4))
    held = stage.gate.await_held(MessageFilter("Fetch"), PATIENCE_S)
    assert held is not None
    held.claimed = True
    stage.proxy.readers[held.message.connection].claimed = True
    connection.close()
    stage.gate.settle(held, "pass")

    answer = stage.gate.await_held(MessageFilter("Fetch", ANSWER), PATIENCE_S)

    assert answer is not None
    assert answer.message.correlation == 4


def test_a_proxy_that_is_shut_lets_nobody_in_until_it_admits_again(stage: ProxyStage) -> None:
    with stage.connect() as before:
        before.sendall(fetch(1))
        assert answered(before) == 1
        stage.proxy.shut()
        assert before.recv(1) == b""
    with stage.connect() as connection:
        assert connection.recv(1) == b""
    stage.proxy.admit()
    with stage.connect() as connection:
        connection.sendall(fetch(2))
        assert answered(connection) == 2


def test_bytes_that_are_no_request_of_kafka_pass_as_unknown() -> None:
    found = KafkaReader("1", 1).request(b"\x7f\xff\0\0\0\0\0\1")

    assert (found.api, found.kind) == ("Unknown", REQUEST)


def test_a_port_that_is_taken_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match=f"port {port} is taken"):
            Proxy(port, 1, MessageGate(), lambda number: KafkaReader("1", number), count(1))


def text(value: str) -> bytes:
    return struct.pack(">i", len(value)) + value.encode()


def test_zookeepers_frames_say_operation_path_zxid_error_and_session() -> None:
    reader = ZooKeeperReader("2", 1)

    connect = reader.request(b"\0" * 44)
    reader.answer(struct.pack(">iiqi", 0, 6000, 99, 4) + b"pass" + b"\0")
    assert (connect.api, reader.session) == ("Connect", (99, b"pass"))
    asked = reader.request(struct.pack(">ii", 8, 5) + text("/controller_epoch") + b"\0\0\0\0")
    answer = reader.answer(struct.pack(">iqi", 8, 77, -103))
    assert (asked.api, asked.in_words()) == (
        "SetData", "SetData request 2 -> zookeeper (/controller_epoch)"
    )  # fmt: skip
    assert (answer.api, answer.details["zxid"], answer.details["error"]) == ("SetData", 77, -103)
    check = struct.pack(">i?i", 13, False, -1) + text("/controller_epoch") + struct.pack(">i", 4)
    write = struct.pack(">i?i", 5, False, -1) + text("/brokers/topics/t") + b"\0\0\0\0\0\0\0\0"
    multi = reader.request(struct.pack(">ii", 9, 14) + check + write)
    assert multi.details["path"] == "/brokers/topics/t"


def test_a_controllers_request_names_its_epochs() -> None:
    state = Fields(
        topic_name="t", partition_index=0, controller_epoch=3, leader=1, leader_epoch=5, isr=(1,),
        partition_epoch=0, replicas=(1,), is_new=False,
    )  # fmt: skip
    body = Fields(
        controller_id=1, controller_epoch=3, ungrouped_partition_states=(state,), live_leaders=()
    )
    frame = encode_request(Header(api_key("LeaderAndIsr"), 1, 1, "1"), body)[4:]

    found: Message = KafkaReader("2", 1).request(frame)

    assert (found.sender, found.topics, found.epochs) == (
        "controller",
        frozenset({"t"}),
        frozenset({5}),
    )
