from __future__ import annotations

import socket
import struct
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from impl.core.requests import (
    LeaderAndIsr,
    LeaderAndIsrPartitionState,
    PartitionMetadata,
    PartitionStop,
    Request,
    StopReplica,
    UpdateMetadata,
)
from impl.disk import RealDisk
from impl.log.region import Region
from impl.server import control_messages
from impl.server.apis.api_request import FileRecords
from impl.server.clients import murmur2
from impl.server.connection import (
    Connection,
    Disconnected,
    FrameConnection,
    UnsupportedVersion,
    read_exactly,
    read_size,
)
from impl.server.control_messages import LiveBrokers
from impl.server.listener import Listener, send_pieces
from impl.wire import (
    Fields,
    Header,
    api_key,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
    error_code,
)
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition
from tests.waiting import PATIENCE_S

ONE = TopicPartition("a-b", 3)
STATE = LeaderIsrAndControllerEpoch(1, 4, (1, 2), 5, 6)


LIVE = LiveBrokers({1: ("h", 1), 2: ("h", 2)}, {1: "a", 2: None})


def orders(version: int) -> Request:
    epoch = 33 if version >= 2 else -1
    found = {ONE: LeaderAndIsrPartitionState(STATE, (1, 2, 3), version >= 1)}
    return LeaderAndIsr(version, 1, 5, epoch, found, (1,))


def metadata(version: int) -> Request:
    epoch = 33 if version >= 5 else -1
    offline = (3,) if version >= 4 else ()
    found = {ONE: PartitionMetadata(STATE, (1, 2, 3), offline)}
    return UpdateMetadata(version, 1, 5, epoch, found, (1, 2))


def stops(version: int) -> Request:
    epoch = 33 if version >= 1 else -1
    found = {ONE: PartitionStop(True, 4 if version >= 3 else -1)}
    return StopReplica(version, 1, 5, epoch, found)


@pytest.mark.parametrize(
    "request_",
    [*map(orders, range(5)), *map(metadata, range(7)), *map(stops, range(4))],
    ids=lambda one: f"{type(one).__name__}-{one.version}",
)
def test_a_controllers_request_arrives_as_it_was_sent_in_every_version(request_: Request):
    api = type(request_).__name__
    header = Header(api_key(api), request_.version, 7, "1")
    frame = encode_request(header, control_messages.encode(request_, LIVE))
    there = decode_request(frame[4:])

    read, live = control_messages.decode(api, there.header.version, there.body)

    assert there.header == header
    assert read == request_
    if isinstance(request_, UpdateMetadata):
        assert live.endpoints == LIVE.endpoints
        assert live.racks == (LIVE.racks if request_.version >= 2 else {1: None, 2: None})
    else:
        assert live == LiveBrokers()


@pytest.mark.parametrize("api, version", [("LeaderAndIsr", 4), ("StopReplica", 3)])
def test_the_answer_to_a_controller_names_each_partitions_error(api: str, version: int):
    reported = "NONE", {ONE: "STALE_CONTROLLER_EPOCH", TopicPartition("t", 0): "NONE"}
    [frame] = encode_response(api_key(api), version, 7, control_messages.encode_answer(reported))

    body = decode_response(frame[4:], api_key(api), version).body

    assert control_messages.decode_answer(body) == reported


def test_topics_have_no_ids_so_the_version_before_those_goes_out():
    assert control_messages.version_of(orders(5)) == 4
    assert control_messages.version_of(metadata(7)) == 6
    assert control_messages.version_of(stops(3)) == 3


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


def framed(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + data


def test_a_question_and_its_answer_pass_and_a_handler_that_fails_ends_the_connection():
    def answer(frame: bytes, _host: str) -> list[bytes]:
        if frame == b"fail":
            raise KeyError("no such thing")
        return [framed(frame[::-1])]

    troubles: list[BaseException] = []
    listener = Listener(("127.0.0.1", 0), answer, troubles.append)
    listener.start()
    ask = FrameConnection(listener.address, PATIENCE_S)
    try:
        good = ask.exchange(framed(b"abc"))
        with pytest.raises(Disconnected):
            ask.exchange(framed(b"fail"))
        after = ask.exchange(framed(b"de"))
    finally:
        ask.close()
        listener.close()

    assert (good, after) == (b"cba", b"ed")
    assert [type(one) for one in troubles] == [KeyError]


def test_who_says_nothing_in_time_is_disconnected_and_asked_anew_on_another_connection():
    def answer(frame: bytes, _host: str) -> list[bytes]:
        if frame == b"1":
            time.sleep(1.0)
        return [framed(frame)]

    listener = Listener(("127.0.0.1", 0), answer)
    listener.start()
    ask = FrameConnection(listener.address, PATIENCE_S)
    try:
        with pytest.raises(Disconnected):
            ask.exchange(framed(b"1"), timeout_s=0.2)
        late = ask.exchange(framed(b"2"))
    finally:
        ask.close()
        listener.close()

    assert late == b"2"  # and not the late answer to the first question


def test_an_answer_to_another_request_is_none():
    def answer(frame: bytes, _host: str) -> list[Any]:
        key, version, correlation, _ = decode_request(frame).header
        found = Fields(error_code=error_code("NONE"), api_keys=())
        return encode_response(key, version, correlation + 1, found)

    listener = Listener(("127.0.0.1", 0), answer)
    listener.start()
    ask = Connection(listener.address, 5)
    try:
        with pytest.raises(Disconnected, match="an answer to request 1, not to 0"):
            ask.ask("ApiVersions", 0, Fields())
    finally:
        ask.close()
        listener.close()


def test_what_a_broker_does_not_offer_is_said_by_name():
    def answer(frame: bytes, _host: str) -> list[Any]:
        key, version, correlation, _ = decode_request(frame).header
        keys = [Fields(api_key=api_key("Fetch"), min_version=0, max_version=7)]
        found = Fields(error_code=error_code("NONE"), api_keys=keys)
        return encode_response(key, version, correlation, found)

    listener = Listener(("127.0.0.1", 0), answer)
    listener.start()
    ask = Connection(listener.address, 5)
    try:
        newest = ask.newest("Fetch", 11)
        with pytest.raises(UnsupportedVersion, match="does not support INIT_PRODUCER_ID"):
            ask.newest("InitProducerId", 1)
    finally:
        ask.close()
        listener.close()

    assert newest == 7


@pytest.mark.parametrize("data", [b"\0\0\0\2x", b"\xff\xff\xff\xff", b"\x7f\0\0\0", b"\0\0"])
def test_what_is_no_frame_ends_the_connection(data: bytes):
    ours, theirs = socket.socketpair()
    theirs.sendall(data)
    theirs.close()

    def read_frame() -> bytes:
        return read_exactly(ours, read_size(ours, 1 << 20) or 0)

    with ours, pytest.raises(Disconnected):
        read_frame()


def test_regions_of_a_file_go_out_as_they_are_and_the_file_may_go_meanwhile(tmp_path: Path):
    disk = RealDisk()
    file = disk.open(str(tmp_path / "f"), create=True)
    file.write(0, b"0123456789" * 100_000)
    held = [Region(file, 5, 10).held(), Region(file, 10, 900_000).held()]
    file.close()
    disk.remove(str(tmp_path / "f"))
    ours, theirs = socket.socketpair()
    pieces = [b"head", *(FileRecords(one) for one in held), b"foot"]
    sending = threading.Thread(target=send_pieces, args=(ours, pieces))

    sending.start()
    with theirs:
        found = read_exactly(theirs, 900_018)
    sending.join(PATIENCE_S)
    ours.close()

    assert found == b"head" + b"5678901234" + b"0123456789" * 90_000 + b"foot"
    with pytest.raises(OSError, match="Bad file descriptor"):
        held[0].read()  # it was let go of
