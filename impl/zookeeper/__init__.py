"""ZooKeeper behind a port: an embedded one, and a real one over kazoo."""

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
from impl.zookeeper.port import OpOutcome, Port, wait
from impl.zookeeper.session import ConnectionFault, EmbeddedSession
from impl.zookeeper.store import ZooKeeper
from impl.zookeeper.znode import (
    ANY_VERSION,
    NO_SESSION,
    Check,
    Create,
    Created,
    Delete,
    EventType,
    Op,
    OpResult,
    SetData,
    WatchEvent,
    Znode,
)

__all__ = [
    "ANY_VERSION",
    "NO_SESSION",
    "BadArguments",
    "BadVersion",
    "Check",
    "ConnectionLoss",
    "Create",
    "Created",
    "Delete",
    "EmbeddedSession",
    "WatchEvent",
    "EventType",
    "ConnectionFault",
    "NoChildrenForEphemerals",
    "NoNode",
    "NodeExists",
    "NotEmpty",
    "Op",
    "OpOutcome",
    "OpResult",
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
