"""An embedded ZooKeeper, and what Kafka keeps in it."""

from impl.zookeeper.client import ControllerMoved, ControllerNode, KafkaZkClient
from impl.zookeeper.errors import (
    BadVersion,
    NoChildrenForEphemerals,
    NodeExists,
    NoNode,
    NotEmpty,
    RolledBack,
    RuntimeInconsistency,
    SessionExpired,
    ZooKeeperError,
)
from impl.zookeeper.payloads import NO_LEADER, TOPIC_PARTITION, PartitionState
from impl.zookeeper.store import ANY_VERSION, Check, Create, Delete, SetData, Znode, ZooKeeper

__all__ = [
    "ANY_VERSION",
    "NO_LEADER",
    "TOPIC_PARTITION",
    "BadVersion",
    "Check",
    "ControllerMoved",
    "ControllerNode",
    "Create",
    "Delete",
    "KafkaZkClient",
    "NoChildrenForEphemerals",
    "NoNode",
    "NodeExists",
    "NotEmpty",
    "PartitionState",
    "RolledBack",
    "RuntimeInconsistency",
    "SessionExpired",
    "SetData",
    "Znode",
    "ZooKeeper",
    "ZooKeeperError",
]
