"""The log of a replica, its leader epochs and the checkpoint of its high watermark.

``ReplicaLog`` and ``HighWatermarkCheckpoint`` are a log in memory, of records that are two numbers.
``Log`` is one on a disk, in Kafka's formats; ``LogManager`` has all of a broker's, over several
directories. From the inside out: ``record``, ``record_batch``, ``legacy_messages``, ``segment``
with its ``indexes``, ``log``, ``loading`` (recovery), ``log_directory``, ``log_manager``,
``log_tasks``.
"""

from impl.log.config import LogConfig
from impl.log.errors import InvalidBatch, OffsetOutOfRange, StorageError
from impl.log.leader_epoch_cache import UNDEFINED, LeaderEpochFileCache
from impl.log.log import Log
from impl.log.log_directory import LogRemoval, LogSettings
from impl.log.log_manager import LogManager
from impl.log.numbered_log import HighWatermarkCheckpoint, Record, ReplicaLog
from impl.log.record import StoredRecord
from impl.log.record_batch import encode_batch, records_of

__all__ = [
    "UNDEFINED",
    "HighWatermarkCheckpoint",
    "InvalidBatch",
    "LeaderEpochFileCache",
    "Log",
    "LogConfig",
    "LogManager",
    "LogRemoval",
    "LogSettings",
    "OffsetOutOfRange",
    "Record",
    "ReplicaLog",
    "StorageError",
    "StoredRecord",
    "encode_batch",
    "records_of",
]
