"""Connections, memory and requests at once: what a listener allows, and what it ends."""

from __future__ import annotations

import contextlib
import resource
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from impl.releases import Release
from impl.server.broker_lock import AskedCondition, BrokerLock
from impl.server.connection import Disconnected, FrameConnection
from impl.server.limits import (
    ConnectionQuotas,
    Limits,
    MemoryPool,
    RequestSlots,
    TooManyConnections,
)
from impl.server.listener import Listener
from impl.server.properties import WrongProperties, connections_by_address, parse_properties
from tests.waiting import PATIENCE_S, eventually

Listen = Callable[..., Listener]


@pytest.fixture
def listen() -> Iterator[Listen]:
    begun: list[Listener] = []

    def run(limits: Limits) -> Listener:
        reported: list[str] = []
        made = Listener(
            ("127.0.0.1", 0), lambda frame, host: [framed(b"%d" % len(frame))], limits=limits,
            rejected=reported.append,
        )  # fmt: skip
        made.reported = reported  # type: ignore[attr-defined]
        begun.append(made)
        made.start()
        return made

    yield run
    for one in begun:
        one.close()


def framed(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + data


def asked(connection: FrameConnection, data: bytes = b"") -> bytes:
    """What the listener says: how long the frame was."""
    return connection.exchange(framed(data))


def connected(listener: Listener) -> socket.socket:
    return socket.create_connection(listener.address, timeout=PATIENCE_S)


def ended(connection: socket.socket, seconds: float) -> bool:
    connection.settimeout(seconds)
    try:
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    except OSError:
        return True


def test_an_address_has_no_more_connections_than_it_may(listen: Listen):
    listener = listen(Limits(per_ip=lambda: 2))
    first, second = (
        FrameConnection(listener.address, PATIENCE_S),
        FrameConnection(listener.address, PATIENCE_S),
    )
    assert asked(first) == asked(second) == b"0"

    third = connected(listener)
    refused = ended(third, PATIENCE_S)
    first.close()
    again = eventually(lambda: _asks(listener))

    assert refused
    assert again
    assert listener.reported[0] == (  # type: ignore[attr-defined]
        "Rejected connection from /127.0.0.1, address already has the configured maximum of 2 "
        "connections."
    )
    third.close()
    second.close()


def _asks(listener: Listener) -> bool:
    one = FrameConnection(listener.address, PATIENCE_S)
    try:
        return asked(one) == b"0"
    except Disconnected:
        return False
    finally:
        one.close()


def test_one_connection_too_many_waits_until_another_ends(listen: Listen):
    listener = listen(Limits(connections=lambda: 1))
    first = FrameConnection(listener.address, PATIENCE_S)
    asked(first)
    waiting = FrameConnection(listener.address, PATIENCE_S)
    answers: list[bytes] = []
    asking = threading.Thread(target=lambda: answers.append(asked(waiting)), daemon=True)
    asking.start()
    time.sleep(0.3)
    before = len(answers)
    first.close()
    asking.join(PATIENCE_S)

    assert before == 0
    assert len(answers) == 1
    waiting.close()


def test_overrides_are_by_address():
    quotas = ConnectionQuotas(Limits(per_ip=lambda: 1, overrides={"10.0.0.1": 2}))
    for address in ("10.0.0.1", "10.0.0.1", "10.0.0.2"):
        quotas.take(address, lambda: False)

    for address in ("10.0.0.1", "10.0.0.2"):
        with pytest.raises(TooManyConnections):
            quotas.take(address, lambda: False)
    quotas.give_back("10.0.0.2")
    quotas.take("10.0.0.2", lambda: False)


def test_an_idle_connection_is_closed_and_a_client_asks_on_another(listen: Listen):
    listener = listen(Limits(idle_s=0.2))
    idle, client = connected(listener), FrameConnection(listener.address, PATIENCE_S)
    asked(client)

    closed = ended(idle, PATIENCE_S)
    time.sleep(0.5)
    answer = asked(client)

    assert closed
    assert answer == b"0"
    idle.close()
    client.close()


def test_a_request_that_is_too_large_ends_its_connection_before_it_is_read(listen: Listen):
    listener = listen(Limits(request_bytes=1000))
    with connected(listener) as connection:
        connection.sendall(struct.pack(">i", 5000))
        assert ended(connection, PATIENCE_S)
    fits = FrameConnection(listener.address, PATIENCE_S)
    assert asked(fits, b"x" * 900) == b"900"
    fits.close()


def test_half_sent_requests_hold_no_more_memory_than_they_may(listen: Listen):
    size = 8 << 20
    listener = listen(Limits(idle_s=60.0, queued_bytes=2 * size))
    halves = []
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(8):
        connection = connected(listener)
        connection.setblocking(False)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 16)
        connection.send(struct.pack(">i", size))
        halves.append(connection)
    part, sent = b"x" * (1 << 16), [0] * len(halves)
    deadline = time.monotonic() + 2
    while time.monotonic() < deadline and sum(sent) < 2 * (size - len(part)):
        for place, connection in enumerate(halves):
            if sent[place] < size - len(part):
                try:
                    sent[place] += connection.send(part)
                except BlockingIOError:
                    continue
    small = FrameConnection(listener.address, PATIENCE_S)
    passes = asked(small, b"y" * 1000)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before

    read_from = sum(one > 4 << 20 for one in sent)  # the others stay in the sockets' buffers
    assert read_from <= 3
    assert passes == b"1000"
    assert grown < 64 << 10
    for connection in halves:
        connection.close()
    small.close()


def test_a_pool_lets_small_requests_pass_and_large_ones_wait():
    pool = MemoryPool(100_000)
    entered: list[int] = []

    def large(number: int, until: threading.Event) -> None:
        with pool.room(90_000):
            entered.append(number)
            until.wait(PATIENCE_S)

    gates = [threading.Event() for _ in range(3)]
    threads = [threading.Thread(target=large, args=(at, gate)) for at, gate in enumerate(gates)]
    for thread in threads[:2]:
        thread.start()
    assert eventually(lambda: len(entered) == 2)
    threads[2].start()
    with pool.room(100):
        time.sleep(0.1)
    waiting = len(entered)
    gates[0].set()
    gates[1].set()
    assert eventually(lambda: len(entered) == 3)
    gates[2].set()
    for thread in threads:
        thread.join(PATIENCE_S)

    assert waiting == 2
    assert pool.used == 0


def test_who_waits_for_the_world_lets_another_request_be_handled():
    slots, lock = RequestSlots(1), BrokerLock()
    lock.about_to_wait = slots.let_go
    changed = threading.Condition(lock)  # type: ignore[arg-type]
    order: list[str] = []

    def waits() -> None:
        with slots.taken(), lock:
            order.append("waits")
            changed.wait(PATIENCE_S)
            order.append("goes on")

    def comes_later() -> None:
        with slots.taken(), lock:
            order.append("is handled")
            changed.notify_all()

    first = threading.Thread(target=waits)
    first.start()
    assert eventually(lambda: order == ["waits"])
    second = threading.Thread(target=comes_later)
    second.start()
    first.join(PATIENCE_S)
    second.join(PATIENCE_S)

    assert order == ["waits", "is handled", "goes on"]
    with slots.taken():  # it was given back once, by each
        assert not slots._free.acquire(blocking=False)


def test_a_stalled_request_is_given_up(listen: Listen, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("impl.server.listener.STALL_S", 0.2)
    listener = listen(Limits(idle_s=60.0))
    with connected(listener) as connection:
        connection.sendall(struct.pack(">i", 100) + b"abc")
        assert ended(connection, PATIENCE_S)


def test_limits_are_properties():
    text = "zookeeper.connect=h:1\nlog.dirs=a\n"
    more = "max.connections.per.ip.overrides=127.0.0.1:7,host:2\nconnections.max.idle.ms=5\n"
    found = parse_properties("p", text + more, Release.of("2.4"))

    assert connections_by_address(found.text("max.connections.per.ip.overrides")) == {
        "127.0.0.1": 7, "host": 2
    }  # fmt: skip
    assert found.whole_number("connections.max.idle.ms") == 5
    assert found.whole_number("socket.request.max.bytes") == 104857600
    with pytest.raises(WrongProperties, match="HOST:COUNT"):
        parse_properties("p", f"{text}max.connections.per.ip.overrides=a\n", Release.of("2.4"))


def test_a_message_arrives_in_one_piece_after_a_pause(listen: Listen):
    listener = listen(Limits(idle_s=30.0))
    with connected(listener) as connection:
        connection.sendall(framed(b"x" * 300_000))
        assert connection.recv(8)


def test_nobody_waits_on_for_a_client_that_has_gone(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("impl.server.broker_lock.LOOK_S", 0.1)
    lock = BrokerLock()
    changed = AskedCondition(lock)
    waiting, trouble = threading.Event(), list[BaseException]()

    def answer(frame: bytes, _host: str) -> list[bytes]:
        with lock:
            waiting.set()
            changed.wait(float(frame))
        return [framed(b"waited")]

    listener = Listener(("127.0.0.1", 0), answer, trouble.append, Limits(handled=1))
    lock.about_to_wait, lock.still_asked = listener.slots.let_go, listener.raise_if_client_gone
    listener.start()
    before = threading.active_count()
    with connected(listener) as connection:
        connection.sendall(framed(b"1000000000"))
        assert waiting.wait(PATIENCE_S)
        there = threading.active_count()
        assert not ended(connection, 0.5)  # it is there, and is waited for
    gone = eventually(lambda: threading.active_count() == before)
    with connected(listener) as connection:
        connection.sendall(framed(b"0.25"))
        answered = connection.recv(100)
    listener.close()

    assert there > before
    assert gone
    assert trouble == []
    assert answered == framed(b"waited")


@pytest.mark.parametrize("count", [80, pytest.param(800, marks=pytest.mark.deep)])
def test_slow_clients_hold_up_nobody_and_each_is_answered(listen: Listen, count: int):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4096)), hard))
    listener = listen(Limits(idle_s=60.0, handled=4))
    whole = framed(b"x" * 100)
    slow = [connected(listener) for _ in range(count)]
    try:
        for connection in slow:
            connection.sendall(whole[:7])
        quick, began = FrameConnection(listener.address, PATIENCE_S), time.monotonic()
        answers = {asked(quick, b"y" * number) for number in range(50)}
        took = time.monotonic() - began
        for connection in slow:
            connection.sendall(whole[7:])
        reported = [connection.recv(100) for connection in slow]
    finally:
        for connection in slow:
            connection.close()

    assert len(answers) == 50
    assert took < 30  # ms on an idle machine; the slow ones stay for a minute
    assert reported == [framed(b"100")] * count


def test_who_does_not_read_his_answers_is_given_up(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("impl.server.listener.STALL_S", 0.2)
    large = framed(bytes(32 << 20))
    listener = Listener(
        ("127.0.0.1", 0), lambda frame, host: [large], limits=Limits(idle_s=60.0, handled=1)
    )
    listener.start()
    before = threading.active_count()
    with connected(listener) as deaf:
        deaf.sendall(framed(b"a") * 3)
        assert eventually(lambda: threading.active_count() > before)
        with connected(listener) as other:  # there is one place, and the deaf one has left it
            other.sendall(framed(b"b"))
            assert other.recv(4) == large[:4]
        assert eventually(lambda: threading.active_count() == before)
        deaf.settimeout(PATIENCE_S)
        got = 0
        with contextlib.suppress(ConnectionResetError):
            while part := deaf.recv(1 << 20):
                got += len(part)
    listener.close()

    assert got < len(large)


def test_no_more_requests_are_handled_at_once_than_may_be_queued():
    handled, gate = list[bytes](), threading.Event()

    def answer(frame: bytes, _host: str) -> list[bytes]:
        handled.append(frame)
        gate.wait(PATIENCE_S)
        return [framed(frame)]

    listener = Listener(("127.0.0.1", 0), answer, limits=Limits(handled=2))
    listener.start()
    clients = [connected(listener) for _ in range(5)]
    for number, client in enumerate(clients):
        client.sendall(framed(b"%d" % number))
    eventually(lambda: len(handled) == 2)
    time.sleep(0.2)
    at_once = len(handled)
    gate.set()
    answers = [client.recv(100) for client in clients]
    for client in clients:
        client.close()
    listener.close()

    assert at_once == 2
    assert answers == [framed(b"%d" % number) for number in range(5)]
