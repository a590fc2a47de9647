"""Data of ZooKeeper: znodes, the operations of a multi, events."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from impl.zookeeper.errors import ZooKeeperError

ANY_VERSION = -1
"""The expected version of an unconditional write."""

NO_SESSION = 0
"""The owner of a persistent znode."""

SEQUENCE_DIGITS = 10
"""A sequential znode's name ends with so many digits, zero padded (``%010d``)."""


@dataclass(frozen=True, order=True, slots=True)
class Znode:
    """One node: its text, data version, owning session (0 if persistent) and zxids.

    ``czxid`` and ``mzxid`` are the transactions that created it and that wrote its data last.
    ``creates`` counts the children ever created below it: the number that the next sequential
    child gets. ZooKeeper shows it as ``cversion = 2 × creates − children``. An empty text stands
    for null data too: Kafka does not distinguish the two.
    """

    data: str
    version: int
    owner: int
    czxid: int
    mzxid: int = 0
    creates: int = 0


@dataclass(frozen=True, slots=True)
class Check:
    """Operation of a multi: the znode exists and has this data version."""

    path: str
    version: int


@dataclass(frozen=True, slots=True)
class Create:
    """Operation of a multi: create the znode, ephemeral if an owning session is given.

    ``sequential`` appends the parent's count of creations to the path.
    """

    path: str
    data: str
    owner: int = NO_SESSION
    sequential: bool = False


@dataclass(frozen=True, slots=True)
class SetData:
    """Operation of a multi: write the data if the version is as expected (-1: whatever it is)."""

    path: str
    data: str
    version: int = ANY_VERSION


@dataclass(frozen=True, slots=True)
class Delete:
    """Operation of a multi: delete the znode if the version is as expected (-1: whatever it is)."""

    path: str
    version: int = ANY_VERSION


Op = Check | Create | SetData | Delete

OpResult = Znode | ZooKeeperError | None
"""What one operation of a multi came to: the znode after it, None (check, delete), or an error."""


class Created(NamedTuple):
    """A created znode, and its path, which a sequential znode gets only when it is created."""

    path: str
    znode: Znode


class EventType(Enum):
    """The type of a watch event (``Watcher.Event.EventType``)."""

    CREATED = "NodeCreated"
    DELETED = "NodeDeleted"
    DATA_CHANGED = "NodeDataChanged"
    CHILDREN_CHANGED = "NodeChildrenChanged"


class WatchEvent(NamedTuple):
    """One notification: it has the path, but not the data or the children."""

    type: EventType
    path: str


@lru_cache(maxsize=65536)
def parent_of(path: str) -> str:
    """The parent's path; ValueError for an invalid path."""
    if not path.startswith("/") or (len(path) > 1 and path.endswith("/")):
        raise ValueError(f"a znode path begins with one / and does not end with it, not {path!r}")
    if len(path) > 1 and not {"", ".", ".."}.isdisjoint(path[1:].split("/")):
        raise ValueError(f"no name in a znode path is empty, . or .., as in {path!r}")
    if "\0" in path:
        raise ValueError(f"a znode path holds no null character, as {path!r} does")
    return path.rpartition("/")[0] or "/"


def sequence_name(path: str, number: int) -> str:
    """The path of a sequential znode: ``path`` and the number in ten digits."""
    return f"{path}{number:0{SEQUENCE_DIGITS}d}"


def sequence_number(path: str) -> str:
    """The digits at the end of a sequential znode's path."""
    return path[-SEQUENCE_DIGITS:]
