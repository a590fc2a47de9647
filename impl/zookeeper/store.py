"""An embedded ZooKeeper in memory: znodes with versions and owners, sessions, atomic multi.

Every write takes the next zxid. A znode remembers the zxid of its creation (``czxid``), which is
what Kafka uses as the epoch of a broker (KIP-380), and the session that owns it if it is ephemeral.
There are no watches yet: whoever wants to know re-reads, which is a step of its own in the world.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

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

ANY_VERSION = -1
"""The expected version of an unconditional write."""

NO_SESSION = 0
"""The owner of a persistent znode."""


@dataclass(frozen=True, order=True, slots=True)
class Znode:
    """One node: its text, data version, owning session (0 if persistent) and zxid of creation."""

    data: str
    version: int
    owner: int
    czxid: int


@dataclass(frozen=True, slots=True)
class Check:
    """Operation of a multi: the znode exists and has this data version."""

    path: str
    version: int


@dataclass(frozen=True, slots=True)
class Create:
    """Operation of a multi: create the znode, ephemeral if an owning session is given."""

    path: str
    data: str
    owner: int = NO_SESSION


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

Saved = tuple[tuple[tuple[str, Znode], ...], tuple[int, ...], int, int]


class ZooKeeper:
    """The whole ensemble as one linearizable store; every call is atomic."""

    def __init__(self, first_zxid: int = 0, first_session: int = 1) -> None:
        self.zxid = first_zxid
        self.next_session = first_session
        self.sessions: set[int] = set()
        self.nodes: dict[str, Znode] = {"/": Znode("", 0, NO_SESSION, first_zxid)}

    # Sessions

    def open_session(self) -> int:
        """Begin a session and return its id (never used before)."""
        session = self.next_session
        self.next_session += 1
        self.sessions.add(session)
        return session

    def expire(self, session: int) -> list[str]:
        """End a session; its ephemeral znodes vanish. Returns their paths, sorted."""
        self.require_alive(session)
        self.sessions.discard(session)
        gone = sorted(path for path, node in self.nodes.items() if node.owner == session)
        for path in gone:
            del self.nodes[path]
        self.zxid += 1
        return gone

    def require_alive(self, session: int) -> None:
        """Raise SessionExpired unless the session is alive."""
        if session not in self.sessions:
            raise SessionExpired(f"session {session} has expired; open a new one")

    # Reads

    def exists(self, path: str) -> bool:
        """True if there is such a znode."""
        return path in self.nodes

    def get(self, path: str) -> Znode:
        """The znode; NoNode if there is none."""
        node = self.nodes.get(path)
        if node is None:
            raise NoNode(f"there is no znode {path}")
        return node

    def children(self, path: str) -> list[str]:
        """The names (not paths) of the children, sorted; NoNode if the parent is missing."""
        self.get(path)
        prefix = path.rstrip("/") + "/"
        size = len(prefix)
        return sorted(
            other[size:]
            for other in self.nodes
            if len(other) > size and other.startswith(prefix) and "/" not in other[size:]
        )

    # Writes

    def create(self, path: str, data: str, owner: int = NO_SESSION) -> Znode:
        """Create a znode; with an owner it is ephemeral and lives as long as that session."""
        return self._one(Create(path, data, owner))

    def set_data(self, path: str, data: str, version: int = ANY_VERSION) -> Znode:
        """Write the data, if the data version is as expected; returns the znode as it is now."""
        return self._one(SetData(path, data, version))

    def delete(self, path: str, version: int = ANY_VERSION) -> None:
        """Delete a znode without children, if its data version is as expected."""
        self._apply(Delete(path, version), self.zxid + 1)
        self.zxid += 1

    def make_path(self, path: str, data: str = "") -> Znode:
        """Create a persistent znode and whatever parents are missing (empty)."""
        parent = parent_of(path)
        if not self.exists(parent):
            self.make_path(parent)
        return self.create(path, data)

    def multi(self, ops: Sequence[Op]) -> list[OpResult]:
        """All of the operations or none, in one transaction with one zxid.

        If one fails, nothing has changed and the results are errors throughout: the failing
        operation's own, RolledBack before it and RuntimeInconsistency after it.
        """
        before = dict(self.nodes)
        results: list[OpResult] = []
        for position, op in enumerate(ops):
            try:
                results.append(self._apply(op, self.zxid + 1))
            except ZooKeeperError as error:
                self.nodes = before
                earlier: list[OpResult] = [RolledBack("undone") for _ in range(position)]
                later = [RuntimeInconsistency("not tried") for _ in ops[position + 1 :]]
                return [*earlier, error, *later]
        self.zxid += 1
        return results

    def _one(self, op: Create | SetData) -> Znode:
        node = self._apply(op, self.zxid + 1)
        assert node is not None
        self.zxid += 1
        return node

    def _apply(self, op: Op, zxid: int) -> Znode | None:
        match op:
            case Check():
                self._expect(op.path, op.version)
                return None
            case Create():
                node = self._new(op, zxid)
            case SetData():
                old = self._expect(op.path, op.version)
                node = replace(old, data=op.data, version=old.version + 1)
            case Delete():
                self._expect(op.path, op.version)
                if self.children(op.path):
                    raise NotEmpty(f"{op.path} has children")
                del self.nodes[op.path]
                return None
        self.nodes[op.path] = node
        return node

    def _new(self, op: Create, zxid: int) -> Znode:
        if op.path in self.nodes:
            raise NodeExists(f"{op.path} exists")
        if op.owner != NO_SESSION:
            self.require_alive(op.owner)
        if self.get(parent_of(op.path)).owner != NO_SESSION:
            raise NoChildrenForEphemerals(f"the parent of {op.path} is ephemeral")
        return Znode(op.data, 0, op.owner, zxid)

    def _expect(self, path: str, version: int) -> Znode:
        node = self.get(path)
        if version not in (ANY_VERSION, node.version):
            raise BadVersion(f"{path} is at version {node.version}, not {version}")
        return node

    # Plain data

    def save(self) -> Saved:
        """Everything, as an immutable value."""
        nodes = tuple(sorted(self.nodes.items()))
        return nodes, tuple(sorted(self.sessions)), self.next_session, self.zxid

    def load(self, saved: Saved) -> None:
        """Become what was saved."""
        nodes, sessions, self.next_session, self.zxid = saved
        self.nodes = dict(nodes)
        self.sessions = set(sessions)


def parent_of(path: str) -> str:
    """The parent's path; paths are absolute (ValueError otherwise)."""
    if not path.startswith("/") or (len(path) > 1 and path.endswith("/")):
        raise ValueError(f"a znode path begins with one / and does not end with it, not {path!r}")
    return path.rpartition("/")[0] or "/"
