"""An in-memory ZooKeeper: znodes with versions and owners, sessions, multi, watches.

Every write takes the next zxid. A znode has the zxid of its creation (``czxid``), which Kafka uses
as the broker epoch (KIP-380), and the session that owns it if it is ephemeral. There are no
threads, no clock and no randomness: the caller decides when a session expires and when a
notification is taken. ``impl.zookeeper.session`` is one client's view of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from impl.zookeeper.errors import (
    BadArguments,
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
from impl.zookeeper.watches import Change, SavedWatches, Watches
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
    parent_of,
    sequence_name,
)

Leases = tuple[tuple[int, int, int], ...]
Saved = tuple[tuple[tuple[str, Znode], ...], tuple[int, ...], int, int, Leases, SavedWatches | None]
_Undo = list[tuple[str, Znode | None]]


class ZooKeeper:
    """The whole ensemble as one linearizable store; every call is atomic."""

    def __init__(self, first_zxid: int = 0, first_session: int = 1) -> None:
        self.zxid = first_zxid
        self.next_session = first_session
        self.sessions: set[int] = set()
        self.leases: dict[int, tuple[int, int]] = {}  # session: (timeout, heard last), both in ms
        self.nodes: dict[str, Znode] = {"/": Znode("", 0, NO_SESSION, first_zxid, first_zxid)}
        self.watches = Watches()
        self._names: dict[str, set[str]] | None = None  # the children by parent, made when needed

    # Sessions

    def open_session(self, timeout_ms: int = 0, now_ms: int = 0) -> int:
        """Begin a session and return its id (never used before).

        With a timeout it is overdue when its last heartbeat is older than that.
        """
        session = self.next_session
        self.next_session += 1
        self.sessions.add(session)
        if timeout_ms:
            self.leases[session] = (timeout_ms, now_ms)
        return session

    def touch_session(self, session: int, now_ms: int) -> None:
        """A heartbeat; SessionExpired if it comes too late."""
        self.require_alive(session)
        if session in self.leases:
            self.leases[session] = (self.leases[session][0], now_ms)

    def overdue(self, now_ms: int) -> list[int]:
        """The sessions whose timeout has passed, sorted; they have not been expired yet."""
        return sorted(
            session for session, (timeout, heard) in self.leases.items() if now_ms - heard > timeout
        )

    def expire(self, session: int) -> list[str]:
        """Expire a session, and remove its ephemeral znodes; returns their paths, sorted."""
        self.require_alive(session)
        self.sessions.discard(session)
        self.leases.pop(session, None)
        self.watches.forget(session)
        gone = sorted(path for path, node in self.nodes.items() if node.owner == session)
        for path in gone:
            self._put(path, None)
        self.zxid += 1
        self.watches.fire([(EventType.DELETED, path) for path in gone])
        return gone

    def require_alive(self, session: int) -> None:
        """Raise SessionExpired unless the session is alive."""
        if session not in self.sessions:
            raise SessionExpired(f"session {session} has expired; open a new one")

    def take_events(self, session: int) -> list[WatchEvent]:
        """The session's notifications that it has not taken, in order."""
        return self.watches.take(session)

    # Reads

    def exists(self, path: str) -> bool:
        """Whether there is such a znode."""
        return path in self.nodes

    def get(self, path: str) -> Znode:
        """The znode; NoNode if there is none."""
        node = self.nodes.get(path)
        if node is None:
            raise NoNode(f"there is no znode {path}")
        return node

    def children(self, path: str) -> list[str]:
        """The names (not paths) of the children, sorted; NoNode if the parent is missing.

        ZooKeeper itself does not guarantee an order.
        """
        self.get(path)
        return sorted(self._children_of(path))

    def _children_of(self, path: str) -> set[str]:
        if self._names is None:
            self._names = {}
            for other in self.nodes:
                if other != "/":
                    self._names.setdefault(parent_of(other), set()).add(_name_of(other))
        return self._names.get(path, set())

    # Writes

    def create(
        self, path: str, data: str, owner: int = NO_SESSION, sequential: bool = False
    ) -> Znode:
        """Create a znode; with an owner it is ephemeral and lives as long as that session."""
        return self.create_at(path, data, owner, sequential).znode

    def create_at(
        self, path: str, data: str, owner: int = NO_SESSION, sequential: bool = False
    ) -> Created:
        """Like ``create``; returns the path, which ends with its number if it is sequential."""
        return self._write_one(Create(path, data, owner, sequential))

    def set_data(self, path: str, data: str, version: int = ANY_VERSION) -> Znode:
        """Write the data, if the data version is as expected; returns the znode as it is now."""
        return self._write_one(SetData(path, data, version)).znode

    def delete(self, path: str, version: int = ANY_VERSION) -> None:
        """Delete a znode without children, if its data version is as expected."""
        self._transact_one(Delete(path, version))

    def make_path(self, path: str, data: str = "") -> Znode:
        """Create a persistent znode and its missing parents (empty)."""
        parent = parent_of(path)
        if not self.exists(parent):
            self.make_path(parent)
        return self.create(path, data)

    def multi(self, ops: Sequence[Op]) -> list[OpResult]:
        """All of the operations or none, in one transaction with one zxid.

        If one fails, nothing has changed and all results are errors: the failed operation's own,
        RolledBack before it and RuntimeInconsistency after it.
        """
        return [
            result.znode if isinstance(result, Created) else result for result in self.multi_at(ops)
        ]

    def multi_at(self, ops: Sequence[Op]) -> list[Created | ZooKeeperError | None]:
        """Like ``multi``; returns the path of each written znode."""
        try:
            return list(self._transact(ops))
        except _OpFailed as failed:
            earlier = [RolledBack("undone") for _ in range(failed.position)]
            later = [RuntimeInconsistency("not tried") for _ in ops[failed.position + 1 :]]
            return [*earlier, failed.error, *later]

    def _write_one(self, op: Create | SetData) -> Created:
        written = self._transact_one(op)
        assert written is not None
        return written

    def _transact_one(self, op: Op) -> Created | None:
        try:
            return self._transact([op])[0]
        except _OpFailed as failed:
            raise failed.error from None

    def _transact(self, ops: Sequence[Op]) -> list[Created | None]:
        undo: _Undo = []
        changes: list[Change] = []
        results: list[Created | None] = []
        for position, op in enumerate(ops):
            try:
                results.append(self._apply(op, undo, changes))
            except ZooKeeperError as error:
                for path, node in reversed(undo):
                    self._put(path, node)
                raise _OpFailed(position, error) from error
        self.zxid += 1
        self.watches.fire(changes)
        return results

    def _apply(self, op: Op, undo: _Undo, changes: list[Change]) -> Created | None:
        zxid = self.zxid + 1
        match op:
            case Check():
                self._expect(op.path, op.version)
                return None
            case Create():
                return self._create(op, zxid, undo, changes)
            case SetData():
                old = self._expect(op.path, op.version)
                node = replace(old, data=op.data, version=old.version + 1, mzxid=zxid)
                self._write(op.path, node, undo)
                changes.append((EventType.DATA_CHANGED, op.path))
                return Created(op.path, node)
            case Delete():
                if op.path == "/":
                    raise BadArguments("/ cannot be deleted")
                self._expect(op.path, op.version)
                if self._children_of(op.path):
                    raise NotEmpty(f"{op.path} has children")
                self._write(op.path, None, undo)
                changes.append((EventType.DELETED, op.path))
                return None

    def _create(self, op: Create, zxid: int, undo: _Undo, changes: list[Change]) -> Created:
        named = sequence_name(op.path, 0) if op.sequential else op.path
        parent_path = parent_of(named)
        if op.owner != NO_SESSION:
            self.require_alive(op.owner)
        parent = self.get(parent_path)
        path = sequence_name(op.path, parent.creates) if op.sequential else op.path
        if path in self.nodes:
            raise NodeExists(f"{path} exists")
        if parent.owner != NO_SESSION:
            raise NoChildrenForEphemerals(f"the parent of {path} is ephemeral")
        node = Znode(op.data, 0, op.owner, zxid, zxid)
        self._write(path, node, undo)
        self._write(parent_path, replace(parent, creates=parent.creates + 1), undo)
        changes.append((EventType.CREATED, path))
        return Created(path, node)

    def _expect(self, path: str, version: int) -> Znode:
        node = self.get(path)
        if version not in (ANY_VERSION, node.version):
            raise BadVersion(f"{path} is at version {node.version}, not {version}")
        return node

    def _write(self, path: str, node: Znode | None, undo: _Undo) -> None:
        undo.append((path, self.nodes.get(path)))
        self._put(path, node)

    def _put(self, path: str, node: Znode | None) -> None:
        known = path in self.nodes
        if node is None:
            self.nodes.pop(path, None)
        else:
            self.nodes[path] = node
        if self._names is not None and known != (node is not None):
            names = self._names.setdefault(parent_of(path), set())
            (names.discard if node is None else names.add)(_name_of(path))

    # Plain data

    def save(self) -> Saved:
        """Everything, as an immutable value."""
        watches = self.watches
        idle = not (watches.data or watches.children or watches.pending)
        return (
            tuple(sorted(self.nodes.items())),
            tuple(sorted(self.sessions)),
            self.next_session,
            self.zxid,
            tuple((session, *lease) for session, lease in sorted(self.leases.items())),
            None if idle else watches.save(),
        )

    def load(self, saved: Saved) -> None:
        """Restore what `save` returned."""
        nodes, sessions, self.next_session, self.zxid, leases, watches = saved
        self.nodes = dict(nodes)
        self.sessions = set(sessions)
        self.leases = {session: (timeout, heard) for session, timeout, heard in leases}
        self.watches = Watches()
        if watches is not None:
            self.watches.load(watches)
        self._names = None


class _OpFailed(Exception):
    """An operation of a multi failed; the operations before it have been undone."""

    def __init__(self, position: int, error: ZooKeeperError) -> None:
        super().__init__(str(error))
        self.position = position
        self.error = error


def _name_of(path: str) -> str:
    return path.rpartition("/")[2]
