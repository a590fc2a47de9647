"""A leader stores messages in the format of its release, or in an older one if asked to."""

from __future__ import annotations

import pytest

from impl.disk import MemoryDisk
from impl.log import Log, LogConfig, LogManager, LogSettings, StoredRecord
from impl.log.by_release import config_of, epoch_cache_of, has_epochs
from impl.log.errors import CorruptRecord, InvalidBatch
from impl.log.legacy_messages import encode_message, encode_wrapper
from impl.log.record_batch import batches_in, check, encode_batch, records_of

FOLDER = "/kafka-logs"


def broker(
    release: tuple[int, ...], config: LogConfig | None = None
) -> tuple[MemoryDisk, LogManager]:
    disk = MemoryDisk(lambda: 1_000)
    settings = LogSettings(
        lambda: 1_000,
        config_of(release, config),
        new_cache=lambda: epoch_cache_of(release),
        has_epochs=has_epochs(release),
    )
    manager = LogManager(disk, [FOLDER], settings, lambda: "x")
    manager.start(1)
    return disk, manager


def stored(log: Log) -> list[tuple[int, list[StoredRecord]]]:
    data = log.read(log.log_start, 1 << 20).region.read()
    return [(batch.magic, records_of(data, at)) for at, batch in batches_in(data)]


RECORDS = [StoredRecord(at, 10 + at, b"k", b"v%d" % at) for at in range(3)]
CODECS = ("none", "gzip")


@pytest.mark.parametrize(("release", "suffixes"), [
    ((0, 10, 0), {"index", "log"}), ((0, 10, 1), {"index", "log", "timeindex"}),
])  # fmt: skip
def test_a_segment_has_a_time_index_since_0_10_1(
    release: tuple[int, ...], suffixes: set[str]
) -> None:
    disk, manager = broker(release, LogConfig(segment_bytes=75, index_interval_bytes=0))
    log = manager.create(("t", 0))
    for record in RECORDS:
        log.append_as_leader(encode_batch([record]), 0)
    segments = len(log.segments)
    manager.stop()
    manager.start(1)
    found = manager.log(("t", 0))

    assert segments > 1
    assert {
        name.split(".")[1] for name in disk.names(f"{FOLDER}/t-0") if name[0] == "0"
    } == suffixes
    assert found is not None
    assert (found.log_end, len(found.segments)) == (3, segments)
    assert found.offset_for_time(11) == (11, 1, -1)


@pytest.mark.parametrize("release", [(0, 10, 0), (0, 10, 2), (1, 1)])
def test_an_index_entry_leads_to_the_wrapper_that_holds_its_offset(
    release: tuple[int, ...],
) -> None:
    _, manager = broker(release, LogConfig(index_interval_bytes=0, message_format=1))
    log = manager.create(("t", 0))
    for _ in range(4):
        log.append_as_leader(encode_wrapper(RECORDS, 1, "gzip"), 0)

    assert [entry.offset for entry in log.active.index.entries()] == [3, 6, 9]
    assert [log.position_of(at).position for at in (3, 5)] == [
        log.active.index.entry(0).position
    ] * 2
    assert log.truncate_to(7)
    assert log.log_end == 6


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize(("release", "magic"), [((0, 10, 2), 1), ((0, 11), 2), ((2, 3), 2)])
def test_what_a_new_client_sends_is_stored_in_the_format_of_the_release(
    release: tuple[int, ...], magic: int, codec: str
) -> None:
    log = broker(release)[1].create(("t", 0))
    log.append_as_leader(encode_batch([StoredRecord(0, 5, None, b"first")]), 0)

    appended = log.append_as_leader(encode_batch(RECORDS, codec=codec), 0)

    assert (appended.first_offset, appended.last_offset, log.log_end) == (1, 3, 4)
    found = stored(log)
    assert {format for format, _ in found} == {magic}
    records = [each for _, inside in found for each in inside]
    assert [(one.offset, one.value) for one in records] == [
        (0, b"first"), (1, b"v0"), (2, b"v1"), (3, b"v2"),
    ]  # fmt: skip
    assert [one.timestamp for one in records] == [5, 10, 11, 12]


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("sent", [0, 1])
def test_a_topic_may_ask_for_an_older_format_than_the_release_has(sent: int, codec: str) -> None:
    config = LogConfig().but({"message.format.version": "0.9.0"})
    log = broker((2, 3), config)[1].create(("t", 0))
    data = (
        b"".join(encode_message(one, sent) for one in RECORDS)
        if codec == "none"
        else encode_wrapper(RECORDS, sent, codec)
    )

    log.append_as_leader(data, 7)

    found = stored(log)
    assert {format for format, _ in found} == {0}
    assert [one.offset for _, inside in found for one in inside] == [0, 1, 2]
    assert log.epochs.entries == [], "format 0 has no place for a leader epoch"


def test_the_brokers_time_overrides_that_of_format_1() -> None:
    config = LogConfig().but({"message.timestamp.type": "LogAppendTime"})
    log = broker((0, 10, 2), config)[1].create(("t", 0))

    log.append_as_leader(encode_batch(RECORDS), 0)

    assert [one.timestamp for _, inside in stored(log) for one in inside] == [1_000] * 3


def test_a_broker_without_epochs_has_no_files_of_them_and_no_format_2() -> None:
    disk, manager = broker((0, 10, 2), LogConfig(message_format=2))
    log = manager.create(("t", 0))
    log.append_as_leader(encode_batch(RECORDS), 3)
    log.high_watermark = log.log_end
    log.truncate_fully_and_start_at(9)
    manager.stop()

    names = {*disk.names(FOLDER), *disk.names(f"{FOLDER}/t-0")}
    assert "leader-epoch-checkpoint" not in names
    assert "log-start-offset-checkpoint" not in names
    assert "replication-offset-checkpoint" in names


@pytest.mark.parametrize("release", [(0, 10, 2), (0, 11), (2, 0), (2, 5)])
def test_every_checkpoint_of_a_release_is_there_before_it_has_an_entry(
    release: tuple[int, ...],
) -> None:
    disk, manager = broker(release)
    manager.create(("t", 0))

    names = {one for one in (*disk.names(FOLDER), *disk.names(f"{FOLDER}/t-0"))
             if one.endswith("-checkpoint")}  # fmt: skip
    since_0_11 = {"log-start-offset-checkpoint", "leader-epoch-checkpoint"}
    assert names == {
        "replication-offset-checkpoint", "recovery-point-offset-checkpoint",
        "cleaner-offset-checkpoint", *(since_0_11 if release >= (0, 11) else ()),
    }  # fmt: skip


def test_a_topic_in_an_older_format_has_no_file_of_epochs_since_2_1_1_until_it_changes() -> None:
    disk, manager = broker((2, 3), LogConfig(message_format=1))
    manager.create(("t", 0))
    before = disk.exists(EPOCH_FILE)

    manager.reconfigure(config_of((2, 3)))

    assert (before, disk.exists(EPOCH_FILE)) == (False, True)


def test_a_follower_keeps_what_comes_as_it_comes() -> None:
    leader = broker((0, 10, 2))[1].create(("t", 0))
    leader.append_as_leader(encode_batch(RECORDS, codec="gzip"), 0)
    follower = broker((0, 10, 2))[1].create(("t", 0))

    data = leader.read(0, 1 << 20).region.read()
    follower.append_as_follower(data)

    assert follower.read(0, 1 << 20).region.read() == data
    assert follower.log_end == leader.log_end == 3


def test_a_codec_that_older_formats_do_not_know_is_refused() -> None:
    log = broker((0, 10, 2))[1].create(("t", 0))

    with pytest.raises(InvalidBatch, match="zstd"):
        log.append_as_leader(encode_batch(RECORDS, codec="zstd"), 0)


@pytest.mark.parametrize("text", ["", "two", "2", "v1", "9.9", "0.10", "2.3-IV9"])
def test_a_format_that_is_no_release_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=f"Version `{text}` is not a valid version"):
        LogConfig().but({"message.format.version": text})


@pytest.mark.parametrize("magic", [0, 1])
def test_a_message_that_is_torn_after_its_magic_is_corrupt_and_no_defect(magic: int) -> None:
    whole = encode_message(RECORDS[0], magic)

    for cut in range(17, 19):
        with pytest.raises(CorruptRecord):
            check(whole[:cut])


EPOCH_FILE = f"{FOLDER}/t-0/leader-epoch-checkpoint"


@pytest.mark.parametrize(
    ("release", "entries"),
    [
        ((0, 11), [(3, 0)]),
        ((2, 0), [(3, 0), (4, 3)]),
        ((2, 1, 0), [(3, 0), (4, 3)]),
        ((2, 1), []),
        ((2, 1, 1), []),
        ((2, 3), []),
    ],
)
def test_a_topic_that_goes_back_to_an_older_format_has_no_epochs_since_2_1_1(
    release: tuple[int, ...], entries: list[tuple[int, int]]
) -> None:
    disk, manager = broker(release)
    log = manager.create(("t", 0))
    log.append_as_leader(encode_batch(RECORDS), 3)

    manager.reconfigure(config_of(release, LogConfig(message_format=1)))
    if release >= (2, 0):  # what a leader does with the epoch in which it leads
        log.epochs.assign(4, log.log_end)

    assert log.epochs.entries == entries
    assert disk.exists(EPOCH_FILE) == bool(entries)


@pytest.mark.parametrize(
    ("release", "entries"),
    [((2, 0), [(3, 0)]), ((2, 2, 0), [(3, 0)]), ((2, 2), []), ((2, 2, 1), []), ((2, 3), [])],
)
def test_messages_of_an_older_format_end_what_is_known_of_epochs_since_2_2_1(
    release: tuple[int, ...], entries: list[tuple[int, int]]
) -> None:
    log = broker(release)[1].create(("t", 0))
    log.append_as_leader(encode_batch(RECORDS), 3)

    log.append_as_follower(encode_message(StoredRecord(3, 5, None, b"old"), 1))

    assert (log.log_end, log.epochs.entries) == (4, entries)


def test_no_epoch_is_kept_of_what_is_fetched_until_the_format_has_them_again() -> None:
    disk, manager = broker((2, 3), LogConfig(message_format=1))
    log = manager.create(("t", 0))
    log.append_as_follower(encode_batch(RECORDS, leader_epoch=7))
    without = list(log.epochs.entries), disk.exists(EPOCH_FILE)

    manager.reconfigure(config_of((2, 3)))
    log.append_as_leader(encode_batch(RECORDS), 8)

    assert without == ([], False)
    assert log.epochs.entries == [(8, 3)]
