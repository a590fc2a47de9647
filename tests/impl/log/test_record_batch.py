"""Record batches: format v2 both ways, older messages read, and what is wrong is named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impl.disk import RealDisk
from impl.log import varint
from impl.log.compression import CODECS, decompress
from impl.log.config import LogConfig
from impl.log.crc32c import crc32c
from impl.log.errors import CorruptRecord
from impl.log.legacy_messages import encode_message, encode_wrapper
from impl.log.loading import load_log
from impl.log.record import StoredRecord
from impl.log.record_batch import (
    HEADER,
    assigned,
    batches_in,
    check,
    encode_batch,
    header_at,
    records_of,
)
from tests.impl.log.batches import ManualClock, batch, record_lists, values

SIXTY_ONE = bytes.fromhex(
    "0000000000000007" "00000038" "00000003" "02" "00000000" "0000" "00000000"
    "00000000000003e8" "00000000000003e8" "ffffffffffffffff" "ffff" "ffffffff" "00000001"
)  # fmt: skip
"""A header as the format says it: offset 7, epoch 3, one record at time 1000, no producer."""


def test_a_batch_is_laid_out_byte_by_byte_as_the_format_says():
    data = encode_batch([StoredRecord(7, 1000, b"k", b"v")], leader_epoch=3)

    record = bytes([16, 0, 0, 0, 2, ord("k"), 2, ord("v"), 0])
    header = bytearray(SIXTY_ONE)
    header[11] = 49 + len(record)
    header[17:21] = crc32c(bytes(header[21:]) + record).to_bytes(4, "big")
    assert data == bytes(header) + record
    assert HEADER.size == 61


@pytest.mark.parametrize("codec", CODECS)
@given(records=record_lists())
def test_what_was_encoded_is_decoded_whatever_the_codec(codec, records):
    data = encode_batch(records, leader_epoch=5, codec=codec)

    header = check(data)
    assert records_of(data) == records
    assert (header.codec, header.leader_epoch, header.size) == (codec, 5, len(data))
    assert header.max_timestamp == max(record.timestamp for record in records)
    assert (header.base_offset, header.next_offset) == (records[0].offset, records[-1].offset + 1)


@given(st.integers(-(2**63), 2**63 - 1))
def test_a_number_of_varying_length_comes_back(number):
    packed = varint.encode(number)

    assert varint.decode(b"x" + packed + b"x", 1) == (number, 1 + len(packed))
    assert len(packed) <= varint.LONGEST


def test_numbers_of_varying_length_are_zigzag():
    assert [varint.encode(each) for each in (0, -1, 1, -64, 64, 8191)] == [
        b"\0", b"\x01", b"\x02", b"\x7f", b"\x80\x01", b"\xfe\x7f",
    ]  # fmt: skip


def test_a_leader_sets_offset_and_epoch_without_touching_the_checksum():
    data = batch(b"one", b"two")

    parts = assigned(data, 0, check(data), 40, 9, None)

    stored = b"".join(bytes(part) for part in parts)
    assert [record.offset for record in records_of(stored)] == [40, 41]
    assert header_at(stored).leader_epoch == 9
    assert stored[16:] == data[16:]


def test_log_append_time_overrides_every_record_and_the_checksum_follows():
    data = batch(b"one", b"two", at=5)

    parts = assigned(data, 0, check(data), 40, 9, 777)

    stored = b"".join(bytes(part) for part in parts)
    assert check(stored).timestamp_type == "LogAppendTime"
    assert [record.timestamp for record in records_of(stored)] == [777, 777]


def test_a_producer_cannot_claim_log_append_time():
    data = encode_batch([StoredRecord(0, 5, None, b"v")], log_append_time=True)

    parts = assigned(data, 0, check(data), 0, 0, None)

    assert check(b"".join(bytes(part) for part in parts)).timestamp_type == "CreateTime"


@given(record_lists(), st.data())
def test_one_flipped_bit_below_the_checksum_is_noticed(records, data):
    whole = bytearray(encode_batch(records))
    place = data.draw(st.integers(17, len(whole) - 1))
    whole[place] ^= 1 << data.draw(st.integers(0, 7))

    with pytest.raises(CorruptRecord):
        check(bytes(whole))


@pytest.mark.parametrize(
    "damage, why",
    [
        (lambda data: data[:11], "11 bytes, a batch has 17 before its records"),
        (lambda data: data[:40], "40 bytes, a header has 61"),
        (lambda data: data[:-1], "of which 75 are"),
        (lambda data: bytes(72), "length 0; a batch of format 0 has 14"),
        (lambda data: data[:16] + b"\x03" + data[17:], "byte 16: message format 3"),
        (lambda data: data[:8] + b"\xff" * 4 + data[12:], "byte 8: length -1; .* has 49"),
        (lambda data: data[:22] + b"\x07" + data[23:], "codec 7; 0 to 4 are known"),
        (lambda data: data[:17] + bytes(4) + data[21:], "byte 17: checksum 0x00000000, of the"),
    ],
)
def test_bytes_that_are_no_batch_are_refused_with_the_place(damage, why):
    data = batch(b"value")
    assert len(data) == 76

    with pytest.raises(CorruptRecord, match=why):
        check(damage(data))


def test_records_that_contradict_their_lengths_are_refused():
    data = bytearray(batch(b"value"))
    data[61] += 2  # a longer record than there is
    data[17:21] = crc32c(bytes(data[21:])).to_bytes(4, "big")

    with pytest.raises(CorruptRecord, match="a record of 15 bytes, where 14 are"):
        records_of(bytes(data))


def test_a_cut_batch_at_the_end_of_an_answer_is_left_out():
    first, second = batch(b"one"), batch(b"two", base=1)

    found = list(batches_in(first + second[:-3]))

    assert [(at, header.base_offset) for at, header in found] == [(0, 0)]


def test_a_batch_without_records_is_none():
    with pytest.raises(ValueError, match="at least one record"):
        encode_batch([])


def test_compressed_nonsense_is_refused():
    for codec in CODECS[1:]:
        with pytest.raises(CorruptRecord, match=f"the {codec} data of a batch"):
            decompress(codec, b"\xff\xff\xff\xff\xff\xff\xff nonsense")


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", CODECS[1:4])
def test_messages_of_older_formats_are_read_alone_and_from_a_wrapper(magic, codec):
    times = [-1] * 3 if magic == 0 else [50, 40, 60]
    records = [StoredRecord(7 + i, times[i], None, b"v%d" % i) for i in range(3)]

    alone = b"".join(encode_message(each, magic) for each in records)
    wrapped = encode_wrapper(records, magic, codec)

    assert [records_of(alone, at) for at, _ in batches_in(alone)] == [[each] for each in records]
    assert records_of(wrapped) == records
    assert check(wrapped).last_offset == 9
    assert check(wrapped).max_timestamp == max(times)


@pytest.mark.parametrize("magic", [0, 1])
def test_an_older_message_with_a_flipped_bit_is_noticed(magic):
    data = bytearray(encode_message(StoredRecord(0, 5, b"k", b"value"), magic))
    data[-1] ^= 1

    with pytest.raises(CorruptRecord, match="byte 12: checksum"):
        check(bytes(data))


@pytest.mark.parametrize("codec", ["none", "gzip"])
def test_aiokafka_reads_our_batches_and_we_read_its(codec):
    theirs = pytest.importorskip(
        "aiokafka.record.default_records", reason="aiokafka is not installed"
    )
    records = [
        StoredRecord(i, 1000 + i % 3, b"k%d" % i, b"v" * i, (("h", b"x"),)) for i in range(40)
    ]

    reader = theirs.DefaultRecordBatch(bytearray(encode_batch(records, 3, codec)))
    builder = theirs.DefaultRecordBatchBuilder(2, CODECS.index(codec), 0, -1, -1, -1, 1 << 20)
    for each in records:
        builder.append(each.offset, each.timestamp, each.key, each.value, list(each.headers))

    assert reader.validate_crc()
    assert [
        StoredRecord(each.offset, each.timestamp, each.key, each.value, tuple(each.headers))
        for each in reader
    ] == records
    assert records_of(bytes(builder.build())) == records


def test_aiokafka_reads_a_segment_file_and_we_read_one_of_its_batches(tmp_path):
    memory = pytest.importorskip(
        "aiokafka.record.memory_records", reason="aiokafka is not installed"
    )
    theirs = pytest.importorskip("aiokafka.record.default_records")
    log, _ = load_log(RealDisk(), str(tmp_path), LogConfig(), ManualClock(), clean=False)
    log.append_as_leader(batch(b"one", b"two"), 3)
    builder = theirs.DefaultRecordBatchBuilder(2, 0, 0, -1, -1, -1, 1 << 20)
    for offset in range(2):
        builder.append(offset, 1000, b"key", b"theirs %d" % offset, [])
    log.append_as_leader(bytes(builder.build()), 4)
    log.close()

    found = []
    records = memory.MemoryRecords((tmp_path / "00000000000000000000.log").read_bytes())
    while records.has_next():
        whole = records.next_batch()
        assert whole.validate_crc()
        found += [(one.offset, one.value) for one in whole]
    again, _ = load_log(RealDisk(), str(tmp_path), LogConfig(), ManualClock(), clean=True)

    assert found == [(0, b"one"), (1, b"two"), (2, b"theirs 0"), (3, b"theirs 1")]
    assert values(again) == [value for _, value in found]
    assert again.epochs.entries == [(3, 0), (4, 2)]
