"""A real process on real files, killed without warning: what it had appended is there."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from impl.disk import RealDisk
from impl.log.config import LogConfig
from impl.log.log_directory import LogSettings
from impl.log.log_manager import LogManager
from tests.impl.log.batches import values

ROOT = Path(__file__).parents[3]

PROGRAM = """
import sys
from impl.disk import RealDisk
from impl.log import LogConfig, LogManager, LogSettings, StoredRecord, encode_batch

config = LogConfig(segment_bytes=20_000)
manager = LogManager(RealDisk(), [sys.argv[1]], LogSettings(lambda: 0, config))
manager.start(1)
log = manager.create(("t", 0))
while True:
    offset = log.log_end
    log.append_as_leader(encode_batch([StoredRecord(0, 0, None, b"%d" % offset)]), offset // 500)
    if offset % 100 == 0:
        log.high_watermark = offset
        manager.checkpoint_high_watermarks()
    if offset % 700 == 0:
        manager.flush_rolled()
    print(offset, flush=True)
"""


@pytest.mark.parametrize("appended", [720])
def test_every_record_whose_append_returned_is_there_after_kill_9(tmp_path, appended):
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    last = -1
    until = time.monotonic() + 60
    while last < appended and time.monotonic() < until:
        last = int(process.stdout.readline())
    process.kill()
    rest = process.stdout.read().split("\n")[:-1]
    process.wait()
    last = int(rest[-1]) if rest else last

    settings = LogSettings(lambda: 0, LogConfig(segment_bytes=20_000))
    manager = LogManager(RealDisk(), [str(tmp_path)], settings)
    manager.start(1)
    log = manager.log(("t", 0))

    assert log is not None
    assert log.log_end in (last + 1, last + 2)
    assert values(log) == [b"%d" % offset for offset in range(log.log_end)]
    assert log.high_watermark >= last // 100 * 100 - 100
    assert [reported.clean for reported in manager.directories[0].recoveries] == [False]
    epochs = dict(log.epochs.entries)
    assert all(log.end_offset_for(epoch)[1] == (epoch + 1) * 500 for epoch in list(epochs)[:-1])
    manager.stop()
