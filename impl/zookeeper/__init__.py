"""ZooKeeper as a port: an embedded one, a real one over kazoo, and what Kafka keeps in it."""

from impl.zookeeper.client import ControllerMoved, ControllerNode, KafkaZkClient
from impl.zookeeper.errors import (
    BadArguments,
    BadVersion,
    ConnectionLoss,
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
from impl.zookeeper.port import OpOutcome, Port, wait
from impl.zookeeper.session import EmbeddedSession, Loss
from impl.zookeeper.store import ZooKeeper
from impl.zookeeper.znode import (
    ANY_VERSION,
    NO_SESSION,
    Check,
    Create,
    Created,
    Delete,
    Event,
    EventType,
    Op,
    OpResult,
    SetData,
    Znode,
)

__all__ = [
    "ANY_VERSION",
    "NO_LEADER",
    "NO_SESSION",
    "TOPIC_PARTITION",
    "BadArguments",
    "BadVersion",
    "Check",
    "ConnectionLoss",
    "ControllerMoved",
    "ControllerNode",
    "Create",
    "Created",
    "Delete",
    "EmbeddedSession",
    "Event",
    "EventType",
    "KafkaZkClient",
    "Loss",
    "NoChildrenForEphemerals",
    "NoNode",
    "NodeExists",
    "NotEmpty",
    "Op",
    "OpOutcome",
    "OpResult",
    "PartitionState",
    "Port",
    "RolledBack",
    "RuntimeInconsistency",
    "SessionExpired",
    "SetData",
    "Znode",
    "ZooKeeper",
    "ZooKeeperError",
    "wait",
]
