"""A region of a segment's file: the unparsed bytes with which a fetch is answered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from impl.disk import File
from impl.log.errors import CorruptRecord, CorruptSegment
from impl.log.record import StoredRecord
from impl.log.record_batch import batches_in, records_of


@dataclass(frozen=True)
class Region:
    """``length`` bytes from ``position``; it may end within a batch (``FileRecords.slice``)."""

    file: File
    position: int
    length: int

    def read(self) -> bytes:
        """The bytes."""
        return self.file.read(self.position, self.length)

    def send_to(self, socket: int) -> int:
        """Send all bytes to a socket's descriptor, without reading them into this process."""
        sent = 0
        while sent < self.length:
            taken = self.file.send(socket, self.position + sent, self.length - sent)
            if not taken:
                break
            sent += taken
        return sent

    def held(self) -> Region:
        """The same bytes with a file handle of their own: the log may be rolled, deleted or
        moved meanwhile."""
        return Region(self.file.again(), self.position, self.length)

    def release(self) -> None:
        """Close a handle from ``held``."""
        self.file.close()

    def records(self, from_offset: int = 0) -> Iterator[StoredRecord]:
        """The records of all complete batches from an offset on, as a consumer reads them.

        CorruptSegment names the file and the byte.
        """
        data = self.read()
        try:
            for at, _ in batches_in(data):
                for record in records_of(data, at):
                    if record.offset >= from_offset:
                        yield record
        except CorruptRecord as error:
            where = f"byte {self.position + error.position}"
            raise CorruptSegment(self.file.path, where, error.why) from error
