"""What a broker writes of deleted logs that are removed, or cannot be, and ingest reads it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conformance.ingest.dialects import ANY
from impl.disk.memory import MemoryDisk
from impl.log.log_directory import LogSettings
from impl.log.log_manager import LogManager
from impl.releases import Release
from impl.server.log4j_files import Log4jFiles
from impl.server.replica_lines import ReplicaLines

LINE = re.compile(r"\[[^]]*\] (\w+) (.*) \((\S+)\)")
DELAY_MS = 60_000
PLACE = "/d/t-0.x-delete"
LOG = {
    "0.10": f"Log({PLACE})",
    "0.11": f"Log({PLACE})",
    "1.0": f"Log({PLACE})",
    "2.3": f"Log({PLACE})",
    "2.4": f"Log(dir={PLACE}, topic=t, partition=0, highWatermark=0, lastStableOffset=0, "
    "logStartOffset=0, logEndOffset=0)",
}


class Removing:
    """The log of t-0 is deleted, and its time has come."""

    def __init__(self, folder: Path, version: str) -> None:
        self.folder, self.now_ms = folder, 0
        files = Log4jFiles(folder, 1, Release.of(version))
        self.logs = LogManager(
            MemoryDisk(lambda: self.now_ms), ["/d"],
            LogSettings(
                lambda: self.now_ms, removals_fail_disks=Release.of(version).since("1.0")
            ),
            unique=lambda: "x", removal=ReplicaLines(files).removed,
        )  # fmt: skip
        self.logs.start(1)
        self.logs.create(("t", 0))
        self.logs.delete(("t", 0))
        self.now_ms += DELAY_MS

    def log_lines(self) -> list[tuple[str, str, str]]:
        """Level, message and logger of each line of server.log."""
        text = (self.folder / "server.log").read_text(encoding="utf-8")
        found = filter(None, map(LINE.fullmatch, text.splitlines()))
        return [(one[1], one[2], one[3]) for one in found]


def failing(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """No file can be removed."""

    def stubborn(disk: MemoryDisk, path: str) -> None:
        raise error

    monkeypatch.setattr(MemoryDisk, "remove", stubborn)


@pytest.mark.parametrize(
    ("version", "name"), [("0.10.0", "[t,0]"), ("0.10", "t-0"), ("1.0", "t-0"), ("2.4", "t-0")]
)
def test_a_deleted_log_that_is_removed_is_reported(tmp_path: Path, version: str, name: str):
    removing = Removing(tmp_path, version)
    removing.logs.remove_due()

    reported = removing.log_lines()

    assert reported == [
        ("INFO", f"Deleted log for partition {name} in {PLACE}.", "kafka.log.LogManager")
    ]
    assert ANY.read(reported[0][2], reported[0][1]) is not None


@pytest.mark.parametrize("version", LOG)
def test_a_log_that_the_disk_does_not_let_go_is_tried_again_or_ends_its_directory(
    tmp_path: Path, version: str, monkeypatch: pytest.MonkeyPatch
):
    removing = Removing(tmp_path, version)
    failing(monkeypatch, OSError(16, "Device or resource busy"))
    for _ in range(3):
        removing.logs.remove_due()
    monkeypatch.undo()
    removing.now_ms += DELAY_MS
    removing.logs.remove_due()

    reported = removing.log_lines()
    why = removing.logs.directories[0].failure

    if version < "1.0":
        moved = f"Exception in deleting {LOG[version]}. Moving it to the end of the queue."
        assert [one[:2] for one in reported] == [
            ("ERROR", moved),
            ("INFO", f"Deleted log for partition t-0 in {PLACE}."),
        ]
        assert why == ""
    else:
        failed = f"Exception while deleting {LOG[version]} in dir /d."
        assert [one[:2] for one in reported] == [("ERROR", failed)]
        assert why.startswith("Error while deleting log for t-0 in dir /d: [Errno 16]")
    assert all(ANY.read(logger, text) is not None for _, text, logger in reported)
    assert "\njava.io.IOException: [Errno 16] Device or resource busy\n" in (
        tmp_path / "server.log"
    ).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("version", "text"),
    [
        ("0.11", f"Exception in deleting Log({PLACE}). Moving it to the end of the queue."),
        ("1.0", "Exception in kafka-delete-logs thread."),
        ("2.4", "Exception in kafka-delete-logs thread."),
    ],
)
def test_an_error_that_nobody_expects_of_a_removal_is_reported_and_the_disk_stays(
    tmp_path: Path, version: str, text: str, monkeypatch: pytest.MonkeyPatch
):
    removing = Removing(tmp_path, version)
    failing(monkeypatch, ValueError("no such thing"))
    removing.logs.remove_due()
    monkeypatch.undo()
    removing.now_ms += DELAY_MS

    reported = removing.log_lines()

    assert reported == [("ERROR", text, "kafka.log.LogManager")]
    assert ANY.read(reported[0][2], reported[0][1]) is not None
    assert removing.logs.directories[0].failure == ""
    # Since 1.0 it has left the queue before: a restart finds it.
    assert removing.logs.remove_due() == ([("t", 0)] if version < "1.0" else [])
