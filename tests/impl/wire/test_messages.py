"""Frames and messages of Kafka's protocol, and bytes that are none."""

from __future__ import annotations

import struct
from contextlib import suppress
from datetime import timedelta
from random import Random
from types import SimpleNamespace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from kio.index import load_request_schema

from impl.wire import (
    API_VERSIONS,
    Fields,
    FrameTooLarge,
    Header,
    Malformed,
    UnknownApi,
    UnknownVersion,
    api_key,
    api_name,
    decode_header,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
    error_code,
    error_name,
    frames_in,
    size_of,
    versions_of,
)
from impl.wire.lengths import end_of
from tests.clients.fuzzing import any_body, apis_of

METADATA = 3


def test_a_request_has_the_bytes_that_kafka_gives_it():
    asked = encode_request(Header(METADATA, 1, 7, "me"), Fields(topics=None))

    assert asked == b"\0\0\0\x10\0\x03\0\x01\0\0\0\x07\0\x02me\xff\xff\xff\xff"
    assert decode_request(asked[4:]).header == Header(METADATA, 1, 7, "me")


def test_an_answer_to_api_versions_has_the_old_header_in_every_version():
    body = Fields(
        error_code=error_code("NONE"), api_keys=(), throttle_time=None, supported_features=(),
        finalized_features_epoch=-1, finalized_features=(), zk_migration_ready=False,
    )  # fmt: skip
    (frame,) = encode_response(API_VERSIONS, 0, 5, body)

    assert frame == b"\0\0\0\x0a\0\0\0\x05\0\0\0\0\0\0"
    assert decode_response(frame[4:], API_VERSIONS, 0).correlation == 5


def test_a_request_of_controllers_before_2_2_names_no_client():
    asked = encode_request(Header(api_key("ControlledShutdown"), 0, 9), Fields(broker_id=1))

    assert asked == b"\0\0\0\x0c\0\x07\0\0\0\0\0\x09\0\0\0\x01"
    assert decode_header(asked[4:]) == (Header(7, 0, 9), 8)


def test_records_stay_what_they_are_and_only_their_length_is_asked_for():
    class RecordsOnDisk:
        def __len__(self) -> int:
            return 1000

    records = RecordsOnDisk()
    fetched = SimpleNamespace(
        partition_index=0, error_code=error_code("NONE"), high_watermark=4, last_stable_offset=4,
        aborted_transactions=None, records=records,
    )  # fmt: skip
    body = Fields(
        throttle_time=timedelta(0),
        responses=[Fields(topic="t", partitions=[fetched])],
    )
    head, region = encode_response(api_key("Fetch"), 4, 1, body)

    assert region is records
    assert head.endswith(struct.pack(">i", 1000))
    assert struct.unpack_from(">i", head) == (len(head) - 4 + 1000,)


@pytest.mark.parametrize("name", ["LeaderAndIsr", "UpdateMetadata", "StopReplica", "Fetch"])
def test_what_brokers_of_the_zookeeper_era_say_to_each_other_is_there_from_version_0_on(name):
    assert versions_of(api_key(name)).start == 0


def test_apis_and_errors_have_the_names_of_each_release():
    assert api_name(api_key("AlterIsr")) == "AlterIsr"
    assert error_code("NOT_LEADER_FOR_PARTITION") == error_code("NOT_LEADER_OR_FOLLOWER") == 6
    assert error_name(3) == "UNKNOWN_TOPIC_OR_PARTITION"


def test_an_unknown_api_and_an_unknown_version_are_distinguished():
    with pytest.raises(UnknownApi, match="no API has the key 999"):
        decode_request(struct.pack(">hhih", 999, 0, 1, -1))
    with pytest.raises(UnknownVersion, match="no version 99 of ApiVersions") as caught:
        decode_request(struct.pack(">hhih", API_VERSIONS, 99, 3, -1))
    assert caught.value.header == Header(API_VERSIONS, 99, 3)


@pytest.mark.parametrize("size", [-1, 2**31 - 1, 101])
def test_a_length_that_no_frame_has_is_refused_before_anything_is_read(size):
    with pytest.raises(FrameTooLarge, match=f"a frame of {size} bytes; 0 to 100 are allowed"):
        size_of(struct.pack(">i", size), 100)


def test_frames_are_taken_whole_however_the_bytes_come():
    whole = b"\0\0\0\x02ab\0\0\0\0\0\0\0\x01c"
    for cut in range(len(whole)):
        came = bytearray(whole[:cut])
        found = list(frames_in(came, 100))
        came += whole[cut:]
        assert [*found, *frames_in(came, 100)] == [b"ab", b"", b"c"]
        assert not came


@given(
    st.integers(-1, 90), st.integers(-1, 18), st.binary(max_size=80),
)  # fmt: skip
@example(METADATA, 1, b"\x7f\xff\xff\xff")
@settings(max_examples=300, deadline=None)
def test_bytes_that_are_no_request_are_malformed_and_nothing_else(key, version, rest):
    frame = struct.pack(">hhi", key, version, 1) + rest
    with suppress(Malformed):
        header = decode_request(frame).header
        assert (header.key, header.version, header.correlation) == (key, version, 1)


@given(st.binary(max_size=60))
@settings(max_examples=200, deadline=None)
def test_any_bytes_at_all_are_malformed_or_a_request(frame):
    with suppress(Malformed):
        header = decode_request(frame).header
        assert struct.pack(">hhi", header.key, header.version, header.correlation) == frame[:8]


@pytest.mark.parametrize("name", [*apis_of("2.8"), *apis_of("2.8", True)])
def test_a_message_is_as_long_as_its_lengths_say_and_none_may_go_beyond(name):
    """kio makes room for what an array says that it has; too much of it ends the process."""
    chance = Random(name)
    for version in versions_of(api_key(name)):
        for _ in range(2):
            header = Header(api_key(name), version, 1, "c")
            frame = encode_request(header, any_body(chance, name, version, "t"))[4:]
            _, at = decode_header(frame)
            schema = load_request_schema(api_key(name), version)
            assert end_of(schema, frame, at) == len(frame)
            decode_request(frame)
            for place in range(at, min(len(frame), at + 40)):
                endless = b"\x7f\xff\xff\xff", b"\xfe\xff\xff\xff\x07"
                for count in endless:
                    with suppress(Malformed):
                        decode_request(frame[:place] + count + frame[place + len(count) :])


def test_more_elements_than_bytes_are_refused_before_there_is_room_for_them():
    head = struct.pack(">hhih", api_key("Fetch"), 11, 1, -1) + bytes(25)
    with pytest.raises(Malformed, match="2147483647 elements are due, and 0 bytes left"):
        decode_request(head + b"\x7f\xff\xff\xff")
    with pytest.raises(Malformed, match="-2 is no length"):
        decode_request(head + b"\xff\xff\xff\xfe")
    flexible = struct.pack(">hhihB", api_key("ElectLeaders"), 2, 1, -1, 0) + b"\0"
    with pytest.raises(Malformed, match="elements are due"):
        decode_request(flexible + b"\xff\xff\xff\xff\x0f")


def test_an_array_is_null_only_where_kafka_lets_it_be():
    null = b"\xff\xff\xff\xff"
    groups = struct.pack(">hhih", api_key("DescribeGroups"), 0, 1, -1)
    topics = struct.pack(">hhih", api_key("Metadata"), 1, 1, -1)

    with pytest.raises(Malformed, match="an array is null that cannot be"):
        decode_request(groups + null)
    assert decode_request(topics + null).body.topics is None
