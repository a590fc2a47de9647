"""The log of a replica, its leader epochs and the checkpoint of its high watermark."""

from impl.log.checkpoint import HighWatermarkCheckpoint
from impl.log.leader_epoch_cache import UNDEFINED, LeaderEpochFileCache
from impl.log.replica_log import Record, ReplicaLog

__all__ = ["UNDEFINED", "HighWatermarkCheckpoint", "LeaderEpochFileCache", "Record", "ReplicaLog"]
