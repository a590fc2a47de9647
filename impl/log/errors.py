"""Errors about stored data; every message names the file and the byte."""

from __future__ import annotations


class CorruptRecord(Exception):
    """Bytes that are no valid record batch: too short, an unknown format, a wrong checksum."""

    def __init__(self, position: int, why: str) -> None:
        super().__init__(f"byte {position}: {why}")
        self.position = position
        self.why = why


class StorageError(Exception):
    """A file that cannot be used (``KafkaStorageException``); its partition goes offline."""

    def __init__(self, path: str, where: str, why: str) -> None:
        super().__init__(f"{path}: {where}: {why}" if where else f"{path}: {why}")
        self.path = path
        self.where = where
        self.why = why


class CorruptSegment(StorageError):
    """A ``.log`` file with bytes that are no valid record batch (``CorruptRecordException``)."""


class CorruptIndex(StorageError):
    """An index that contradicts itself or its segment (``CorruptIndexException``)."""


class MalformedCheckpoint(StorageError):
    """A checkpoint file that is not in Kafka's format (``IOException`` of ``CheckpointFile``)."""


class OffsetOutOfRange(Exception):
    """An offset below the log start, or beyond the log end (``OFFSET_OUT_OF_RANGE``)."""

    def __init__(self, offset: int, log_start: int, log_end: int) -> None:
        super().__init__(f"offset {offset} is not within the log, {log_start} to {log_end}")
        self.offset = offset
        self.log_start = log_start
        self.log_end = log_end


class InvalidBatch(Exception):
    """A batch that a log does not accept; nothing was appended.

    ``code`` is Kafka's error: ``RECORD_TOO_LARGE``, ``CORRUPT_MESSAGE``, ``INVALID_TIMESTAMP``,
    ``INVALID_RECORD``, ``RECORD_LIST_TOO_LARGE`` or ``UNEXPECTED_APPEND_OFFSET``.
    """

    def __init__(self, code: str, why: str) -> None:
        super().__init__(f"{code}: {why}")
        self.code = code
        self.why = why
