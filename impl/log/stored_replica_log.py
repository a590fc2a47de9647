"""The world's log of numbered records, kept on a disk: the same to its users, Kafka's to the disk.

A record's id is the key of a stored record; its leader epoch is that of its batch. What is kept in
memory beside it is what a reader of the disk would find.
"""

from __future__ import annotations

from impl.log.leader_epoch_cache import LeaderEpochFileCache
from impl.log.leader_epoch_file import LeaderEpochFile
from impl.log.log import Log
from impl.log.record import StoredRecord
from impl.log.record_batch import batches_in, encode_batch, records_of
from impl.log.replica_log import Record, ReplicaLog, SavedLog


class StoredEpochCache(LeaderEpochFileCache):
    """The epoch cache of a stored log: every change is in its file before the caller goes on."""

    def __init__(self, file: LeaderEpochFile) -> None:
        self.file = file
        self.entries = file.cache.entries

    def assign(self, epoch: int, start: int) -> None:
        """Let an epoch begin at an offset; see LeaderEpochFileCache."""
        self.file.assign(epoch, start)
        self.entries = self.file.cache.entries

    def truncate_from_end(self, end: int) -> None:
        """The log now ends here."""
        self.file.truncate_from_end(end)
        self.entries = self.file.cache.entries

    def truncate_from_start(self, start: int) -> None:
        """The log now begins here."""
        self.file.truncate_from_start(start)
        self.entries = self.file.cache.entries

    def clear(self) -> None:
        """Forget every epoch."""
        self.file.clear()
        self.entries = self.file.cache.entries

    def replace(self, entries: tuple[tuple[int, int], ...]) -> None:
        """Become these entries."""
        self.file.cache.entries = list(entries)
        self.file.write()
        self.entries = self.file.cache.entries


class StoredReplicaLog(ReplicaLog):
    """A ``ReplicaLog`` over a ``Log`` that begins at offset 0."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.records = _read(log)
        self.stored_epochs = StoredEpochCache(log.epochs)
        self.epochs = self.stored_epochs

    def append(self, record: Record) -> int:
        """Append at the end, as a batch of one. Returns the record's offset."""
        offset = self.log.log_end
        stored = StoredRecord(offset, self.log.now_ms(), b"%d" % record[0], None)
        self.log.append_as_follower(encode_batch([stored], record[1]))
        self.records.append(record)
        self.epochs.entries = self.log.epochs.cache.entries
        return offset

    def truncate_to(self, end: int) -> None:
        """Cut everything at offset ``end`` and above, durably; ValueError if it is negative."""
        self.log.truncate_to(end)
        del self.records[end:]
        self.epochs.entries = self.log.epochs.cache.entries

    def load(self, saved: SavedLog) -> None:
        """Become what was saved: what differs is cut, and written anew."""
        records, epochs = saved
        same = 0
        for ours, theirs in zip(self.records, records, strict=False):
            if ours != theirs:
                break
            same += 1
        self.truncate_to(same)
        for record in records[same:]:
            self.append(record)
        self.stored_epochs.replace(epochs)


def _read(log: Log) -> list[Record]:
    found: list[Record] = []
    while len(found) < log.log_end:
        data = log.read(len(found), 1 << 20).region.read()
        for at, batch in batches_in(data):
            found += [(int(each.key or b""), batch.leader_epoch) for each in records_of(data, at)]
    return found
