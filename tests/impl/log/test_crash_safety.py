"""Killed at any moment, or without power, a log is still a log. See ``crashes``."""

from __future__ import annotations

import pytest

from impl.disk.memory import MemoryFile
from impl.log import leader_epoch_file, loading, segment_recovery
from impl.log.checkpoint_file import TopicPartition
from impl.log.log import Log
from impl.log.log_directory import LogDirectory
from impl.log.producer_snapshots import ProducerSnapshots
from impl.log.record_batch import header_at
from impl.log.segment import Segment
from tests.impl.log.crashes import CrashTally, Wrong, campaign

KINDS = [
    pytest.param(False, False, id="killed"),
    pytest.param(True, False, id="without power"),
    pytest.param(True, True, id="on a disk that lies"),
]


@pytest.mark.parametrize("power, lies", KINDS)
def test_at_four_hundred_moments_a_log_survives(power, lies):
    tally = campaign(range(40), rounds=10, power=power, lies=lies)

    everywhere(tally, 400)


@pytest.mark.deep
@pytest.mark.parametrize("power, lies", KINDS)
def test_at_ten_thousand_moments_a_log_survives(power, lies):
    tally = campaign(range(1000, 2000), rounds=10, power=power, lies=lies)

    everywhere(tally, 10_000)
    assert set(tally.killed) >= {"retain", "flush_rolled", "advance_start", "lead"}


def everywhere(tally: CrashTally, points: int) -> None:
    """The campaign was worth something: it died in many places, and recoveries had work to do."""
    assert tally.killed.total() == points
    assert set(tally.killed) >= {"start", "append", "append_many", "truncate", "checkpoint"}
    assert tally.scanned > 100 * points
    assert tally.cut > 0
    assert tally.noted > 0


def unsynced_cut(segment: Segment, size: int) -> None:
    segment.log_file.truncate(size)
    segment.size = size


def adopted_alone(home: LogDirectory, partition: TopicPartition, log: Log) -> None:
    home.logs[partition] = log


PLANTED = {
    "a cut that is not durable": (Segment, "cut_bytes", unsynced_cut),
    "records beyond a gap that are kept": (loading, "has_gap_before", lambda log, base: False),
    "a truncation that no checkpoint hears of": (LogDirectory, "_adopt", adopted_alone),
    "a recovery that believes every checksum": (segment_recovery, "check", header_at),
    "a recovery that syncs nothing": (Segment, "sync", lambda segment: None),
    "files whose sync does nothing": (MemoryFile, "sync", lambda file: None),
    "snapshots that outlive a truncation": (
        ProducerSnapshots, "remove_outside", lambda snapshots, log_start, end: None,
    ),
    "producers that a start does not look for": (
        Log, "load_producers", lambda log, from_records=True: [],
    ),
    "epochs that only memory holds": (
        leader_epoch_file.LeaderEpochFile, "write", lambda file: None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_noticed(fault, monkeypatch):
    where, name, wrong = PLANTED[fault]
    monkeypatch.setattr(where, name, wrong)

    with pytest.raises(Wrong):
        campaign(range(300), rounds=10, power=True, lies=False)
