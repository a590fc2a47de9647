"""The broker: partition, replica manager, fetcher, and the process around them."""

from impl.broker.broker import Broker
from impl.broker.fetcher import ReplicaFetcher
from impl.broker.partition import Partition, Role
from impl.broker.replica_manager import ReplicaManager
from impl.requests import (
    AnsweredEpoch,
    AnsweredRecords,
    AskedEpoch,
    AskedRecords,
    Errors,
    Fetch,
    LeaderAndIsrRequest,
)

__all__ = [
    "AnsweredEpoch",
    "AnsweredRecords",
    "AskedEpoch",
    "AskedRecords",
    "Broker",
    "Errors",
    "Fetch",
    "LeaderAndIsrRequest",
    "Partition",
    "ReplicaFetcher",
    "ReplicaManager",
    "Role",
]
