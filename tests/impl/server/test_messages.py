from __future__ import annotations

import socket
import threading
from pathlib import Path

import pytest

from impl.core.requests import (
    LeaderAndIsr,
    PartitionMetadata,
    PartitionOrder,
    PartitionStop,
    Request,
    StopReplica,
    UpdateMetadata,
)
from impl.disk import RealDisk
from impl.log.region import Region
from impl.server.clients import murmur2
from impl.server.codec import decode_request, encode_request
from impl.server.wire import Connection, Disconnected, Listener, Message, receive, send
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition

ONE = TopicPartition("a-b", 3)
STATE = LeaderIsrAndControllerEpoch(1, 4, (1, 2), 5, 6)


@pytest.mark.parametrize(
    "request_",
    [
        LeaderAndIsr(2, 1, 5, 33, {ONE: PartitionOrder(STATE, (1, 2, 3), True)}, (1,)),
        UpdateMetadata(5, 1, 5, 33, {ONE: PartitionMetadata(STATE, (1, 2, 3), (3,))}, (1, 2)),
        StopReplica(1, 1, 5, 33, {ONE: PartitionStop(True, 4)}),
    ],
)
def test_a_control_request_arrives_as_it_was_sent(request_: Request):
    endpoints = {1: ("h", 1), 2: ("h", 2)}

    read, found = decode_request(encode_request(request_, endpoints))

    assert read == request_
    assert found == (endpoints if isinstance(request_, UpdateMetadata) else {})


def test_what_is_no_control_request_is_refused_by_name():
    head = encode_request(StopReplica(1, 1, 5, 33, {}), {}) | {"api": "Other"}

    with pytest.raises(ValueError, match="Other is no request of a controller"):
        decode_request(head)


def test_keys_go_where_kafkas_producer_sends_them():
    # The values of UtilsTest.testMurmur2, as unsigned numbers.
    known = {
        b"21": -973932308,
        b"foobar": -790332482,
        b"a-little-bit-long-string": -985981536,
        b"a-little-bit-longer-string": -1486304829,
        b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
        b"abc": 479470107,
    }

    assert {key: murmur2(key) for key in known} == {
        key: value % 2**32 for key, value in known.items()
    }


def test_a_question_and_its_answer_pass_and_a_handler_that_fails_says_so():
    def answer(head, body):
        if head.get("fail"):
            raise KeyError("no such thing")
        return Message({"error": "NONE", "back": head["n"]}, body[::-1])

    troubles: list[BaseException] = []
    listener = Listener(("127.0.0.1", 0), answer, troubles.append)
    listener.start()
    ask = Connection(listener.address, 5)
    try:
        good, bad, after = ask.ask({"n": 1}, b"abc"), ask.ask({"fail": 1}), ask.ask({"n": 2})
    finally:
        ask.close()
        listener.close()

    assert good == Message({"error": "NONE", "back": 1}, b"cba")
    assert bad.head["error"] == "UNKNOWN_SERVER_ERROR"
    assert after.head["back"] == 2
    assert [type(one) for one in troubles] == [KeyError]


def test_who_says_nothing_in_time_is_disconnected_and_asked_anew_on_another_connection():
    calls = []

    def answer(head, body):
        calls.append(head["n"])
        if head["n"] == 1:
            import time

            time.sleep(1.0)
        return Message({"back": head["n"]})

    listener = Listener(("127.0.0.1", 0), answer)
    listener.start()
    ask = Connection(listener.address, 5)
    try:
        with pytest.raises(Disconnected):
            ask.ask({"n": 1}, timeout_s=0.2)
        late = ask.ask({"n": 2})
    finally:
        ask.close()
        listener.close()

    assert late.head == {"back": 2}  # and not the late answer to the first question


@pytest.mark.parametrize(
    "data", [b"\0\0\0\2\0\0\0\0[]", b"\0\0\0\1\0\0\0\0{", b"\xff\xff\xff\xff\0\0\0\0", b"\0\0"]
)
def test_what_is_no_frame_ends_the_connection(data: bytes):
    ours, theirs = socket.socketpair()
    theirs.sendall(data)
    theirs.close()

    with ours, pytest.raises(Disconnected):
        receive(ours)


def test_regions_of_a_file_follow_the_header_and_the_file_may_go_meanwhile(tmp_path: Path):
    disk = RealDisk()
    file = disk.open(str(tmp_path / "f"), create=True)
    file.write(0, b"0123456789" * 100_000)
    held = [Region(file, 5, 10).held(), Region(file, 10, 900_000).held()]
    file.close()
    disk.remove(str(tmp_path / "f"))
    ours, theirs = socket.socketpair()
    sending = threading.Thread(target=send, args=(ours, Message({"n": 1}, b"", tuple(held))))

    sending.start()
    with theirs:
        found = receive(theirs)
    sending.join(5)
    ours.close()

    assert found is not None
    assert found.head == {"n": 1}
    assert found.body == b"5678901234" + b"0123456789" * 90_000
    with pytest.raises(OSError, match="Bad file descriptor"):
        held[0].read()  # it was let go of


def test_a_file_that_is_cut_while_it_is_sent_breaks_the_connection(tmp_path: Path):
    file = RealDisk().open(str(tmp_path / "f"), create=True)
    file.write(0, b"0123456789")
    held = Region(file, 0, 10).held()
    file.truncate(4)
    ours, theirs = socket.socketpair()

    with ours, theirs, pytest.raises(OSError, match="f was cut while it was sent"):
        send(ours, Message({}, b"", (held,)))

    file.close()
