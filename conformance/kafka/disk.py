"""Reads and changes the disks of the lab's brokers: records of a log, and checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from impl.log.errors import CorruptRecord
from impl.log.record_batch import batches_in, records_of

CHECKPOINT = "replication-offset-checkpoint"
NO_EPOCH = -1


class DiskRecord(NamedTuple):
    """A record: its value, and its leader epoch (None in formats before 0.11)."""

    value: str
    epoch: int | None


def log_of(data: Path, topic: str) -> list[DiskRecord]:
    """The records of partition 0, up to the first that cannot be read."""
    found: list[DiskRecord] = []
    for segment in sorted((data / f"{topic}-0").glob("*.log")):
        content = segment.read_bytes()
        try:
            for at, batch in batches_in(content):
                epoch = None if batch.leader_epoch == NO_EPOCH else batch.leader_epoch
                found += [
                    DiskRecord((one.value or b"").decode(errors="replace"), epoch)
                    for one in records_of(content, at)
                ]
        except (CorruptRecord, ValueError):
            break  # a batch that is being written, or was cut
    return found


def cut_log(data: Path, topic: str, end: int) -> None:
    """Removes the records from an offset on from the segments: a tail that was never flushed."""
    for segment in sorted((data / f"{topic}-0").glob("*.log")):
        content = segment.read_bytes()
        for at, batch in batches_in(content):
            if batch.last_offset >= end:
                with segment.open("r+b") as file:
                    file.truncate(at)
                break


def checkpoint_of(data: Path, topic: str) -> int | None:
    """The high watermark of partition 0 in replication-offset-checkpoint; None if it has none."""
    try:
        lines = (data / CHECKPOINT).read_text().splitlines()[2:]
    except OSError:
        return None
    for line in lines:
        words = line.split()
        if words[:2] == [topic, "0"]:
            return int(words[2])
    return None


def write_checkpoint(data: Path, topic: str, offset: int) -> None:
    """Writes an earlier high watermark of partition 0, as if the disk lost the newer one."""
    (data / CHECKPOINT).write_text(f"0\n1\n{topic} 0 {offset}\n")
